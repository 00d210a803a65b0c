#pragma once

#include <vector>

#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// A stretch of a segment that gets an initial state of its own.
struct Window {
  int segment = 0;
  int node = 0;        ///< of the joint estimation, that it starts at
  int first = 0;       ///< sample
  int end = 0;         ///< one past the last sample
  double share = 0.0;  ///< of all motion
};

/// Windows that are counted as one piece, all of one recording.
using Piece = std::vector<Window>;

/// Cuts the segments of a fit into pieces that hold about as much motion each, sums of how far
/// encoders turned: some eight in all, and at least one a recording. A long segment is cut into
/// windows at nodes of the joint estimation, short segments are put together.
std::vector<Piece> cut_into_pieces(const ShootingProblem& joint, const ShootingInput& input);

}  // namespace estimator
