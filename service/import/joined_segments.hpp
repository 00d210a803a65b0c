#pragma once

#include <vector>

#include "estimator/signal/sample_gaps.hpp"

namespace service {

/// Missing rows within segments.
struct MissingRows {
  int count = 0;
  int rows = 0;
};

/// Joins consecutive segments with a common clock where the recording continues
/// (estimator::continues_across_gap). Missing rows have no readings and interpolated commands
/// (estimator::draw_commands).
MissingRows join_segments(std::vector<estimator::Segment>& segments);

}  // namespace service
