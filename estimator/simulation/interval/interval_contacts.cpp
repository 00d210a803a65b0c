// Members of SegmentIntegrator that determine which joints stick, slip, or hit, touch and leave end
// stops.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "estimator/simulation/interval/interval_lane.hpp"
#include "estimator/simulation/interval/motion_lanes.hpp"
#include "estimator/simulation/loops/loop_contacts.hpp"

namespace estimator {
namespace {

constexpr double kStopReach = 1e-9;  // largest rate correction when a joint is stopped
constexpr double kLoosening =
    1e-9;  // relative reduction of friction bounds after a joint breaks loose

/// Relative change of a joint rate by an impact, below which a joint at its stop stays at rest.
constexpr double kUnmoved = 1e-12;
/// Impact speed below which the derivative of the impact time is neglected [rad/s].
constexpr double kGrazing = 1e-9;

}  // namespace

/// Determines the contacts at the start of an interval from the joint rates.
void SegmentIntegrator::determine_initial_contacts() {
  const int n = program_.joint_count();
  if (!program_.has_loops()) {
    for (int j = 0; j < n; ++j) contact_state(j) = contact_for_slip_direction(state(n + j));
    for (int j = 0; j < n; ++j) {
      if (program_.has_holding_friction(j) && state(n + j) == 0.0) determine_contact(j, begin_);
    }
    return;
  }
  load_narrow_integrator(begin_);
  narrow_accelerations();
  interval_->start_angles.resize(n);
  for (int j = 0; j < n; ++j) {
    contact_state(j) = contact_for_slip_direction(single_.joint_rate(j)[0]);
    interval_->start_angles[j] = lanes_.guess(j)[lane_] = single_.joint_angle(j)[0];
  }
  determine_loop_contacts(-1, begin_, true);
}

/// Stops the points that touch the ground, if a contact begins with this substep. At the start of
/// an interval, this removes rates that active contacts do not permit.
void SegmentIntegrator::apply_touch_down() {
  const SegmentControls& controls = *interval_->controls;
  if (!controls.has_touch_down(substep_, interval_->first_substep)) return;
  const int n = program_.joint_count();
  Eigen::VectorXd coordinates(n), rates(n);
  for (int j = 0; j < n; ++j) {
    coordinates[j] = state(j);
    rates[j] = state(n + j);
  }
  ground_->apply_impulse(controls, substep_, coordinates, rates);
  for (int j = 0; j < n; ++j) state(n + j) = rates[j];
}

/// Sets the rate of a joint that has nearly stopped to zero. A loop joint that reverses at a dead
/// centre while other joints move is unchanged.
void SegmentIntegrator::set_joint_rate_to_zero(int joint) {
  const int c = program_.coordinate_count();
  if (!program_.has_loops()) {
    state(c + joint) = 0.0;
    return;
  }
  JointVector<double> coupling(c), rates(c);
  for (int p = 0; p < c; ++p) {
    coupling[p] = single_.rate_coupling(joint, p)[0];
    rates[p] = state(c + p);
  }
  const double share = coupling.dot(rates) / coupling.squaredNorm();
  if (!(std::abs(share) * coupling.norm() <= kStopReach * (1.0 + rates.norm()))) return;
  rates -= share * coupling;
  for (int p = 0; p < c; ++p) state(c + p) = std::abs(rates[p]) < kRestRate ? 0.0 : rates[p];
}

/// Determines the contacts of all loop joints at rest together, including a joint that has just
/// stopped or is breaking loose.
void SegmentIntegrator::determine_loop_contacts(int joint, double time, bool stops) {
  load_narrow_integrator(time);
  narrow_accelerations();
  const int n = program_.joint_count(), c = program_.coordinate_count();
  std::vector<int> resting;
  for (int j = 0; j < n; ++j) {
    if (program_.has_holding_friction(j) && (j == joint || contact_state(j) == Contact::kStick ||
                                             std::abs(single_.joint_rate(j)[0]) < kRestRate)) {
      resting.push_back(j);
    }
  }
  if (resting.empty()) return;
  if (holds_) {
    for (const int j : resting) contact_state(j) = Contact::kStick;
    return;
  }
  const auto is_resting = [&](int j) { return std::ranges::find(resting, j) != resting.end(); };
  Eigen::MatrixXd N(n, c), M(n, n);
  Eigen::VectorXd left(n), gamma(n), bound(n);
  for (int j = 0; j < n; ++j) {
    gamma[j] = single_.bias_acceleration(j)[0];
    left[j] = single_.bias_torque(j)[0];
    if (!is_resting(j)) left[j] += single_.slip_direction(j)[0] * single_.bound(j)[0];
    // A joint that has broken loose must not stick again because of round-off.
    bound[j] = single_.holding_torque_bound(j)[0] * (stops ? 1.0 : 1.0 - kLoosening);
    for (int p = 0; p < c; ++p) N(j, p) = single_.rate_coupling(j, p)[0];
    for (int k = 0; k < n; ++k) M(j, k) = single_.mass(j, k)[0];
  }
  const Contacts settled = determine_contact_states({.mass = N.transpose() * M * N,
                                                     .force = N.transpose() * (left + M * gamma),
                                                     .coupling = N(resting, Eigen::all),
                                                     .drift = gamma(resting),
                                                     .bound = bound(resting)});
  for (std::size_t m = 0; m < resting.size(); ++m) contact_state(resting[m]) = settled[m];
}

/// Returns the smallest remaining friction torque of the sticking joints in loops. Call it after
/// `lanes` has computed accelerations.
double SegmentIntegrator::spare_holding_torque(const SimdMotionIntegrator& lanes, int lane) const {
  const int n = program_.joint_count(), c = program_.coordinate_count();
  Eigen::VectorXd force = Eigen::VectorXd::Zero(c), bound(n);
  Eigen::MatrixXd coupling(n, c);
  Eigen::Index s = 0;
  for (int j = 0; j < n; ++j) {
    double left = lanes.bias_torque(j)[lane] + lanes.slip_direction(j)[lane] * lanes.bound(j)[lane];
    for (int k = 0; k < n; ++k) left += lanes.mass(j, k)[lane] * lanes.joint_acceleration(k)[lane];
    for (int p = 0; p < c; ++p) {
      const double N = lanes.rate_coupling(j, p)[lane];
      force[p] += N * left;
      coupling(s, p) = N;
    }
    bound[s] = lanes.holding_torque_bound(j)[lane];
    if (contact_state(j) == Contact::kStick) ++s;
  }
  return holding_force_margin(coupling.topRows(s), bound.head(s), force);
}

/// Determines the contact of a joint at rest. It sticks if friction can hold it. Otherwise it slips
/// in the direction of its load.
void SegmentIntegrator::determine_contact(int joint, double time) {
  contact_state(joint) = Contact::kStick;
  if (holds_) return;
  load_narrow_integrator(time);
  narrow_accelerations();
  const double held = narrow_holding_torque(joint);
  if (std::abs(held) > single_.holding_torque_bound(joint)[0])
    contact_state(joint) = contact_for_slip_direction(-held);
}

// --- end stops, supported only without loops ----------------------------------------------------

/// Sets the contacts of joints that start an interval at or beyond an end stop.
void SegmentIntegrator::determine_initial_stop_contacts() {
  for (const JointStop& stop : stops_) {
    const double distance = stop.distance_from_stop(state(stop.joint));
    const double speed = stop.side * state(program_.joint_count() + stop.joint);
    if (distance > 0.0 || (distance == 0.0 && speed > 0.0)) continue;
    handle_stop_event(begin_, stop, false);
  }
}

/// Finds the first joint that reaches or leaves an end stop within the segment, and replaces
/// `first` if this event is earlier.
void SegmentIntegrator::find_stop_event(ContactChange& first) const {
  for (const JointStop& stop : stops_) {
    const bool rests = is_resting_at_stop(stop);
    if (rests && holds_) continue;
    double time = end_ - begin_, left = margin_at_end(stop.joint, &stop);
    if (!rests && left >= 0.0) time = find_reversal_at_stop(stop, left);
    if (!(left < 0.0)) continue;
    const ContactChange change = bracket_contact_change(stop.joint, &stop, time, left);
    if (change.time < first.time) first = change;
  }
}

/// Finds a joint that passes an end stop within the segment and returns before the segment ends.
/// Returns the time at which the joint reverses. `left` receives its distance from the stop at that
/// time.
double SegmentIntegrator::find_reversal_at_stop(const JointStop& stop, double& left) const {
  const double length = end_ - begin_;
  const double distance = stop.distance_from_stop(lanes_.begin_angle(stop.joint)[lane_]);
  const double v0 = stop.side * lanes_.begin_rate(stop.joint)[lane_];
  const double v1 = stop.side * lanes_.end_rate(stop.joint)[lane_];
  if (!(v0 < 0.0 && v1 > 0.0)) return length;
  const double turn = length * v0 / (v0 - v1);
  // With constant acceleration the joint would get half this far: a safety factor of two.
  if (distance + v0 * turn > 0.0) return length;
  load_narrow_integrator(begin_);
  for (int i = 0; i < kSingle; ++i) {
    set_segment_controls(single_, i, *interval_->controls, substep_, begin_, begin_ + turn);
  }
  single_.step();
  left = stop.distance_from_stop(single_.end_angle(stop.joint)[0]);
  return turn;
}

/// Handles a joint that hits an end stop, or leaves the stop at which it rests, at the lane's time.
///
/// @param moves  whether the time of the event depends on the motion; false at the start of an
/// interval
void SegmentIntegrator::handle_stop_event(double time, const JointStop& stop, bool moves) {
  const int n = program_.joint_count();
  MotionEvent event{.time = time, .substep = substep_, .joint = stop.joint};
  const auto states = [&](int first) {
    JointVector<double> values(n);
    for (int j = 0; j < n; ++j) values[j] = state(first + j);
    return values;
  };
  if (is_resting_at_stop(stop)) {
    load_narrow_integrator(time);
    const JointVector<double> before = narrow_accelerations();
    contact_state(stop.joint) = contact_for_slip_direction(stop.side);
    load_narrow_integrator(time);
    event.drop = before - narrow_accelerations();
  } else {
    auto impact = std::make_shared<EndStopImpact>();
    impact->stop = static_cast<int>(&stop - stops_.data());
    state(stop.joint) = stop.position;
    impact->position = states(0);
    impact->rates = states(n);
    load_narrow_integrator(time);
    impact->before = narrow_accelerations();
    const double speed = impact->rates[stop.joint];
    if (moves && std::abs(speed) > kGrazing) impact->speed = speed;
    if (moves || !(stop.side * speed > 0.0)) {
      apply_stop_impact(time, stop, *impact);
    } else {
      contact_state(stop.joint) = contact_for_slip_direction(stop.side);
    }
    load_narrow_integrator(time);
    impact->after = narrow_accelerations();
    event.rates = states(n);
    event.impact = std::move(impact);
  }
  event.contacts = contacts_;
  interval_->log.events.push_back(event);
}

/// Computes the impact of a joint at an end stop. The joint rebounds, or stays at the stop if the
/// rebound would last less than kFlightMin.
void SegmentIntegrator::apply_stop_impact(double time, const JointStop& stop,
                                          EndStopImpact& impact) {
  const int n = program_.joint_count();
  const Contacts contacts = contacts_;
  Eigen::MatrixXd mass(n, n);
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) mass(j, k) = single_.mass(j, k)[0];
  }
  if (!holds_) {
    apply_impact_rates(stop, stop.restitution, mass, impact);
    load_narrow_integrator(time);
    const double back = -stop.side * narrow_accelerations()[stop.joint];  // < 0: away from the stop
    const double speed = stop.side * state(n + stop.joint);
    impact.rebounds = 2.0 * speed > kFlightMin * back;
  }
  if (!impact.rebounds) {
    contacts_ = contacts;
    apply_impact_rates(stop, 0.0, mass, impact);
    contact_state(stop.joint) = contact_at_stop(stop);
  }
  update_resting_contacts(time);
}

/// Sets the joint rates and the contacts after an impact.
void SegmentIntegrator::apply_impact_rates(const JointStop& stop, double restitution,
                                           const Eigen::MatrixXd& mass, EndStopImpact& impact) {
  const int n = program_.joint_count();
  std::vector<JointStop> near{stop};
  near.front().restitution = restitution;
  for (const JointStop& each : stops_) {
    if (is_resting_at_stop(each)) near.push_back(each);
  }
  std::vector<int> pushing{0};
  if (near.size() > 1) pushing = find_active_stops(mass, impact.rates, near);
  if (pushing.empty() || pushing.front() != 0) pushing.insert(pushing.begin(), 0);
  impact.struck.clear();
  for (const int i : pushing) {
    const JointStop& each = near[i];
    impact.struck.push_back({each.joint, each.restitution});
  }
  const Eigen::MatrixXd before = impact.rates;
  Eigen::VectorXd after = resolve_impact<double>(mass, before, impact.struck);
  for (const auto& each : impact.struck) {
    after[each.joint] = -each.restitution * impact.rates[each.joint];  // removes round-off
  }
  contact_state(stop.joint) = contact_for_slip_direction(stop.side);
  const double least = kUnmoved * (after - before).norm();
  for (int j = 0; j < n; ++j) {
    if (is_at_rest(contact_state(j)) && std::abs(after[j]) <= least) {
      after[j] = 0.0;
    } else if (after[j] != 0.0) {
      contact_state(j) = contact_for_slip_direction(after[j]);
    }
    state(n + j) = after[j];
  }
}

/// Updates the contacts of joints at rest after an impact.
void SegmentIntegrator::update_resting_contacts(double time) {
  for (int j = 0; j < program_.joint_count(); ++j) {
    if (contact_state(j) == Contact::kStick) determine_contact(j, time);
  }
  if (holds_) return;
  for (const JointStop& stop : stops_) {
    if (!is_resting_at_stop(stop)) continue;
    load_narrow_integrator(time);
    single_.compute_start_accelerations();
    if (holding_margin(single_, 0, stop.joint, &stop, narrow_holding_torque(stop.joint)) < 0.0)
      contact_state(stop.joint) = contact_for_slip_direction(stop.side);
  }
}

}  // namespace estimator
