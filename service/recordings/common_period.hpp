#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"

namespace service {

/// Replaces sampling periods that are nearly equal by the period of the first segment. Periods are
/// nearly equal if they differ by at most kPeriodToleranceRelative.
///
/// Each recording of a rig has its own measurement of the clock rate, so periods differ by parts
/// per million between recordings. The time of a sample changes by at most kPeriodToleranceRelative
/// of the time since the start of its segment.
void unify_periods(std::vector<estimator::Recording>& recordings);

/// Largest relative difference between two measurements, minutes apart, of the rate of one crystal
/// oscillator.
inline constexpr double kPeriodToleranceRelative = 2e-5;

}  // namespace service
