#pragma once

#include <vector>

#include "tests/estimator/dynamics/tree_forward_dynamics.hpp"

namespace estimator {

/// State of a mechanism without loops in joint coordinates.
template <typename T>
struct JointState {
  JointVector<T> angle;  ///< [rad], continuous over turns
  JointVector<T> rate;   ///< [rad/s]
  Contacts contacts;
};

/// Control signals during a substep, linear in time for every joint. A signal that jumps needs
/// several substeps.
template <typename T>
struct ControlLine {
  T begin, end;            ///< of the substep, from the step's start [s]
  JointVector<T> control;  ///< at the start of the substep
  JointVector<T> slope;    ///< [1/s]
};

/// Control signals during one time step, as substeps without gaps between them.
template <typename T>
using MotionInput = std::vector<ControlLine<T>>;

/// Integrates the equations of motion in time: classical Runge–Kutta steps of fourth order, split
/// at the instants at which a joint stops, reverses or breaks loose. Between these the motion is
/// smooth, so the order holds in spite of dry friction.
///
/// With T = Dual, derivatives across these instants are exact, because they include the motion of
/// the instant with the parameters (in the literature: saltation).
///
/// If one step has too many such instants to resolve, every joint that stops is held at rest until
/// the end of the step, which adds no energy, and the step is counted.
template <typename T>
class TreeMotion {
 public:
  using Vector = JointVector<T>;

  /// @param mechanism  without loops, at most kTreeJointsMax joints
  /// @param parameters one value per parameter of the mechanism, in its order
  TreeMotion(const Mechanism& mechanism, const std::vector<T>& parameters);

  /// Determines which joints stick at the start of a step: those at zero rate that friction can
  /// hold.
  void settle(JointState<T>& state, const MotionInput<T>& input);

  /// Advances a state by a step, to the end of its input.
  void advance(JointState<T>& state, const MotionInput<T>& input);

  /// Returns the number of steps in which joints were held because stick and slip alternated too
  /// fast.
  int unresolved_steps() const { return unresolved_steps_; }

  /// Returns the angle of a joint `time` [s] after the start of the last step, by cubic Hermite
  /// interpolation between its ends and events.
  T angle_at(int joint, double time) const;

 private:
  /// A smooth substep; times are from the step's start.
  struct Piece {
    T begin, end;
    Vector angle_begin, rate_begin, angle_end, rate_end;
  };
  struct Event {
    int joint = -1;
    double time = 0.0;  ///< from the start of the substep [s]
  };

  static void control_at(const ControlLine<T>& line, const T& time, Vector& control);
  void runge_kutta(const JointState<T>& from, const ControlLine<T>& line, const T& begin,
                   const T& length, JointState<T>& to);
  void advance_along(JointState<T>& state, const ControlLine<T>& line);
  double margin(int joint, const JointState<T>& at, const Vector& control);
  Event first_event(const JointState<T>& from, const JointState<T>& to, const ControlLine<T>& line,
                    const T& begin, const T& length);
  double locate(int joint, const JointState<T>& from, const ControlLine<T>& line, const T& begin,
                double length);
  T meet(int joint, const ControlLine<T>& line, const T& begin, double time, JointState<T>& state);
  void change_contact(int joint, JointState<T>& state, const Vector& control);

  TreeForwardDynamics<T> dynamics_;
  std::vector<Piece> pieces_;
  std::vector<bool> dry_;  // joints with dry friction
  int event_count_ = 0;    // events in this step
  bool holds_ = false;     // joints that stop, for the rest of the step
  int unresolved_steps_ = 0;
  JointState<T> trial_, probe_;
  Vector control_, angle_, rate_, a1_, a2_, a3_, a4_;
};

extern template class TreeMotion<double>;
extern template class TreeMotion<Dual>;

}  // namespace estimator
