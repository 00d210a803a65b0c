#pragma once

#include <cmath>

namespace estimator {

// What acts along a joint's axis, for scalars of any kind: torques [N·m] of a rate ω [rad/s], or
// forces [N] of one in m/s. SPOOK steps take them over a step, the equations of motion at an
// instant; derivatives by hand are tested against these.

/// How much of the Stribeck excess is left at a speed, exp(−ζ ω²).
template <typename T>
T stribeck_share(const T& stribeck_rate, const T& omega) {
  using std::exp;
  const T exponent = -stribeck_rate * omega * omega;
  return exp(exponent);
}

/// The dry friction that no load causes, τ_c + τ_δ exp(−ζ ω²) [Mar, eq. 4.1 as a torque].
template <typename T>
T dry_friction(const T& coulomb, const T& stribeck, const T& stribeck_rate, const T& omega) {
  return coulomb + stribeck * stribeck_share(stribeck_rate, omega);
}

/// By what the rate is to be multiplied: b + c |ω|, viscous friction and quadratic drag.
template <typename T>
T drag_factor(const T& viscous, const T& quadratic_drag, const T& speed) {
  return viscous + quadratic_drag * speed;
}

/// What acts at any speed: a constant torque, and a spring that is stretched by θ − θ_rest, of a
/// hinge without whole turns.
template <typename T>
T idle_torque(const T& constant, const T& stiffness, const T& stretch) {
  return constant - stiffness * stretch;
}

}  // namespace estimator
