#pragma once

#include <vector>

#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// An interval of a segment with an initial state of its own.
struct Window {
  int segment = 0;
  int node = 0;        ///< first node of the joint estimation
  int first = 0;       ///< sample
  int end = 0;         ///< one past the last sample
  double share = 0.0;  ///< of the total motion
};

/// Windows of one recording that form one part.
using RecordingPart = std::vector<Window>;

/// Divides the segments of a fit into parts with about the same amount of motion, measured by the
/// total travel of the encoders: about eight in all, at least one per recording. Cuts long segments
/// into windows at nodes of the joint estimation, and merges short segments.
std::vector<RecordingPart> divide_into_parts(const ShootingProblem& joint,
                                             const ShootingInput& input);

}  // namespace estimator
