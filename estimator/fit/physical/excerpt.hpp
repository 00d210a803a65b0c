#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting_input.hpp"

namespace estimator {

/// Parts of the recordings for improving initial values, which takes many simulations. These parts
/// need not identify all parameters well.
struct Excerpt {
  std::vector<Segment> segments = {};
  /// Initial states as in ShootingInput, from the first sample of each excerpted segment on.
  std::vector<Eigen::MatrixXd> states = {};
  std::vector<double> state_spacing = {};             ///< time between columns of `states` [s]
  std::vector<std::vector<double>> local_steps = {};  ///< local steps of a ShootingGrid [s]
  bool is_whole = true;
};

/// Returns the complete recordings as an excerpt.
Excerpt whole_of(const ShootingInput& input);

/// Returns time windows distributed evenly over each segment, at least one per segment. If these
/// would leave out less than half of the recordings, returns the complete recordings.
///
/// @param duration  approximate total length of all windows [s]
/// @param window    length of each window [s]
Excerpt take_excerpt(const ShootingInput& input, double duration, double window);

}  // namespace estimator
