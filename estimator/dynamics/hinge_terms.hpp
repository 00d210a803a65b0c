#pragma once

#include <algorithm>
#include <cmath>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/model_values.hpp"

namespace estimator {

/// Damping time τ of a hinge's rows [s]. Automatic is h/4: the paper's 0.02 s takes energy out of
/// the motion (undamped, 24 % in 5 s at h = 0.01 s), zero leaves constraint errors ringing.
inline double damping_time_of(const Hinge& hinge, double h) {
  return hinge.damping_time == Hinge::kAutomaticDamping ? 0.25 * h : hinge.damping_time;
}

/// Dry friction impulse bound without its load-dependent part,
/// B = h (τ_c + τ_δ exp(−ζ ω²)) [Mar, eq. 4.1 as a torque], ω before the step. [N·m·s]
inline double dry_friction_bound(const HingeValues& values, double omega, double h) {
  return h * (values.coulomb_torque +
              values.stribeck_torque * std::exp(-values.stribeck_rate * omega * omega));
}

/// Regularised dry friction: −B·clamp(ω⁺/stick_speed, −1, 1). It is the paper's law with
/// Σ_t = stick_speed/B and Δ = 0: below the stick speed the hinge creeps, above it slips.
inline double saturation(double omega, double stick_speed) {
  return std::clamp(omega / stick_speed, -1.0, 1.0);
}

/// Coefficient D ≥ 0 of the part of the axis impulse that is linear in the speed after the step,
/// T = −D ω⁺ + T_0: viscous, back-EMF, quadratic drag at the old speed, shaft inertia. [kg·m²]
inline double axis_damping(const HingeValues& values, double omega, double h) {
  return h * (values.viscous + values.motor_gain * values.back_emf +
              values.quadratic_drag * std::abs(omega)) +
         values.shaft_inertia;
}

/// Part T_0 of the axis impulse that does not depend on the speed after the step [N·m·s]:
/// shaft momentum, motor, constant torque, spring.
///
/// @param omega    hinge speed before the step [rad/s]
/// @param angle    hinge angle [rad]
/// @param control  mean control signal over the step
inline double axis_impulse(const HingeValues& values, double omega, double angle, double control,
                           double h) {
  return values.shaft_inertia * omega + h * (values.motor_gain * control + values.constant_torque -
                                             values.stiffness * (angle - values.rest_angle));
}

}  // namespace estimator
