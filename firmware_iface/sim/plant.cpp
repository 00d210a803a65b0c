#include "firmware_iface/sim/plant.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace firmware_iface::sim {
namespace {

// RK4 at this step integrates the fastest rig motion (20 rad/s) to about 1e-9 rad per second.
constexpr double kSubstepMax = 5e-4;  // [s]

// A joint can come to rest, or hit a stop, a few times within a substep. With more events, e.g.
// chattering, the rest of the substep is integrated without event detection.
constexpr int kEventsPerSubstepMax = 16;

// A rebound that would end sooner is replaced by rest [s].
constexpr double kFlightMin = 2e-5;

constexpr int kLoadIterationsMax = 20;   // contraction by about r_μ / lever arm: usually 5
constexpr double kLoadTolerance = 1e-9;  // [N]
constexpr int kBisections = 45;          // 5e-4 s / 2^45: 1e-17 s

}  // namespace

Plant::Plant(std::unique_ptr<RigModel> model, const JointState& start)
    : model_(std::move(model)), start_(start), state_(start) {}

void Plant::set_held_by_hand(bool held) {
  held_ = held;
  if (held) state_.speed_rad_s = {};
}

void Plant::set_joint_angle(int joint, double angle_rad) {
  state_.angle_rad[static_cast<std::size_t>(joint)] = angle_rad;
  state_.speed_rad_s[static_cast<std::size_t>(joint)] = 0.0;
}

BodyMotion Plant::compute_body_motion(int joint, double command_V) const {
  JointArray acceleration{};
  JointArray torque{};
  if (!held_) solve(state_, find_slip_states(command_V), command_V, acceleration, torque);
  return model_->compute_body_motion(joint, state_, acceleration);
}

void Plant::advance(double dt_s, double command_V) {
  assert(dt_s >= 0.0);
  if (held_ || dt_s == 0.0) return;
  const int substeps = static_cast<int>(std::ceil(dt_s / kSubstepMax));
  for (int k = 0; k < substeps; ++k) advance_substep(dt_s / substeps, command_V);
}

void Plant::advance_substep(double h, double command_V) {
  double left = h;
  for (int event = 0; event <= kEventsPerSubstepMax && left > 0.0; ++event) {
    const Motions motions = find_slip_states(command_V);
    int joint = -1;
    const double until_event =
        event < kEventsPerSubstepMax ? find_event_time(motions, command_V, left, joint) : left;
    state_ = integrate_runge_kutta(state_, motions, command_V, until_event);
    if (joint >= 0) apply_event(static_cast<std::size_t>(joint), command_V);
    left -= until_event;
  }
}

bool Plant::is_beyond_stop(const JointState& state, std::size_t joint) const {
  const JointStops& stops = model_->stops(static_cast<int>(joint));
  const double angle = state.angle_rad[joint], speed = state.speed_rad_s[joint];
  return (angle < stops.lower_rad && speed < 0.0) || (angle > stops.upper_rad && speed > 0.0);
}

// Returns whether an end stop provides the holding torque of a joint at rest; it can only push.
bool Plant::is_held_by_stop(std::size_t joint, double torque) const {
  const JointStops& stops = model_->stops(static_cast<int>(joint));
  const double angle = state_.angle_rad[joint];
  return (angle <= stops.lower_rad && torque >= 0.0) || (angle >= stops.upper_rad && torque <= 0.0);
}

// Applies an event. A joint stopped by sliding friction rests. A joint at a stop reverses by an
// impulse along that joint alone, which also changes the other joint's speed.
void Plant::apply_event(std::size_t joint, double command_V) {
  JointArray& speed = state_.speed_rad_s;
  if (!is_beyond_stop(state_, joint)) {
    speed[joint] = 0.0;
    return;
  }
  const JointStops& stops = model_->stops(static_cast<int>(joint));
  const bool is_lower = speed[joint] < 0.0;
  const JointArray before = speed;
  const auto leave_with = [&](double own) {
    speed = before;
    speed[joint] = own;
    if (joint_count() < 2) return;
    const std::size_t other = 1 - joint;
    const auto M = model_->terms(state_, command_V).mass_matrix;
    speed[other] -= M[other][joint] / M[other][other] * (own - before[joint]);
  };
  state_.angle_rad[joint] = is_lower ? stops.lower_rad : stops.upper_rad;
  leave_with(-stops.restitution * before[joint]);
  JointArray acceleration{};
  JointArray torque{};
  solve(state_, find_slip_states(command_V), command_V, acceleration, torque);
  const double back = is_lower ? -acceleration[joint] : acceleration[joint];
  if (2.0 * std::abs(speed[joint]) < kFlightMin * back) leave_with(0.0);
}

// Returns each joint's direction of motion, or rest. Joints at rest are first held. Then the most
// overloaded one beyond its static limit is released, until all others hold.
Plant::Motions Plant::find_slip_states(double command_V) const {
  const auto count = static_cast<std::size_t>(joint_count());
  Motions motions{};
  for (std::size_t k = 0; k < count; ++k) {
    const double speed = state_.speed_rad_s[k];
    motions[k] = speed > 0.0   ? MotionDirection::kForward
                 : speed < 0.0 ? MotionDirection::kBackward
                               : MotionDirection::kRest;
  }
  for (std::size_t round = 0; round < count; ++round) {
    JointArray acceleration{};
    JointArray torque{};
    solve(state_, motions, command_V, acceleration, torque);
    const JointArray loads = model_->bearing_forces(state_, acceleration);
    double worst = 0.0;
    std::size_t loosest = count;
    for (std::size_t k = 0; k < count; ++k) {
      if (motions[k] != MotionDirection::kRest) continue;
      if (is_held_by_stop(k, torque[k])) continue;
      const double limit = model_->friction(static_cast<int>(k)).dry_torque_limit(0.0, loads[k]);
      const double excess = std::abs(torque[k]) - limit;
      if (excess > worst) {
        worst = excess;
        loosest = k;
      }
    }
    if (loosest == count) break;
    motions[loosest] =
        torque[loosest] < 0.0 ? MotionDirection::kForward : MotionDirection::kBackward;
  }
  return motions;
}

// Computes accelerations and dry friction torques. A sliding joint's torque is its limit, against
// the motion. A resting joint's torque is its holding torque. The limit depends on the bearing
// loads, and these on the accelerations, so they are iterated to a fixed point.
void Plant::solve(const JointState& state, const Motions& motions, double command_V,
                  JointArray& acceleration, JointArray& friction_torque) const {
  const auto count = static_cast<std::size_t>(joint_count());
  const RigModel::EquationTerms terms = model_->terms(state, command_V);
  const auto& M = terms.mass_matrix;
  bool loaded = false;
  for (std::size_t k = 0; k < count; ++k) {
    loaded = loaded || model_->friction(static_cast<int>(k)).load_arm > 0.0;
  }
  acceleration = {};
  friction_torque = {};
  JointArray loads = loaded ? model_->bearing_forces(state, acceleration) : JointArray{};
  for (int iteration = 0; iteration < kLoadIterationsMax; ++iteration) {
    JointArray Q = terms.force;
    for (std::size_t k = 0; k < count; ++k) {
      if (motions[k] == MotionDirection::kRest) continue;
      const double direction = motions[k] == MotionDirection::kForward ? 1.0 : -1.0;
      friction_torque[k] =
          -direction *
          model_->friction(static_cast<int>(k)).dry_torque_limit(state.speed_rad_s[k], loads[k]);
      Q[k] += friction_torque[k];
    }
    const bool first_rests = motions[0] == MotionDirection::kRest;
    const bool second_rests = count < 2 || motions[1] == MotionDirection::kRest;
    if (first_rests || second_rests) {
      acceleration[0] = first_rests ? 0.0 : Q[0] / M[0][0];
      acceleration[1] = second_rests ? 0.0 : Q[1] / M[1][1];
    } else {
      const double determinant = M[0][0] * M[1][1] - M[0][1] * M[1][0];
      acceleration[0] = (M[1][1] * Q[0] - M[0][1] * Q[1]) / determinant;
      acceleration[1] = (M[0][0] * Q[1] - M[1][0] * Q[0]) / determinant;
    }
    for (std::size_t k = 0; k < count; ++k) {
      if (motions[k] != MotionDirection::kRest) continue;
      friction_torque[k] = M[k][0] * acceleration[0] + M[k][1] * acceleration[1] - terms.force[k];
    }
    if (!loaded) return;
    const JointArray next = model_->bearing_forces(state, acceleration);
    double change = 0.0;
    for (std::size_t k = 0; k < count; ++k) change = std::max(change, std::abs(next[k] - loads[k]));
    loads = next;
    if (change < kLoadTolerance) return;
  }
}

JointState Plant::integrate_runge_kutta(const JointState& state, const Motions& motions,
                                        double command_V, double h) const {
  const auto count = static_cast<std::size_t>(joint_count());
  const auto moved = [&](const JointArray& speed, const JointArray& acceleration, double dt) {
    JointState result = state;
    for (std::size_t k = 0; k < count; ++k) {
      result.angle_rad[k] += dt * speed[k];
      result.speed_rad_s[k] += dt * acceleration[k];
    }
    return result;
  };
  JointArray a1, a2, a3, a4, torque;
  solve(state, motions, command_V, a1, torque);
  const JointState s2 = moved(state.speed_rad_s, a1, h / 2.0);
  solve(s2, motions, command_V, a2, torque);
  const JointState s3 = moved(s2.speed_rad_s, a2, h / 2.0);
  solve(s3, motions, command_V, a3, torque);
  const JointState s4 = moved(s3.speed_rad_s, a3, h);
  solve(s4, motions, command_V, a4, torque);
  JointState end = state;
  for (std::size_t k = 0; k < count; ++k) {
    end.angle_rad[k] += h / 6.0 *
                        (state.speed_rad_s[k] + 2.0 * s2.speed_rad_s[k] + 2.0 * s3.speed_rad_s[k] +
                         s4.speed_rad_s[k]);
    end.speed_rad_s[k] += h / 6.0 * (a1[k] + 2.0 * a2[k] + 2.0 * a3[k] + a4[k]);
  }
  return end;
}

// Returns when, within h, the first sliding joint with dry friction comes to rest or a joint hits a
// stop; h and joint −1 if none does.
double Plant::find_event_time(const Motions& motions, double command_V, double h,
                              int& joint) const {
  const auto turned = [&](const JointState& end, int k) {
    const auto index = static_cast<std::size_t>(k);
    if (motions[index] == MotionDirection::kRest) return false;
    if (is_beyond_stop(end, index)) return true;
    if (!model_->friction(k).has_dry_friction()) return false;
    const double direction = motions[index] == MotionDirection::kForward ? 1.0 : -1.0;
    return end.speed_rad_s[index] * direction < 0.0;
  };
  const auto first_turned = [&](double t) {
    const JointState end = integrate_runge_kutta(state_, motions, command_V, t);
    for (int k = 0; k < joint_count(); ++k) {
      if (turned(end, k)) return k;
    }
    return -1;
  };
  joint = first_turned(h);
  if (joint < 0) return h;
  double before = 0.0;
  double after = h;
  for (int k = 0; k < kBisections; ++k) {
    const double middle = 0.5 * (before + after);
    const int found = first_turned(middle);
    if (found >= 0) {
      after = middle;
      joint = found;
    } else {
      before = middle;
    }
  }
  return after;
}

}  // namespace firmware_iface::sim
