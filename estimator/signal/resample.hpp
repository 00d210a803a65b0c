#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Every factor-th row, from row 0: ⌈n/factor⌉ rows. Low-pass filter first to avoid aliasing.
Eigen::MatrixXd decimate(const Eigen::Ref<const Eigen::MatrixXd>& samples, int factor);

/// Mean and first moment of a held control over an interval.
struct ControlMoments {
  double mean;
  double first_moment;  ///< u₁ = ∫ u(τ) τ dτ, τ ∈ [−½, ½] over the interval
};

/// Averages a control that is held between samples (element k over [k, k + 1), in sampling periods)
/// exactly over [begin, end). It is extended by its first and last elements.
///
/// @param control   of one motor, at least one sample
/// @param begin     < end, in sampling periods
/// @param positions of the elements, ascending, if other than 0, 1, 2, … [sampling periods]
ControlMoments average_held_control(const Eigen::Ref<const Eigen::VectorXd>& control, double begin,
                                    double end, const std::vector<double>& positions = {});

/// `average_held_control` over every step.
struct StepControls {
  Eigen::MatrixXd mean;          ///< steps × motors
  Eigen::MatrixXd first_moment;  ///< steps × motors
};

/// Averages a control that is held between samples (row k over [k T, (k+1) T)) exactly over the
/// steps [k h − delay, (k+1) h − delay), k = 0 … step_count − 1, for any ratio of h to T. The
/// control is extended by its first and last rows.
///
/// @param controls   n × motors, n ≥ 1
/// @param period     T, sampling period [s], > 0
/// @param step       h, time step [s], > 0
/// @param step_count number of steps, ≥ 0
/// @param delay      the control acts this much later than recorded [s], any sign
StepControls average_controls(const Eigen::Ref<const Eigen::MatrixXd>& controls, double period,
                              double step, int step_count, double delay = 0.0);

/// Resamples a segment to the grid of the time step: node k at start + k·step, no node after the
/// last sample. If the step is a multiple of the period, angles are decimated. If it is a fraction,
/// nodes between samples are NaN, "not observed". Controls are means over the step that starts at
/// the node; the last row, whose step is outside the segment, gets the last control.
///
/// @param step time step [s], a multiple or integer fraction of segment.period
/// @throws std::invalid_argument as `step_to_period_ratio`
Segment resample_segment(const Segment& segment, double step);

}  // namespace estimator
