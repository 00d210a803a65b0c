#include "tests/estimator/dynamics/tree_motion.hpp"

#include <cmath>
#include <limits>

namespace estimator {
namespace {

/// Limit of the events within one step, of all joints together.
constexpr int kEventsMax = 24;
constexpr int kLocateRounds = 60;
constexpr int kHalvings = 40;
constexpr double kLocateTolerance = 1e-14;  // [s]

}  // namespace

template <typename T>
TreeMotion<T>::TreeMotion(const Mechanism& mechanism, const std::vector<T>& parameters)
    : dynamics_(mechanism, parameters) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    bool dry = false;
    for (const JointQuantity quantity :
         {JointQuantity::kCoulombTorque, JointQuantity::kStribeckTorque,
          JointQuantity::kLoadFriction, JointQuantity::kLoadFrictionAngular}) {
      const Parameter& parameter = mechanism.joint_parameter(j, quantity);
      dry |= parameter.free || parameter.value != 0.0;
    }
    dry_.push_back(dry);
  }
}

template <typename T>
void TreeMotion<T>::control_at(const ControlLine<T>& line, const T& time, Vector& control) {
  control = line.control;
  const T elapsed = time - line.begin;
  for (Eigen::Index j = 0; j < control.size(); ++j) control[j] += elapsed * line.slope[j];
}

template <typename T>
void TreeMotion<T>::runge_kutta(const JointState<T>& from, const ControlLine<T>& line,
                                const T& begin, const T& length, JointState<T>& to) {
  const T half = 0.5 * length;
  to.contacts = from.contacts;
  control_at(line, begin, control_);
  dynamics_.accelerate(from.angle, from.rate, control_, from.contacts, a1_);
  control_at(line, begin + half, control_);
  angle_ = from.angle + half * from.rate;
  rate_ = from.rate + half * a1_;
  dynamics_.accelerate(angle_, rate_, control_, from.contacts, a2_);
  angle_ += (half * half) * a1_;  // half a step at the speed of the second stage
  rate_ = from.rate + half * a2_;
  dynamics_.accelerate(angle_, rate_, control_, from.contacts, a3_);
  control_at(line, begin + length, control_);
  angle_ = from.angle + length * rate_;
  rate_ = from.rate + length * a3_;
  dynamics_.accelerate(angle_, rate_, control_, from.contacts, a4_);
  const T sixth = length / 6.0;
  const T square = sixth * length;
  // The speeds of the four stages are v, v + a₁h/2, v + a₂h/2, v + a₃h.
  to.angle = from.angle + length * from.rate;
  to.rate = from.rate;
  for (Eigen::Index j = 0; j < to.angle.size(); ++j) {
    const T middle = a2_[j] + a3_[j];
    const T early = a1_[j] + middle;
    to.angle[j] += square * early;
    to.rate[j] += sixth * (early + middle + a4_[j]);
  }
}

template <typename T>
void TreeMotion<T>::settle(JointState<T>& state, const MotionInput<T>& input) {
  const auto n = static_cast<std::size_t>(dynamics_.joint_count());
  state.contacts.assign(n, Contact::kForward);
  for (std::size_t j = 0; j < n; ++j) {
    state.contacts[j] = contact_of(value_of(state.rate[static_cast<Eigen::Index>(j)]));
  }
  Vector control;
  control_at(input.front(), input.front().begin, control);
  for (std::size_t j = 0; j < n; ++j) {
    const auto joint = static_cast<int>(j);
    if (dry_[j] && value_of(state.rate[joint]) == 0.0) change_contact(joint, state, control);
  }
}

/// Contact of a joint at rest: held if friction can or must hold it, otherwise slipping in the
/// driven direction. One that was held is released at the bound itself, where it breaks loose.
template <typename T>
void TreeMotion<T>::change_contact(int joint, JointState<T>& state, const Vector& control) {
  Contact& contact = state.contacts[static_cast<std::size_t>(joint)];
  const bool was_held = contact == Contact::kStick;
  contact = Contact::kStick;
  if (holds_) return;
  dynamics_.accelerate(state.angle, state.rate, control, state.contacts, a1_);
  const double held = dynamics_.holding_torque(joint);
  const double spare = dynamics_.holding_bound(joint) - std::abs(held);
  if (spare < 0.0 || (was_held && spare == 0.0)) contact = contact_of(-held);
}

/// Distance of a contact from its end: speed in its direction, or remaining holding torque.
template <typename T>
double TreeMotion<T>::margin(int joint, const JointState<T>& at, const Vector& control) {
  const Contact contact = at.contacts[static_cast<std::size_t>(joint)];
  if (contact != Contact::kStick) return static_cast<double>(contact) * value_of(at.rate[joint]);
  dynamics_.accelerate(at.angle, at.rate, control, at.contacts, a1_);
  return dynamics_.holding_bound(joint) - std::abs(dynamics_.holding_torque(joint));
}

/// Time within the substep at which the margin of a joint vanishes, by regula falsi (Illinois).
template <typename T>
double TreeMotion<T>::locate(int joint, const JointState<T>& from, const ControlLine<T>& line,
                             const T& begin, double length) {
  const auto margin_after = [&](double time) {
    runge_kutta(from, line, begin, T(time), probe_);
    control_at(line, begin + time, control_);
    return margin(joint, probe_, control_);
  };
  control_at(line, begin, control_);
  double low = 0.0, high = length;
  double at_low = margin(joint, from, control_), at_high = margin_after(length);
  // A joint that was just released moves first and comes back: halve the time until it has moved.
  const bool let_go =
      at_low == 0.0 && from.contacts[static_cast<std::size_t>(joint)] != Contact::kStick;
  for (int round = 0; let_go && !(at_low > 0.0) && round < kHalvings; ++round) {
    const double at = margin_after(0.5 * high);
    (at > 0.0 ? low : high) = 0.5 * high;
    (at > 0.0 ? at_low : at_high) = at;
  }
  if (!(at_low > 0.0)) return 0.0;
  for (int round = 0; round < kLocateRounds && high - low > kLocateTolerance; ++round) {
    const double share = at_low / (at_low - at_high);
    const double time = low + share * (high - low);
    const double at = margin_after(time);
    if (at == 0.0) return time;
    if (at > 0.0) {
      low = time;
      at_low = at;
      at_high *= 0.5;
    } else {
      high = time;
      at_high = at;
      at_low *= 0.5;
    }
    if (std::abs(at) < 1e-15) return time;
  }
  return high;
}

template <typename T>
typename TreeMotion<T>::Event TreeMotion<T>::first_event(const JointState<T>& from,
                                                         const JointState<T>& to,
                                                         const ControlLine<T>& line, const T& begin,
                                                         const T& length) {
  Event first{-1, std::numeric_limits<double>::infinity()};
  for (int j = 0; j < dynamics_.joint_count(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (!dry_[at] || (holds_ && from.contacts[at] == Contact::kStick)) continue;
    control_at(line, begin + length, control_);
    if (margin(j, to, control_) >= 0.0) continue;
    const double time = locate(j, from, line, begin, value_of(length));
    if (time < first.time) first = {j, time};
  }
  return first;
}

/// Moves `state` to the instant at which a contact ends and returns its time with derivatives: if a
/// joint stops, dt = −dω/ω̇ along every direction. If it breaks loose, accelerations are
/// continuous, so the time has no effect.
template <typename T>
T TreeMotion<T>::meet(int joint, const ControlLine<T>& line, const T& begin, double time,
                      JointState<T>& state) {
  const JointState<T> from = state;
  T length(time);
  runge_kutta(from, line, begin, length, state);
  if (state.contacts[static_cast<std::size_t>(joint)] != Contact::kStick) {
    if constexpr (std::is_same_v<T, Dual>) {
      control_at(line, begin + length, control_);
      dynamics_.accelerate(state.angle, state.rate, control_, state.contacts, a1_);
      const double slope = value_of(a1_[joint]);
      if (slope != 0.0) {
        length.derivatives() = -state.rate[joint].derivatives() / slope;
        for (Eigen::Index j = 0; j < state.rate.size(); ++j) {
          state.angle[j].derivatives() += value_of(state.rate[j]) * length.derivatives();
          state.rate[j].derivatives() += value_of(a1_[j]) * length.derivatives();
        }
      }
    }
    state.rate[joint] = T(0.0);
  }
  control_at(line, begin + length, control_);
  const Vector control = control_;
  Contact& contact = state.contacts[static_cast<std::size_t>(joint)];
  if (contact == Contact::kStick && !holds_) {
    dynamics_.accelerate(state.angle, state.rate, control, state.contacts, a1_);
    contact = contact_of(-dynamics_.holding_torque(joint));  // despite round-off
  } else {
    change_contact(joint, state, control);
  }
  return length;
}

template <typename T>
void TreeMotion<T>::advance(JointState<T>& state, const MotionInput<T>& input) {
  pieces_.clear();
  event_count_ = 0;
  holds_ = false;
  for (const ControlLine<T>& line : input) advance_along(state, line);
  if (holds_) ++unresolved_steps_;
  holds_ = false;
}

template <typename T>
void TreeMotion<T>::advance_along(JointState<T>& state, const ControlLine<T>& line) {
  T begin = line.begin;
  for (;;) {
    const T length = line.end - begin;
    Piece piece{begin, line.end, state.angle, state.rate, {}, {}};
    runge_kutta(state, line, begin, length, trial_);
    holds_ |= event_count_ >= kEventsMax;
    const Event event = first_event(state, trial_, line, begin, length);
    if (event.joint < 0) {
      state = trial_;
    } else {
      piece.end = begin + meet(event.joint, line, begin, event.time, state);
      ++event_count_;
    }
    piece.angle_end = state.angle;
    piece.rate_end = state.rate;
    begin = piece.end;
    pieces_.push_back(piece);
    if (event.joint < 0) return;
  }
}

template <typename T>
T TreeMotion<T>::angle_at(int joint, double time) const {
  std::size_t at = 0;
  while (at + 1 < pieces_.size() && value_of(pieces_[at].end) < time) ++at;
  const Piece& piece = pieces_[at];
  const T length = piece.end - piece.begin;
  if (!(value_of(length) > 0.0)) return piece.angle_end[joint];
  const T x = (time - piece.begin) / length;
  const T rest = 1.0 - x;
  const T turn = piece.angle_end[joint] - piece.angle_begin[joint];
  // θ₀ + x²(3 − 2x) Δθ + x(1 − x)[(1 − x) v₀ − x v₁] T
  const T slopes = rest * piece.rate_begin[joint] - x * piece.rate_end[joint];
  return piece.angle_begin[joint] + x * x * (3.0 - 2.0 * x) * turn + x * rest * slopes * length;
}

template class TreeMotion<double>;
template class TreeMotion<Dual>;

}  // namespace estimator
