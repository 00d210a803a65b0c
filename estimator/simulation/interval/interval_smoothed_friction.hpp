#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/simulation/interval/interval_lanes.hpp"

// Members of IntervalLanes, included by interval_lanes.cpp: shorten integration segments near rest,
// where smoothed Coulomb friction is steep.

namespace estimator {

/// Wanted length of an integration segment along the variable u of FrictionArgumentCourse.
inline constexpr double kCreepWay = 0.15;
/// Factor by which an integration segment may exceed its wanted length.
inline constexpr double kLeeway = 1.5;
/// An integration segment that is too long is shortened to at most this fraction of its length.
inline constexpr double kShortened = 0.7;
/// Two lengths relative to the longest segment at rest. kBriefest is the shortest allowed segment.
/// In segments below kBrief the mean speed cannot be computed from angles.
inline constexpr double kBriefest = 1e-4, kBrief = 1e-3;

/// Returns a joint's speed over the last step, in units of its transition velocity.
template <int kWidth>
FrictionArgumentCourse IntervalLanes<kWidth>::course(const SmoothedFrictionJoint& each,
                                                     int lane) const {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const double length = slot.end - slot.begin;
  const double begin = lanes_.begin_rate(each.joint)[lane] / each.speed;
  const double end = lanes_.end_rate(each.joint)[lane] / each.speed;
  if (!(length > kBrief * limits_.near_rest)) return {begin, end};
  const double way = lanes_.end_angle(each.joint)[lane] - lanes_.begin_angle(each.joint)[lane];
  return {begin, way / (length * each.speed), end};
}

/// Returns the longest stable segment at the speed x in transition velocities. The slope of
/// smoothed friction at x is 1/cosh²(x) of its slope at rest.
template <int kWidth>
double IntervalLanes<kWidth>::longest_at(double x) const {
  const double rise = std::cosh(x);
  return limits_.near_rest * rise * rise;
}

/// Shortens a segment that is too long for joints with smoothed friction. Returns whether it did.
template <int kWidth>
bool IntervalLanes<kWidth>::shorten_for_smoothed_friction(int lane) {
  if (smoothed_joints_.empty()) return false;
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const double length = slot.end - slot.begin;
  double wanted = length;
  for (const SmoothedFrictionJoint& each : smoothed_joints_) {
    const FrictionArgumentCourse x = course(each, lane);
    if (length > kLeeway * longest_at(x.begin())) wanted = std::min(wanted, longest_at(x.begin()));
    if (!(x.passed() > kLeeway * kCreepWay)) continue;
    wanted = std::min(wanted, std::min(kShortened, x.fraction_from_begin(kCreepWay)) * length);
  }
  wanted = std::max(wanted, kBriefest * limits_.near_rest);
  if (!(wanted <= kShortened * length)) return false;  // at its shortest
  slot.end = slot.begin + wanted;
  load(lane);
  return true;
}

/// Returns the longest segment that joints with smoothed friction allow after the last step.
template <int kWidth>
double IntervalLanes<kWidth>::longest_after(int lane) const {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  double longest = std::numeric_limits<double>::infinity();
  for (const SmoothedFrictionJoint& each : smoothed_joints_) {
    const FrictionArgumentCourse x = course(each, lane);
    const double time = x.fraction_from_end(kCreepWay) * (slot.end - slot.begin);
    longest = std::min({longest, longest_at(x.end()), time});
  }
  return std::max(longest, kBriefest * limits_.near_rest);
}

/// Returns the end time of the next segment if no event shortens it.
template <int kWidth>
double IntervalLanes<kWidth>::full_segment(const Lane& slot) const {
  const double end = slot.interval->controls->end(slot.substep), rest = end - slot.begin;
  return rest > slot.longest ? slot.begin + rest / std::ceil(rest / slot.longest) : end;
}

}  // namespace estimator
