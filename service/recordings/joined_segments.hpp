#pragma once

#include <vector>

#include "estimator/signal/sample_gaps.hpp"
#include "estimator/signal/time_series.hpp"

namespace service {

/// Numbers of missing rows, and of places with missing rows, within the segments of a recording.
struct MissingRowCounts {
  int count = 0;  ///< number of places with missing rows
  int rows = 0;   ///< total number of missing rows
};

/// Joins consecutive segments across short gaps, if the segments have the same sampling clock
/// (estimator::can_continue_across_gap). Rows in a gap get no readings, and interpolated commands
/// (estimator::interpolate_commands).
MissingRowCounts join_segments_across_gaps(std::vector<estimator::Segment>& segments);

/// Replaces nearly equal sampling periods by the period of the first segment. Nearly equal means a
/// relative difference of at most kPeriodToleranceRelative.
///
/// The clock rate is measured in each recording, so the periods of recordings differ by parts per
/// million. The time since the start of a segment changes by at most kPeriodToleranceRelative.
void unify_sampling_periods(std::vector<estimator::Recording>& recordings);

/// Largest relative difference between sampling periods that are considered equal: the clock rate
/// of one crystal oscillator, measured twice within minutes, differs by at most this much.
inline constexpr double kPeriodToleranceRelative = 2e-5;

}  // namespace service
