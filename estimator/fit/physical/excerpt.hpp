#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting_input.hpp"

namespace estimator {

/// Parts of the recordings for improving initial values. They need not identify the parameters
/// well, but are simulated many times.
struct Excerpt {
  std::vector<Segment> segments = {};
  /// As in ShootingInput, from each segment's first sample on.
  std::vector<Eigen::MatrixXd> states = {};
  std::vector<double> state_spacing = {};             ///< [s]
  std::vector<std::vector<double>> local_steps = {};  ///< as in ShootingGrid
  bool is_whole = true;
};

/// The complete recordings.
Excerpt whole_of(const ShootingInput& input);

/// Windows distributed evenly over each segment, at least one in each, with a total length of about
/// `duration`; the complete recordings if that leaves out less than half.
///
/// @param duration  of all windows together [s]
/// @param window    of each [s]
Excerpt take_excerpt(const ShootingInput& input, double duration, double window);

}  // namespace estimator
