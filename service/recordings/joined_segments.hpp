#pragma once

#include <vector>

#include "estimator/signal/sample_gaps.hpp"

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

}  // namespace service
