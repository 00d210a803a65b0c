#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/simulation/interval/interval_lanes.hpp"
#include "estimator/simulation/interval/motion_segment.hpp"
#include "estimator/simulation/loops/loop_contacts.hpp"

// Members of IntervalLanes, included by interval_lanes.cpp: determine which joints stick or slip at
// the start of an interval and at contact changes.

namespace estimator {

inline constexpr double kStopReach = 1e-9;  // largest rate correction when a joint is stopped
inline constexpr double kLoosening =
    1e-9;  // relative reduction of friction bounds after a joint breaks loose

/// Determines the contacts at the start of an interval from the joint rates.
template <int kWidth>
void IntervalLanes<kWidth>::determine_initial_contacts(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const int n = program_.joint_count();
  if (!program_.has_loops()) {
    for (int j = 0; j < n; ++j) {
      slot.contacts[static_cast<std::size_t>(j)] = contact_of(*state(lane, n + j));
    }
    for (int j = 0; j < n; ++j) {
      if (program_.is_dry(j) && *state(lane, n + j) == 0.0) determine_contact(lane, j, slot.begin);
    }
    return;
  }
  fix_single(lane, slot.begin);
  accelerate_single();
  slot.interval->start_angles.resize(n);
  for (int j = 0; j < n; ++j) {
    slot.contacts[static_cast<std::size_t>(j)] = contact_of(single_.joint_rate(j)[0]);
    slot.interval->start_angles[j] = lanes_.guess(j)[lane] = single_.joint_angle(j)[0];
  }
  determine_loop_contacts(lane, -1, slot.begin, true);
}

/// Sets the rate of a joint that has nearly stopped to zero. A loop joint that reverses at a dead
/// centre while other joints move is unchanged.
template <int kWidth>
void IntervalLanes<kWidth>::stop_joint(int lane, int joint) {
  const int c = program_.coordinate_count();
  if (!program_.has_loops()) {
    *state(lane, c + joint) = 0.0;
    return;
  }
  JointVector<double> coupling(c), rates(c);
  for (int p = 0; p < c; ++p) {
    coupling[p] = single_.loops()->coupling(joint, p)[0];
    rates[p] = *state(lane, c + p);
  }
  const double share = coupling.dot(rates) / coupling.squaredNorm();
  if (!(std::abs(share) * coupling.norm() <= kStopReach * (1.0 + rates.norm()))) return;
  rates -= share * coupling;
  for (int p = 0; p < c; ++p) {
    *state(lane, c + p) = std::abs(rates[p]) < kRestRate ? 0.0 : rates[p];
  }
}

/// Determines the contacts of all loop joints at rest together, including a joint that has just
/// stopped or is breaking loose.
template <int kWidth>
void IntervalLanes<kWidth>::determine_loop_contacts(int lane, int joint, double time, bool stops) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  fix_single(lane, time);
  accelerate_single();
  const int n = program_.joint_count(), c = program_.coordinate_count();
  std::vector<int> resting;
  for (int j = 0; j < n; ++j) {
    const Contact contact = slot.contacts[static_cast<std::size_t>(j)];
    if (program_.is_dry(j) && (j == joint || contact == Contact::kStick ||
                               std::abs(single_.joint_rate(j)[0]) < kRestRate)) {
      resting.push_back(j);
    }
  }
  if (resting.empty()) return;
  if (slot.holds) {
    for (const int j : resting) slot.contacts[static_cast<std::size_t>(j)] = Contact::kStick;
    return;
  }
  const auto is_resting = [&](int j) { return std::ranges::find(resting, j) != resting.end(); };
  const LoopLanes<kSingle>& loops = *single_.loops();
  Eigen::MatrixXd N(n, c), M(n, n);
  Eigen::VectorXd left(n), gamma(n);
  for (int j = 0; j < n; ++j) {
    gamma[j] = loops.drift(j)[0];
    left[j] = single_.balance(j)[0];
    if (!is_resting(j)) left[j] += single_.direction(j)[0] * single_.bound(j)[0];
    for (int p = 0; p < c; ++p) N(j, p) = loops.coupling(j, p)[0];
    for (int k = 0; k < n; ++k) M(j, k) = single_.mass(j, k)[0];
  }
  const auto s = static_cast<Eigen::Index>(resting.size());
  RestingJoints joints{.mass = N.transpose() * M * N,
                       .force = N.transpose() * (left + M * gamma),
                       .coupling = Eigen::MatrixXd(s, c),
                       .drift = Eigen::VectorXd(s),
                       .bound = Eigen::VectorXd(s)};
  for (Eigen::Index m = 0; m < s; ++m) {
    const int j = resting[static_cast<std::size_t>(m)];
    joints.coupling.row(m) = N.row(j);
    joints.drift[m] = gamma[j];
    // A joint that has broken loose must not stick again because of round-off.
    joints.bound[m] = single_.holding_bound(j)[0] * (stops ? 1.0 : 1.0 - kLoosening);
  }
  const Contacts settled = determine_contacts(joints);
  for (std::size_t m = 0; m < resting.size(); ++m) {
    slot.contacts[static_cast<std::size_t>(resting[m])] = settled[m];
  }
}

/// Returns the smallest remaining friction torque of the sticking joints in loops. Call it after
/// `lanes` has computed accelerations.
template <int kWidth>
template <int W>
double IntervalLanes<kWidth>::spare_torque(const MotionLanes<W>& lanes, int lane,
                                           const Contacts& contacts) const {
  const int n = program_.joint_count(), c = program_.coordinate_count();
  Eigen::VectorXd force = Eigen::VectorXd::Zero(c), bound(n);
  Eigen::MatrixXd coupling(n, c);
  Eigen::Index s = 0;
  for (int j = 0; j < n; ++j) {
    const Contact contact = contacts[static_cast<std::size_t>(j)];
    double left = lanes.balance(j)[lane] + lanes.direction(j)[lane] * lanes.bound(j)[lane];
    for (int k = 0; k < n; ++k) left += lanes.mass(j, k)[lane] * lanes.joint_acceleration(k)[lane];
    for (int p = 0; p < c; ++p) {
      const double N = lanes.loops()->coupling(j, p)[lane];
      force[p] += N * left;
      coupling(s, p) = N;
    }
    bound[s] = lanes.holding_bound(j)[lane];
    if (contact == Contact::kStick) ++s;
  }
  return holding_margin(coupling.topRows(s), bound.head(s), force);
}

/// Determines the contact of a joint at rest. It sticks if friction can hold it. Otherwise it slips
/// in the direction of its load.
template <int kWidth>
void IntervalLanes<kWidth>::determine_contact(int lane, int joint, double time) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  Contact& contact = slot.contacts[static_cast<std::size_t>(joint)];
  contact = Contact::kStick;
  if (slot.holds) return;
  fix_single(lane, time);
  accelerate_single();
  const double held = holding_torque_single(joint);
  if (std::abs(held) > single_.holding_bound(joint)[0]) contact = contact_of(-held);
}

}  // namespace estimator
