#pragma once

#include <vector>

#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// An interval of a segment that is simulated from its own initial state.
struct Window {
  int segment = 0;
  int node = 0;        ///< first shooting node of the joint estimation
  int first = 0;       ///< index of the first sample
  int end = 0;         ///< one past the last sample
  double share = 0.0;  ///< share of the total encoder travel
};

/// The intervals of one recording that form one part.
using RecordingPart = std::vector<Window>;

/// Divides the segments of a fit into parts with about the same encoder travel: about eight parts
/// in all, at least one per recording. Cuts long segments at shooting nodes of the joint
/// estimation, and merges short segments.
std::vector<RecordingPart> divide_into_parts(const ShootingProblem& joint,
                                             const ShootingInput& input);

}  // namespace estimator
