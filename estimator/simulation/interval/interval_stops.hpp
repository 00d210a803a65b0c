#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "estimator/simulation/interval/interval_lanes.hpp"
#include "estimator/simulation/interval/motion_segment.hpp"

// Members of IntervalLanes, included by interval_lanes.cpp: joints that hit end stops, rest at them
// and leave them. They support only mechanisms without loops.

namespace estimator {

/// Relative change of a joint rate by an impact, below which a joint at its stop stays at rest.
inline constexpr double kUnmoved = 1e-12;
/// Impact speed below which the derivative of the impact time is neglected [rad/s].
inline constexpr double kGrazing = 1e-9;

/// Sets the contacts of joints that start an interval at or beyond an end stop.
template <int kWidth>
void IntervalLanes<kWidth>::determine_initial_stop_contacts(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  for (int i = 0; i < std::ssize(stops_); ++i) {
    const JointStop& stop = stops_[static_cast<std::size_t>(i)];
    const double distance = stop.distance(*state(lane, stop.joint));
    const double speed = stop.side * *state(lane, program_.joint_count() + stop.joint);
    if (distance > 0.0 || (distance == 0.0 && speed > 0.0)) continue;
    handle_stop_event(lane, slot.begin, i, false);
  }
}

/// Finds the first joint that reaches or leaves an end stop within the segment, and replaces
/// `first` if this event is earlier.
template <int kWidth>
void IntervalLanes<kWidth>::find_stop_event(int lane, Ending& first) {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  for (int i = 0; i < std::ssize(stops_); ++i) {
    const JointStop& stop = stops_[static_cast<std::size_t>(i)];
    const bool rests = rests_at(slot, i);
    if (rests && slot.holds) continue;
    const auto joint = static_cast<std::size_t>(stop.joint);
    double time = slot.end - slot.begin, left;
    if (rests) {
      left = stop.side * torques_[joint][static_cast<std::size_t>(lane)];
      if (program_.is_dry(stop.joint)) left += lanes_.holding_bound(stop.joint)[lane];
    } else {
      left = stop.distance(lanes_.end_angle(stop.joint)[lane]);
      if (left >= 0.0) time = find_dip(lane, i, left);
    }
    if (!(left < 0.0)) continue;
    time = locate(lane, stop.joint, i, time, left);
    if (time < first.time) first = {time, stop.joint, i};
  }
}

/// Finds a joint that passes an end stop within the segment and returns before the segment ends.
/// Returns the time at which the joint reverses. `left` receives its distance from the stop at that
/// time.
template <int kWidth>
double IntervalLanes<kWidth>::find_dip(int lane, int stop, double& left) {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const JointStop& at = stops_[static_cast<std::size_t>(stop)];
  const double length = slot.end - slot.begin;
  const double begin = at.distance(lanes_.begin_angle(at.joint)[lane]);
  const double v0 = at.side * lanes_.begin_rate(at.joint)[lane];
  const double v1 = at.side * lanes_.end_rate(at.joint)[lane];
  if (!(v0 < 0.0 && v1 > 0.0)) return length;
  const double turn = length * v0 / (v0 - v1);
  // With constant acceleration the joint would get half this far: a safety factor of two.
  if (begin + v0 * turn > 0.0) return length;
  fix_single(lane, slot.begin);
  for (int i = 0; i < kSingle; ++i) {
    load_segment(single_, i, *slot.interval->controls, slot.substep, slot.begin, slot.begin + turn);
  }
  single_.step();
  left = stop_margin(slot, stop, true)[0];
  return turn;
}

/// Returns the distance of a joint from its end stop in each lane of the narrow integrator. For a
/// joint that rests at the stop, it returns the remaining contact force instead.
template <int kWidth>
std::array<double, IntervalLanes<kWidth>::kSingle> IntervalLanes<kWidth>::stop_margin(
    const Lane& slot, int stop, bool at_end) {
  const JointStop& at = stops_[static_cast<std::size_t>(stop)];
  std::array<double, kSingle> left;
  if (!rests_at(slot, stop)) {
    const double* angle = at_end ? single_.end_angle(at.joint) : single_.state(at.joint);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = at.distance(angle[i]);
    return left;
  }
  at_end ? single_.accelerate_at_end() : single_.accelerate_at_start();
  single_.holding_torque(at.joint, left.data());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] *= at.side;
    if (program_.is_dry(at.joint)) left[i] += single_.holding_bound(at.joint)[i];
  }
  return left;
}

/// Handles a joint that hits an end stop, or leaves the stop at which it rests, at the lane's time.
///
/// @param moves  whether the time of the event depends on the motion; false at the start of an
/// interval
template <int kWidth>
void IntervalLanes<kWidth>::handle_stop_event(int lane, double time, int stop, bool moves) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const JointStop& at = stops_[static_cast<std::size_t>(stop)];
  const int n = program_.joint_count();
  MotionEvent event{.time = time, .substep = slot.substep, .joint = at.joint};
  if (rests_at(slot, stop)) {
    fix_single(lane, time);
    const JointVector<double> before = accelerate_single();
    slot.contacts[static_cast<std::size_t>(at.joint)] = contact_of(at.side);
    fix_single(lane, time);
    event.drop = before - accelerate_single();
  } else {
    auto impact = std::make_shared<MotionImpact>();
    impact->stop = stop;
    *state(lane, at.joint) = at.position;
    impact->position.resize(n);
    impact->rates.resize(n);
    for (int j = 0; j < n; ++j) {
      impact->position[j] = *state(lane, j);
      impact->rates[j] = *state(lane, n + j);
    }
    fix_single(lane, time);
    impact->before = accelerate_single();
    const double speed = impact->rates[at.joint];
    if (moves && std::abs(speed) > kGrazing) impact->speed = speed;
    if (moves || !(at.side * speed > 0.0)) {
      impact_joint(lane, time, stop, *impact);
    } else {
      slot.contacts[static_cast<std::size_t>(at.joint)] = contact_of(at.side);
    }
    fix_single(lane, time);
    impact->after = accelerate_single();
    event.rates.resize(n);
    for (int j = 0; j < n; ++j) event.rates[j] = *state(lane, n + j);
    event.impact = std::move(impact);
  }
  event.contacts = slot.contacts;
  slot.interval->log.events.push_back(event);
}

/// Computes the impact of a joint at an end stop. The joint rebounds, or stays at the stop if the
/// rebound would last less than kFlightMin.
template <int kWidth>
void IntervalLanes<kWidth>::impact_joint(int lane, double time, int stop, MotionImpact& impact) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const JointStop& at = stops_[static_cast<std::size_t>(stop)];
  const int n = program_.joint_count();
  const Contacts contacts = slot.contacts;
  Eigen::MatrixXd mass(n, n);
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) mass(j, k) = single_.mass(j, k)[0];
  }
  if (!slot.holds) {
    leave_impact(lane, stop, at.restitution, mass, impact);
    fix_single(lane, time);
    const double back = -at.side * accelerate_single()[at.joint];  // < 0: away from the stop
    const double speed = at.side * *state(lane, n + at.joint);
    impact.rebounds = 2.0 * speed > kFlightMin * back;
  }
  if (!impact.rebounds) {
    slot.contacts = contacts;
    leave_impact(lane, stop, 0.0, mass, impact);
    slot.contacts[static_cast<std::size_t>(at.joint)] = contact_at(at);
  }
  settle_rest(lane, time);
}

/// Sets the joint rates and the contacts after an impact.
template <int kWidth>
void IntervalLanes<kWidth>::leave_impact(int lane, int stop, double restitution,
                                         const Eigen::MatrixXd& mass, MotionImpact& impact) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const int n = program_.joint_count();
  std::vector<JointStop> near{stops_[static_cast<std::size_t>(stop)]};
  near.front().restitution = restitution;
  for (int i = 0; i < std::ssize(stops_); ++i) {
    if (rests_at(slot, i)) near.push_back(stops_[static_cast<std::size_t>(i)]);
  }
  std::vector<int> pushing{0};
  if (near.size() > 1) pushing = active_stops(mass, impact.rates, near);
  if (pushing.empty() || pushing.front() != 0) pushing.insert(pushing.begin(), 0);
  impact.struck.clear();
  for (const int i : pushing) {
    const JointStop& each = near[static_cast<std::size_t>(i)];
    impact.struck.push_back({each.joint, each.restitution});
  }
  const Eigen::MatrixXd before = impact.rates;
  Eigen::VectorXd after = resolve_impact<double>(mass, before, impact.struck);
  for (const auto& each : impact.struck) {
    after[each.joint] = -each.restitution * impact.rates[each.joint];  // removes round-off
  }
  slot.contacts[static_cast<std::size_t>(near.front().joint)] = contact_of(near.front().side);
  const double least = kUnmoved * (after - before).norm();
  for (int j = 0; j < n; ++j) {
    Contact& contact = slot.contacts[static_cast<std::size_t>(j)];
    if (is_held(contact) && std::abs(after[j]) <= least) {
      after[j] = 0.0;
    } else if (after[j] != 0.0) {
      contact = contact_of(after[j]);
    }
    *state(lane, n + j) = after[j];
  }
}

/// Updates the contacts of joints at rest after an impact.
template <int kWidth>
void IntervalLanes<kWidth>::settle_rest(int lane, double time) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  for (int j = 0; j < program_.joint_count(); ++j) {
    if (slot.contacts[static_cast<std::size_t>(j)] == Contact::kStick)
      determine_contact(lane, j, time);
  }
  for (int i = 0; i < std::ssize(stops_) && !slot.holds; ++i) {
    if (!rests_at(slot, i)) continue;
    fix_single(lane, time);
    const JointStop& stop = stops_[static_cast<std::size_t>(i)];
    if (stop_margin(slot, i, false)[0] < 0.0) {
      slot.contacts[static_cast<std::size_t>(stop.joint)] = contact_of(stop.side);
    }
  }
}

}  // namespace estimator
