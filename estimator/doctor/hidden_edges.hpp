#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Rows that a recording lacks, within which a command that is held before and behind jumps from
/// one level to the other: where it was split, since nobody recorded when.
struct HiddenEdge {
  int recording, segment;  ///< the first segment behind
  int rows;                ///< that are missing
  int held;                ///< of these, with the level before: as the motion says
  int next;                ///< the same, that explain it second best
  double doubt;            ///< how much better the best explains it, 0: far, to 1
};

/// The hidden edges of recordings, by what a model that holds on both sides has of the rates there:
/// the level before drives the motion for so many rows, that behind for the others.
///
/// @param calibration  of these recordings
std::vector<HiddenEdge> find_hidden_edges(const Calibration& calibration,
                                          const std::vector<Recording>& recordings);

/// Joins what was split, with rows without readings that have these commands.
std::vector<Recording> with_hidden_edges(std::vector<Recording> recordings,
                                         const std::vector<HiddenEdge>& edges);

/// What is told of them, one note a recording.
std::vector<Finding> hidden_edge_findings(const std::vector<Recording>& recordings,
                                          const std::vector<HiddenEdge>& edges);

}  // namespace estimator
