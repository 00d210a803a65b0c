#pragma once

#include <optional>

namespace estimator {

/// A time step h is an integer multiple of the sampling period T, or T divided by an integer. All
/// code that needs such a step uses these functions.

/// Relative amount by which a step may exceed the requested limit. Unit clocks have errors, so ten
/// periods are seldom exactly the nominal 10 ms.
inline constexpr double kStepExcess = 0.01;

/// Rounds a ratio to an integer if it is within 1e-6 of it, far above the rounding of time stamps
/// to microseconds; nothing otherwise, or outside 1 to 1e9.
std::optional<int> round_to_integer_ratio(double ratio);

/// Ratio of a time step h to a sampling period T, h = periods_per_step · T / steps_per_period. At
/// most one of the two counts exceeds 1.
struct StepToPeriodRatio {
  int periods_per_step;  ///< ≥ 1
  int steps_per_period;  ///< ≥ 1
};

/// Returns the ratio of a step to a sampling period.
///
/// @throws std::invalid_argument with both values if h is neither a multiple nor an integer
/// fraction of the period (`round_to_integer_ratio`)
StepToPeriodRatio step_to_period_ratio(double step, double period);

/// The multiple or integer fraction of a period nearest to a step; the step itself if their
/// relative difference exceeds `tolerance`.
double nearest_compatible_step(double step, double period, double tolerance = kStepExcess);

/// Tick that divides steps of at most this length: the period or an integer fraction of it.
double tick_dividing_steps(double longest, double period);

/// Number of ticks in a step of at most this length, at least 1.
int tick_count_of_step(double longest, double tick);

/// Number of ticks that cover a duration, at least 1.
int tick_count_of_duration(double duration, double tick);

/// Last tick of a step of at most `ticks` ticks. A step ends at the latest at the next sample,
/// since controls jump there and a step across the jump would replace it by a ramp.
///
/// @param in_period  ticks from sample to sample
int step_end_tick(int begin, int ticks, int in_period);

/// The longest multiple or integer fraction of a period that is at most this length.
double longest_compatible_step(double longest, double period);

}  // namespace estimator
