#pragma once

namespace estimator {

/// Speed of a joint whose friction creeps along a step, in creep speeds: x, of which the friction
/// is the tanh. A parabola by its begin, mean and end.
///
/// Steps are measured along u with du/dx = e^{−0.4 |x|}: what a Runge–Kutta step of the fourth
/// order is off by grows with the fifth power of its way along x and with the fourth derivative of
/// tanh, which decays as e^{−2 |x|}. Far from rest u stands still, and all of it is 5.
class CreepCourse {
 public:
  CreepCourse(double begin, double mean, double end);
  /// A straight one.
  CreepCourse(double begin, double end) : CreepCourse(begin, 0.5 * (begin + end), end) {}

  /// The way along u.
  double passed() const;
  /// Share of the step, at least 0, whose way along u is `way`, where x goes on from the begin as
  /// there; may exceed 1.
  double share_from_begin(double way) const;
  /// The same of a step as long that follows, where x goes on as at the end.
  double share_from_end(double way) const;

  double begin() const { return begin_; }
  double end() const { return end_; }

 private:
  double begin_, end_;
  double rise_, bend_;  // begin + rise s + bend s² at the share s of the step
};

}  // namespace estimator
