#pragma once

#include <vector>

#include "estimator/signal/holes.hpp"

namespace service {

/// Rows that are missing inside a recording, where it goes on.
struct Holes {
  int count = 0;
  int rows = 0;
};

/// Joins consecutive segments of one clock where the recording goes on (estimator::goes_on).
/// Missing rows become rows without readings whose commands are drawn (estimator::draw_commands).
Holes join_segments(std::vector<estimator::Segment>& segments);

}  // namespace service
