#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A gap in a recording during which a constant command steps from one level to another. The
/// recording was split at the gap because the time of the step was not recorded.
struct GapCommandStep {
  int recording, segment;  ///< first segment after the gap
  int rows;                ///< number of missing rows
  /// Number of missing rows with the old level, estimated from the motion.
  int held;
  int next;      ///< second-best estimate of `held`
  double doubt;  ///< ratio of the best to the second-best misfit, 0 (certain) to 1
};

/// Finds the command steps inside gaps. Uses the joint rates of an accepted model on both sides of
/// each gap: the old level drives the motion for some rows, the new level for the rest.
/// @param calibration  accepted calibration of these recordings
std::vector<GapCommandStep> find_gap_command_steps(const Calibration& calibration,
                                                   const std::vector<Recording>& recordings);

/// Joins the segments on both sides of each gap by rows that have commands but no readings.
std::vector<Recording> fill_gap_command_steps(std::vector<Recording> recordings,
                                              const std::vector<GapCommandStep>& edges);

/// Returns one note per recording about its command steps inside gaps.
std::vector<Finding> gap_command_step_findings(const std::vector<Recording>& recordings,
                                               const std::vector<GapCommandStep>& edges);

}  // namespace estimator
