#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/tree/interval_lanes.hpp"

// Members of IntervalLanes, for interval_lanes.cpp: pieces are short where friction that creeps is
// steep.

namespace estimator {

/// Way of a piece along u of CreepCourse.
inline constexpr double kCreepWay = 0.15;
/// By which a piece may exceed what is wanted of it.
inline constexpr double kLeeway = 1.5;
/// Part of a piece that is too long that is left of it at most.
inline constexpr double kShortened = 0.7;
/// Parts of the longest piece at rest: the shortest one, and one too short for the mean of its
/// speed to be known from angles.
inline constexpr double kBriefest = 1e-4, kBrief = 1e-3;

/// The step taken, along a joint.
template <int kWidth>
CreepCourse IntervalLanes<kWidth>::course(const Creeper& each, int lane) const {
  const Slot& slot = slots_[static_cast<std::size_t>(lane)];
  const double length = slot.end - slot.begin;
  const double begin = lanes_.begin_rate(each.joint)[lane] / each.speed;
  const double end = lanes_.end_rate(each.joint)[lane] / each.speed;
  if (!(length > kBrief * limits_.near_rest)) return {begin, end};
  const double way = lanes_.end_angle(each.joint)[lane] - lanes_.begin_angle(each.joint)[lane];
  return {begin, way / (length * each.speed), end};
}

/// Longest piece that is stable beside x: friction there is 1/cosh² as steep as at rest.
template <int kWidth>
double IntervalLanes<kWidth>::longest_at(double x) const {
  const double rise = std::cosh(x);
  return limits_.near_rest * rise * rise;
}

/// Shortens a piece that is too long for joints that creep.
template <int kWidth>
bool IntervalLanes<kWidth>::shorten_for_creep(int lane) {
  if (creepers_.empty()) return false;
  Slot& slot = slots_[static_cast<std::size_t>(lane)];
  const double length = slot.end - slot.begin;
  double wanted = length;
  for (const Creeper& each : creepers_) {
    const CreepCourse x = course(each, lane);
    if (length > kLeeway * longest_at(x.begin())) wanted = std::min(wanted, longest_at(x.begin()));
    if (!(x.passed() > kLeeway * kCreepWay)) continue;
    wanted = std::min(wanted, std::min(kShortened, x.share_from_begin(kCreepWay)) * length);
  }
  wanted = std::max(wanted, kBriefest * limits_.near_rest);
  if (!(wanted <= kShortened * length)) return false;  // at its shortest
  slot.end = slot.begin + wanted;
  load(lane);
  return true;
}

/// The longest piece that may follow the step taken.
template <int kWidth>
double IntervalLanes<kWidth>::longest_after(int lane) const {
  const Slot& slot = slots_[static_cast<std::size_t>(lane)];
  double longest = std::numeric_limits<double>::infinity();
  for (const Creeper& each : creepers_) {
    const CreepCourse x = course(each, lane);
    const double time = x.share_from_end(kCreepWay) * (slot.end - slot.begin);
    longest = std::min({longest, longest_at(x.end()), time});
  }
  return std::max(longest, kBriefest * limits_.near_rest);
}

/// Where the next piece ends unless something happens before.
template <int kWidth>
double IntervalLanes<kWidth>::whole_piece(const Slot& slot) const {
  const double end = slot.interval->controls->end(slot.stretch), rest = end - slot.begin;
  return rest > slot.longest ? slot.begin + rest / std::ceil(rest / slot.longest) : end;
}

}  // namespace estimator
