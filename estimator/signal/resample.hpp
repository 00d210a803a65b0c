#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns every factor-th row, beginning with row 0: ⌈n/factor⌉ rows. To avoid aliasing, apply a
/// low-pass filter first.
Eigen::MatrixXd decimate(const Eigen::Ref<const Eigen::MatrixXd>& samples, int factor);

/// Mean and first moment of a control over an interval. The control is constant between samples.
struct ControlMoments {
  double mean;
  double first_moment;  ///< u₁ = ∫ u(τ) τ dτ, τ ∈ [−½, ½] over the interval
};

/// Returns the exact mean and first moment over [begin, end) of a control that is constant between
/// samples: element k applies over [k, k + 1), in sampling periods. The control is extended by its
/// first and last elements.
///
/// @param control   control of one motor, at least one sample
/// @param begin     < end, in sampling periods
/// @param positions times of the elements, ascending [sampling periods]; default 0, 1, 2, …
ControlMoments average_held_control(const Eigen::Ref<const Eigen::VectorXd>& control, double begin,
                                    double end, const std::vector<double>& positions = {});

/// Mean and first moment of each control over each time step.
struct StepControlMoments {
  Eigen::MatrixXd mean;          ///< steps × motors
  Eigen::MatrixXd first_moment;  ///< steps × motors
};

/// Returns the exact means and first moments of controls over time steps. Step k = 0 … step_count −
/// 1 is [k h − delay, (k+1) h − delay), and row k of the controls applies over [k T, (k+1) T). The
/// time step h and the sampling period T may have any ratio. The controls are extended by their
/// first and last rows.
///
/// @param controls   n × motors, n ≥ 1
/// @param period     T, sampling period [s], > 0
/// @param step       h, time step [s], > 0
/// @param step_count number of steps, ≥ 0
/// @param delay      the control acts this much later than recorded [s], any sign
StepControlMoments average_controls(const Eigen::Ref<const Eigen::MatrixXd>& controls,
                                    double period, double step, int step_count, double delay = 0.0);

/// Returns a segment resampled to the grid of the time step: node k is at start + k·step, and no
/// node is after the last sample. If the step is a multiple of the sampling period, angles are
/// decimated. If it is a fraction of the period, nodes between samples are NaN, "not observed".
/// Controls are means over the step that starts at the node; the last row, whose step is outside
/// the segment, gets the last control.
///
/// @param step time step [s], a multiple or integer fraction of segment.period
/// @throws std::invalid_argument as `step_to_period_ratio`
Segment resample_segment(const Segment& segment, double step);

}  // namespace estimator
