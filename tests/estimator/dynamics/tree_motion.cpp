#include "tests/estimator/dynamics/tree_motion.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace estimator {
namespace {

/// Load-dependent friction depends on the acceleration: each fixed-point iteration reduces the
/// error by a factor of about μ.
constexpr int kLoadRounds = 40;
constexpr double kForwardLoadTolerance = 1e-14;
constexpr int kEventsMax = 24;  ///< within one step, of all joints together
constexpr int kLocateRounds = 60;

JointVector<double> control_at(const ControlLine& line, double time) {
  return line.control + (time - line.begin) * line.slope;
}

}  // namespace

TreeMotion::TreeMotion(const Mechanism& mechanism)
    : dynamics_(mechanism, parameter_values(mechanism)) {
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

/// The mass matrix has its columns from the inverse dynamics, which is affine in the accelerations.
/// Sticking joints get rows and columns of the identity.
void TreeMotion::accelerate(const JointState& at, const Vector& control, Vector& acceleration) {
  const int n = dynamics_.joint_count();
  const auto contact = [&](int j) { return at.contacts[static_cast<std::size_t>(j)]; };
  Vector unit = Vector::Zero(n), at_rest, column;
  dynamics_.torque_residual(at.angle, at.rate, unit, control, at_rest);
  Eigen::MatrixXd mass = Eigen::MatrixXd::Identity(n, n);
  for (int k = 0; k < n; ++k) {
    unit[k] = 1.0;
    dynamics_.torque_residual(at.angle, at.rate, unit, control, column);
    unit[k] = 0.0;
    for (int j = 0; j < n; ++j) {
      if (is_held(contact(j)) || is_held(contact(k))) continue;
      mass(j, k) = column[j] - at_rest[j];
    }
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(mass);
  acceleration.setZero(n);
  for (int round = 0; round < kLoadRounds; ++round) {
    dynamics_.torque_residual(at.angle, at.rate, acceleration, control, imbalance_);
    const Vector before = acceleration;
    for (int j = 0; j < n; ++j) {
      const double friction = slip_of(contact(j)) * dynamics_.dry_bound(j, at.rate[j]);
      acceleration[j] = is_held(contact(j)) ? 0.0 : -at_rest[j] - friction;
    }
    factor.solveInPlace(acceleration);
    if ((acceleration - before).cwiseAbs().maxCoeff() <=
        kForwardLoadTolerance * (1.0 + acceleration.cwiseAbs().maxCoeff())) {
      break;
    }
  }
  dynamics_.torque_residual(at.angle, at.rate, acceleration, control, imbalance_);
}

JointState TreeMotion::after(const JointState& from, const ControlLine& line, double begin,
                             double length) {
  Vector v[4], a[4];
  for (int stage = 0; stage < 4; ++stage) {
    const double part = stage == 0 ? 0.0 : stage == 3 ? length : 0.5 * length;
    JointState at = from;
    if (stage > 0) {
      at.angle += part * v[stage - 1];
      at.rate += part * a[stage - 1];
    }
    v[stage] = at.rate;
    accelerate(at, control_at(line, begin + part), a[stage]);
  }
  JointState to = from;
  to.angle += length / 6.0 * (v[0] + 2.0 * (v[1] + v[2]) + v[3]);
  to.rate += length / 6.0 * (a[0] + 2.0 * (a[1] + a[2]) + a[3]);
  return to;
}

/// Contact of a joint at rest: held if friction can hold it, otherwise slipping in the driven
/// direction.
void TreeMotion::choose_contact(int joint, JointState& state, const Vector& control) {
  Contact& contact = state.contacts[static_cast<std::size_t>(joint)];
  contact = Contact::kStick;
  if (margin(joint, state, control) < 0.0) contact = contact_of(-imbalance_[joint]);
}

/// Distance of a contact from its end: speed in its direction, or remaining holding torque.
double TreeMotion::margin(int joint, const JointState& at, const Vector& control) {
  const Contact contact = at.contacts[static_cast<std::size_t>(joint)];
  if (contact != Contact::kStick) return slip_of(contact) * at.rate[joint];
  Vector unused;
  accelerate(at, control, unused);
  return dynamics_.dry_bound(joint, 0.0) - std::abs(imbalance_[joint]);
}

void TreeMotion::settle(JointState& state, const MotionInput& input) {
  const Vector control = control_at(input.front(), input.front().begin);
  state.contacts.clear();
  for (const double rate : state.rate) state.contacts.push_back(contact_of(rate));
  for (int j = 0; j < dynamics_.joint_count(); ++j) {
    if (dry_[static_cast<std::size_t>(j)] && state.rate[j] == 0.0) {
      choose_contact(j, state, control);
    }
  }
}

/// Time within the substep at which the margin of a joint vanishes, by bisection. A joint that was
/// just released moves first and comes back.
double TreeMotion::locate(int joint, const JointState& from, const ControlLine& line, double begin,
                          double length) {
  double low = 0.0, high = length;
  for (int round = 0; round < kLocateRounds; ++round) {
    const double time = 0.5 * (low + high);
    const JointState at = after(from, line, begin, time);
    (margin(joint, at, control_at(line, begin + time)) > 0.0 ? low : high) = time;
  }
  return high;
}

void TreeMotion::advance(JointState& state, const MotionInput& input) {
  int events = 0;
  for (const ControlLine& line : input) {
    for (double begin = line.begin;;) {
      const JointState whole = after(state, line, begin, line.end - begin);
      int joint = -1;
      double first = std::numeric_limits<double>::infinity();
      for (int j = 0; j < dynamics_.joint_count(); ++j) {
        if (!dry_[static_cast<std::size_t>(j)]) continue;
        if (margin(j, whole, control_at(line, line.end)) >= 0.0) continue;
        const double time = locate(j, state, line, begin, line.end - begin);
        if (time >= first) continue;
        first = time;
        joint = j;
      }
      if (joint < 0) {
        state = whole;
        break;
      }
      if (++events > kEventsMax) throw std::runtime_error("TreeMotion: too many events in a step");
      state = after(state, line, begin, first);
      begin += first;
      Contact& contact = state.contacts[static_cast<std::size_t>(joint)];
      if (contact == Contact::kStick) {
        Vector unused;
        accelerate(state, control_at(line, begin), unused);
        contact = contact_of(-imbalance_[joint]);  // despite round-off
      } else {
        state.rate[joint] = 0.0;
        choose_contact(joint, state, control_at(line, begin));
      }
    }
  }
}

}  // namespace estimator
