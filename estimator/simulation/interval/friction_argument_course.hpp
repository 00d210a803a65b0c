#pragma once

namespace estimator {

/// Speed x of a joint with smoothed Coulomb friction over one time step, in units of its transition
/// velocity. Friction is proportional to tanh x. x follows a parabola with given begin, end and
/// mean.
///
/// The variable u, with du/dx = e^{−0.4 |x|}, measures how far a step reaches. The error of a
/// fourth-order Runge–Kutta step grows with the fifth power of its length in x and with the fourth
/// derivative of tanh. This derivative decays as e^{−2 |x|}. Far from rest u is constant; its total
/// range is 5.
class FrictionArgumentCourse {
 public:
  FrictionArgumentCourse(double begin, double mean, double end);
  /// Constructs a linear course of the speed.
  FrictionArgumentCourse(double begin, double end)
      : FrictionArgumentCourse(begin, 0.5 * (begin + end), end) {}

  /// Returns the length of the step along u.
  double passed() const;
  /// Returns the time after which u has changed by `way` if x keeps its initial slope, ≥ 0, as a
  /// fraction of the step.
  double fraction_from_begin(double way) const;
  /// Returns the time in which the next step changes u by `way` if x keeps its final slope, as a
  /// fraction of this step.
  double fraction_from_end(double way) const;

  double begin() const { return begin_; }
  double end() const { return end_; }

 private:
  double begin_, end_;
  double rise_, bend_;  // begin + rise s + bend s² at the fraction s of the step
};

}  // namespace estimator
