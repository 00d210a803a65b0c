#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Time by which a motor's control acts later than recorded.
struct ControlDelay {
  double value = 0.0;  ///< [s]
  bool free = false;   ///< whether derivatives along it are wanted
};

/// A stretch of a step on which a line stands for each motor's control: the one that has the mean
/// and the first moment of the held signal, so that the stretch ends where the signal itself would
/// have taken it, to third order.
struct ControlStretch {
  double begin = 0.0, end = 0.0;         ///< from the step's beginning [s]
  int begin_motor = -1, end_motor = -1;  ///< whose delay moves the edge; −1: the step's own edge
  JointVector<double> mean, rise;        ///< one a motor; end less begin of the line
  JointVector<double> mean_slope, rise_slope;  ///< along the motor's own delay [1/s]
};

/// Recorded controls of one segment as an integrator wants them: held between samples, acting later
/// by each motor's delay, cut into steps and, where they jump, within a step. A line across a jump
/// would pull a hinge at rest the wrong way first.
class HeldControls {
 public:
  HeldControls() = default;

  /// @param segment    with controls, samples × motors
  /// @param step       [s]
  /// @param step_count steps from the segment's first sample on
  /// @param delays     one a motor
  HeldControls(const Segment& segment, double step, int step_count,
               const std::vector<ControlDelay>& delays);

  /// Stretches of one step, in order, without gaps.
  std::span<const ControlStretch> stretches(int step) const;

 private:
  std::vector<ControlStretch> stretches_;
  std::vector<std::size_t> first_;  // of each step, and one past the last
};

}  // namespace estimator
