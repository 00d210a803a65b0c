#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting_input.hpp"

namespace estimator {

/// Stretches of the recordings by which a start is brought near: they need not tell parameters
/// well, but the motion in them is followed many times.
struct Excerpt {
  std::vector<Segment> segments = {};
  /// As of ShootingInput, from each segment's first sample.
  std::vector<Eigen::MatrixXd> states = {};
  std::vector<double> state_spacing = {};             ///< [s]
  std::vector<std::vector<double>> local_steps = {};  ///< as of ShootingGrid
  bool is_whole = true;
};

/// All of the recordings.
Excerpt whole_of(const ShootingInput& input);

/// Windows that are spread evenly over each segment, at least one in each and together some
/// `duration` long; everything where that would leave out less than half.
///
/// @param duration  of all windows together [s]
/// @param window    of each [s]
Excerpt take_excerpt(const ShootingInput& input, double duration, double window);

}  // namespace estimator
