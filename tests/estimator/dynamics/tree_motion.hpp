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

/// Controls over a stretch of a step, for every hinge a line in time. A signal that jumps takes
/// several stretches.
template <typename T>
struct ControlLine {
  T begin, end;            ///< of the stretch, from the step's beginning [s]
  JointVector<T> control;  ///< where the stretch begins
  JointVector<T> slope;    ///< [1/s]
};

/// Controls over one step: stretches without gaps between them.
template <typename T>
using MotionInput = std::vector<ControlLine<T>>;

/// Integrates the equations of motion in time: classical Runge–Kutta steps of fourth order, cut at
/// the instants at which a hinge stops, reverses or breaks loose. Between those instants the motion
/// is smooth, so the order holds in spite of dry friction.
///
/// With T = Dual derivatives pass through these instants exactly: the instant moves with the
/// parameters (what the literature calls saltation).
///
/// Where more instants crowd in one step than can be told apart, every hinge that stops is held for
/// the rest of the step, which never drives it, and the step is counted.
template <typename T>
class TreeMotion {
 public:
  using Vector = JointVector<T>;

  /// @param mechanism  without loops, at most kTreeHingesMax hinges
  /// @param parameters one value a parameter of the mechanism, in its order
  TreeMotion(const Mechanism& mechanism, const std::vector<T>& parameters);

  /// Contacts of a state at the beginning of a step from its rates; where a rate is zero, from
  /// whether friction can hold.
  void settle(JointState<T>& state, const MotionInput<T>& input);

  /// Moves a state on by a step, to where its input ends.
  void advance(JointState<T>& state, const MotionInput<T>& input);

  /// Steps so far in which hinges were held because stick and slip alternated too fast to follow.
  int unresolved_steps() const { return unresolved_steps_; }

  /// Angle of a hinge `time` [s] after the beginning of the last step, by cubic Hermite
  /// interpolation between its ends and instants.
  T angle_at(int hinge, double time) const;

 private:
  /// A smooth stretch of a step; times from the step's beginning.
  struct Piece {
    T begin, end;
    Vector angle_begin, rate_begin, angle_end, rate_end;
  };
  struct Event {
    int hinge = -1;
    double time = 0.0;  ///< from the beginning of the stretch [s]
  };

  static void control_at(const ControlLine<T>& line, const T& time, Vector& control);
  void runge_kutta(const JointState<T>& from, const ControlLine<T>& line, const T& begin,
                   const T& length, JointState<T>& to);
  void advance_along(JointState<T>& state, const ControlLine<T>& line);
  double margin(int hinge, const JointState<T>& at, const Vector& control);
  Event first_event(const JointState<T>& from, const JointState<T>& to, const ControlLine<T>& line,
                    const T& begin, const T& length);
  double locate(int hinge, const JointState<T>& from, const ControlLine<T>& line, const T& begin,
                double length);
  T meet(int hinge, const ControlLine<T>& line, const T& begin, double time, JointState<T>& state);
  void change_contact(int hinge, JointState<T>& state, const Vector& control);

  TreeForwardDynamics<T> dynamics_;
  std::vector<Piece> pieces_;
  std::vector<bool> dry_;  // hinges with dry friction
  int event_count_ = 0;    // instants met in this step
  bool holds_ = false;     // hinges that stop, for the rest of the step
  int unresolved_steps_ = 0;
  JointState<T> trial_, probe_;
  Vector control_, angle_, rate_, a1_, a2_, a3_, a4_;
};

extern template class TreeMotion<double>;
extern template class TreeMotion<Dual>;

}  // namespace estimator
