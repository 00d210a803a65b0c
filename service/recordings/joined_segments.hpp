#pragma once

#include <vector>

#include "estimator/signal/sample_gaps.hpp"
#include "estimator/signal/time_series.hpp"

namespace service {

/// Number of rows that are missing within the segments of a recording.
struct MissingRows {
  int count = 0;  ///< number of places with missing rows
  int rows = 0;   ///< total number of missing rows
};

/// Joins consecutive segments with the same sampling clock if the gap between them is short enough
/// (estimator::continues_across_gap). Rows in the gap get no readings. Their commands are
/// interpolated (estimator::interpolate_commands).
MissingRows join_segments(std::vector<estimator::Segment>& segments);

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
