#pragma once

#include <algorithm>
#include <cmath>

#include "estimator/tree/interval_lanes.hpp"

// Members of IntervalLanes, for interval_lanes.cpp: pieces are short where friction that creeps is
// steep.

namespace estimator {

/// Creep speeds up to which a joint is near rest: there the friction is within 1e-10 of its bound.
inline constexpr double kRestReach = 12.0;
/// Share of it at which a step is to end that would run into it.
inline constexpr double kEntry = 0.9;
/// By which a piece may be longer than the longest, for rounding.
inline constexpr double kAlike = 1.0 + 1e-9;

/// Where the next piece ends unless something happens before.
template <int kWidth>
double IntervalLanes<kWidth>::whole_piece(const Slot& slot) const {
  const double rest = slot.interval->controls->end(slot.stretch) - slot.begin;
  const double parts = slot.near_rest ? std::ceil(rest / (kAlike * limits_.near_rest)) : 1.0;
  return parts > 1.0 ? slot.begin + rest / parts : slot.interval->controls->end(slot.stretch);
}

/// Whether the step ends with a joint that creeps near rest.
template <int kWidth>
bool IntervalLanes<kWidth>::ends_near_rest(int lane) const {
  return std::ranges::any_of(creepers_, [&](const Creeper& each) {
    return std::abs(lanes_.end_rate(each.joint)[lane]) < each.reach;
  });
}

/// Shortens a piece along which a joint that creeps comes near rest, so that it ends about there.
template <int kWidth>
bool IntervalLanes<kWidth>::shorten_for_creep(int lane) {
  Slot& slot = slots_[static_cast<std::size_t>(lane)];
  const double length = slot.end - slot.begin;
  double share = 1.0;  // of the piece, until a joint is near rest
  for (const Creeper& each : creepers_) {
    const double side = lanes_.begin_rate(each.joint)[lane] < 0.0 ? -1.0 : 1.0;
    const double begin = side * lanes_.begin_rate(each.joint)[lane];
    const double end = side * lanes_.end_rate(each.joint)[lane];
    if (begin < each.reach) {
      share = 0.0;
    } else if (end < each.reach) {
      share = std::min(share, (begin - kEntry * each.reach) / (begin - end));
    }
  }
  const double longest = std::max(share * length, limits_.near_rest);
  if (share >= 1.0 || length <= kAlike * longest) return false;
  slot.end = slot.begin + longest;
  load(lane);
  return true;
}

}  // namespace estimator
