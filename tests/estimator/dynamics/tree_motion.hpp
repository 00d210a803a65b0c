#pragma once

#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/simulation/contact.hpp"

namespace estimator {

/// State of a mechanism without loops in joint coordinates.
struct JointState {
  JointVector<double> angle;  ///< [rad], continuous over turns
  JointVector<double> rate;   ///< [rad/s]
  Contacts contacts;
};

/// Control signals during a substep, linear in time for every joint. A signal that jumps needs
/// several substeps.
struct ControlLine {
  double begin, end;            ///< of the substep, from the step's start [s]
  JointVector<double> control;  ///< at the start of the substep
  JointVector<double> slope;    ///< [1/s]
};

/// Control signals during one time step, as substeps without gaps between them.
using MotionInput = std::vector<ControlLine>;

/// Reference for the integrator of the estimator, one joint and one step after the other: classical
/// Runge–Kutta steps of fourth order, split at the instants at which a joint stops, reverses or
/// breaks loose. Dry friction is a set-valued law: −sgn(ω) B(ω) on a slipping joint, any holding
/// torque on a sticking one. Accelerations solve the inverse dynamics, which is all that it shares
/// with the estimator.
class TreeMotion {
 public:
  using Vector = JointVector<double>;

  /// @param mechanism  without loops, at most kTreeJointsMax joints
  explicit TreeMotion(const Mechanism& mechanism);

  /// Determines which joints stick at the start of a step: those at zero rate that friction can
  /// hold.
  void settle(JointState& state, const MotionInput& input);

  /// Advances a state by a step, to the end of its input.
  /// @throws std::runtime_error if stick and slip alternate too often
  void advance(JointState& state, const MotionInput& input);

 private:
  void accelerate(const JointState& at, const Vector& control, Vector& acceleration);
  void choose_contact(int joint, JointState& state, const Vector& control);
  JointState after(const JointState& from, const ControlLine& line, double begin, double length);
  double margin(int joint, const JointState& at, const Vector& control);
  double locate(int joint, const JointState& from, const ControlLine& line, double begin,
                double length);

  TreeInverseDynamics<double> dynamics_;
  std::vector<bool> dry_;  // joints with dry friction
  Vector imbalance_;       // of the inverse dynamics without dry friction
};

}  // namespace estimator
