#pragma once

#include <vector>

#include "estimator/signal/holes.hpp"

namespace service {

/// Missing rows within segments.
struct Holes {
  int count = 0;
  int rows = 0;
};

/// Joins consecutive segments with a common clock where the recording continues
/// (estimator::goes_on). Missing rows have no readings and interpolated commands
/// (estimator::draw_commands).
Holes join_segments(std::vector<estimator::Segment>& segments);

}  // namespace service
