#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Every factor-th row, from row 0: ⌈n/factor⌉ rows. Filter first, or accept the aliases.
Eigen::MatrixXd decimate(const Eigen::Ref<const Eigen::MatrixXd>& samples, int factor);

/// What a held control does over some time, as far as its mean and first moment tell.
struct HeldControl {
  double mean;
  double first_moment;  ///< u₁ = ∫ u(τ) τ dτ, τ ∈ [−½, ½] over the time
};

/// Averages a control that is held between samples (element k over [k, k + 1), in sampling periods)
/// exactly over [begin, end). Before the first element it is the first, after the last the last.
///
/// @param control   one motor's, at least one sample
/// @param begin     < end, in sampling periods
/// @param positions of the elements, rising, where they are not 0, 1, 2, … [sampling periods]
HeldControl average_held(const Eigen::Ref<const Eigen::VectorXd>& control, double begin, double end,
                         const std::vector<double>& positions = {});

/// `average_held` over every step.
struct StepControls {
  Eigen::MatrixXd mean;          ///< steps × motors
  Eigen::MatrixXd first_moment;  ///< steps × motors
};

/// Averages a control that is held between samples (row k over [k T, (k+1) T)) exactly over the
/// steps [k h − delay, (k+1) h − delay), k = 0 … step_count − 1, for any ratio of h to T.
/// Before the first row the control is its first value, after the last row its last.
///
/// @param controls   n × motors, n ≥ 1
/// @param period     T, sampling period [s], > 0
/// @param step       h, time step [s], > 0
/// @param step_count number of steps, ≥ 0
/// @param delay      the control acts this much later than recorded [s], any sign
StepControls average_controls(const Eigen::Ref<const Eigen::MatrixXd>& controls, double period,
                              double step, int step_count, double delay = 0.0);

/// A segment on the grid of the time step: node k at start + k·step, no node beyond the last
/// sample. Where the step is a multiple of the period, angles are decimated; where it is a
/// fraction, nodes between samples are NaN, "not observed". Controls are means over the step that
/// starts at the node (the last row, whose step lies beyond the segment, holds the last control).
///
/// @param step time step [s], a whole multiple or a whole fraction of segment.period
/// @throws std::invalid_argument as `step_ratio`
Segment resample(const Segment& segment, double step);

}  // namespace estimator
