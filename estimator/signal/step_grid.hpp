#pragma once

#include <optional>

namespace estimator {

/// A time step h is a whole number of sampling periods T, or a whole part of one. What asks whether
/// it is, or looks for one that is, asks here.

/// By what share a step may exceed the longest one asked for: clocks of units err, so that ten
/// periods are seldom the 10 ms they are meant to be.
inline constexpr double kStepExcess = 0.01;

/// What a ratio is within 1e-6 of itself, far above the rounding of time stamps to microseconds;
/// nothing where that is no whole number from 1 to 1e9.
std::optional<int> whole_number(double ratio);

/// How a time step h relates to a sampling period T: exactly one of the two counts is > 1, or both
/// are 1. h = periods_per_step · T / steps_per_period.
struct StepRatio {
  int periods_per_step;  ///< ≥ 1
  int steps_per_period;  ///< ≥ 1
};

/// The ratio of a step to a sampling period.
///
/// @throws std::invalid_argument naming both when h is neither a whole multiple nor a whole
///         fraction of the period, as `whole_number` tells
StepRatio step_ratio(double step, double period);

/// The whole multiple or fraction of a period nearest to a step; the step itself where that is
/// further off than this share of it.
double nearest_step(double step, double period, double tolerance = kStepExcess);

/// What steps of at most this length are counted in: a period, or a whole part of one where they
/// are shorter.
double tick_of_steps(double longest, double period);

/// How many ticks a step of at most this length has, at least 1.
int ticks_in_step(double longest, double tick);

/// Ticks that reach over a duration, however many; at least one.
int ticks_over(double duration, double tick);

/// The tick at which a step of so many ends: with a sample, where it reaches one. There controls
/// jump, and a step across would take a line for the jump.
///
/// @param in_period  ticks from sample to sample
int end_of_step(int begin, int ticks, int in_period);

/// The longest whole multiple or fraction of a period within this length.
double longest_step(double longest, double period);

}  // namespace estimator
