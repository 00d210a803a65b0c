#pragma once

#include <optional>

namespace estimator {

/// Functions for time steps h that are a multiple or an integer fraction of the sampling period T.

/// Relative amount by which a time step may exceed its requested limit. The clocks of acquisition
/// units have errors, so ten sampling periods of nominally 1 ms are seldom exactly 10 ms.
inline constexpr double kStepExcess = 0.01;

/// Returns the nearest integer of a ratio between 1 and 1e9 if the relative difference is below
/// 1e-6, else nullopt. The tolerance is far above the rounding of time stamps to microseconds.
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

/// Returns the multiple or integer fraction of a sampling period that is nearest to a time step.
/// Returns the time step itself if their relative difference exceeds `tolerance`.
double nearest_compatible_step(double step, double period, double tolerance = kStepExcess);

/// Returns a tick length [s] that divides all time steps up to the given length: the
/// sampling period, or an integer fraction of it.
double tick_dividing_steps(double longest, double period);

/// Returns the number of ticks in the longest time step of at most this length, at least 1.
int tick_count_of_step(double longest, double tick);

/// Returns the number of ticks that cover a duration, at least 1.
int tick_count_of_duration(double duration, double tick);

/// Returns the tick at which a time step of at most `ticks` ticks ends. It ends no later than the
/// next sample: controls jump at samples, and a step across a jump would replace it by a ramp.
///
/// @param in_period  number of ticks in a sampling period
int step_end_tick(int begin, int ticks, int in_period);

/// Returns the longest multiple or integer fraction of a sampling period that is at most this
/// length.
double longest_compatible_step(double longest, double period);

}  // namespace estimator
