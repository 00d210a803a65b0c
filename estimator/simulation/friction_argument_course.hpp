#pragma once

namespace estimator {

/// Speed over one step of a joint with smoothed Coulomb friction, in units of the transition
/// velocity: x, with friction ∝ tanh x. A parabola through begin and end with the given mean.
///
/// Steps are measured along u with du/dx = e^{−0.4 |x|}. The error of a fourth-order Runge–Kutta
/// step grows with the fifth power of its length in x and with the fourth derivative of tanh, which
/// decays as e^{−2 |x|}. Far from rest u is constant; its total range is 5.
class FrictionArgumentCourse {
 public:
  FrictionArgumentCourse(double begin, double mean, double end);
  /// A linear course.
  FrictionArgumentCourse(double begin, double end)
      : FrictionArgumentCourse(begin, 0.5 * (begin + end), end) {}

  /// Length of the step along u.
  double passed() const;
  /// Fraction of the step, ≥ 0, after which the length along u is `way` if x continues as at begin.
  double fraction_from_begin(double way) const;
  /// The same for a following step of equal length, if x continues as at the end.
  double fraction_from_end(double way) const;

  double begin() const { return begin_; }
  double end() const { return end_; }

 private:
  double begin_, end_;
  double rise_, bend_;  // begin + rise s + bend s² at the fraction s of the step
};

}  // namespace estimator
