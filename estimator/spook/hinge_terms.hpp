#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "estimator/laws/drag_law.hpp"
#include "estimator/laws/dry_law.hpp"
#include "estimator/laws/idle_torque.hpp"
#include "estimator/math/turns.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/model_values.hpp"

namespace estimator {

/// Damping time τ of a hinge's rows [s]. Automatic is h/4: the paper's 0.02 s takes energy out of
/// the motion (undamped, 24 % in 5 s at h = 0.01 s), zero leaves constraint errors ringing.
inline double damping_time_of(const Hinge& hinge, double h) {
  return hinge.damping_time == Hinge::kAutomaticDamping ? 0.25 * h : hinge.damping_time;
}

/// What relaxes the five rows of a hinge over a step h: γ = 1 / (1 + 4 τ/h) and Σ = 4 γ/h² times
/// the compliances [Mar, eq. 2.19].
struct RowRelaxation {
  double gamma;
  double per_compliance;  ///< 4 γ/h² [1/s²]
  Eigen::Matrix<double, 5, 1> sigma;
};
inline RowRelaxation relax_rows(const Hinge& hinge, double h) {
  RowRelaxation rows;
  rows.gamma = 1.0 / (1.0 + 4.0 * damping_time_of(hinge, h) / h);
  rows.per_compliance = 4.0 * rows.gamma / (h * h);
  rows.sigma << Eigen::Vector3d::Constant(rows.per_compliance * hinge.compliance_linear),
      Eigen::Vector2d::Constant(rows.per_compliance * hinge.compliance_angular);
  return rows;
}

inline bool has_load_friction(const HingeValues& values) {
  return values.load_friction != 0.0 || values.load_friction_angular != 0.0;
}

/// Friction that grows with the bearing's load changes the load: a fixed point, which contracts
/// because friction about the axis hardly loads the bearing. So many rounds at most; below that
/// part of the bound nothing is left to gain.
inline constexpr int kMaxLoadIterations = 100;
inline constexpr double kLoadTolerance = 1e-14;

/// Dry friction impulse bound without its load-dependent part,
/// at the speed before the step. [N·m·s]
inline double dry_friction_bound(const HingeValues& values, double omega, double h) {
  return h *
         dry_friction(values.coulomb_torque, values.stribeck_torque, values.stribeck_rate, omega);
}

/// Regularised dry friction: −B·clamp(ω⁺/stick_speed, −1, 1). It is the paper's law with
/// Σ_t = stick_speed/B and Δ = 0: below the stick speed the hinge creeps, above it slips.
inline double saturation(double omega, double stick_speed) {
  return std::clamp(omega / stick_speed, -1.0, 1.0);
}

/// Coefficient D ≥ 0 of the part of the axis impulse that is linear in the speed after the step,
/// T = −D ω⁺ + T_0: viscous, back-EMF, quadratic drag at the old speed, shaft inertia. [kg·m²]
inline double axis_damping(const HingeValues& values, double omega, double h) {
  return h * (drag_factor(values.viscous, values.quadratic_drag, std::abs(omega)) +
              values.motor_gain * values.back_emf) +
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
  return values.shaft_inertia * omega +
         h * (values.motor_gain * control +
              idle_torque(values.constant_torque, values.stiffness,
                          turn_difference(angle - values.rest_angle)));
}

}  // namespace estimator
