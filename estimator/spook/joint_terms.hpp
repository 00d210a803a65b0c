#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "estimator/friction/friction_laws.hpp"
#include "estimator/math/angle_wrapping.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns the damping time of a joint's constraint rows for the time step h [s]. The automatic
/// value is h/4. The 0.02 s of [Mar] would dissipate 24 % of the energy of an undamped motion in 5
/// s at h = 0.01 s. With zero damping time, constraint errors oscillate.
inline double constraint_damping_time(const Joint& joint, double h) {
  return joint.spook.damping_time == SpookRegularization::kAutomaticDamping
             ? 0.25 * h
             : joint.spook.damping_time;
}

/// Relaxation of a joint's five constraint rows in a time step h, with the damping time τ: γ = 1 /
/// (1 + 4 τ/h). The regularization Σ is 4 γ/h² times the compliances [Mar, eq. 2.19].
struct ConstraintRelaxation {
  double gamma;
  double per_compliance;  ///< factor 4 γ/h² of the compliances [1/s²]
  Eigen::Matrix<double, 5, 1> sigma;
};
inline ConstraintRelaxation compute_constraint_relaxation(const Joint& joint, double h) {
  ConstraintRelaxation rows;
  rows.gamma = 1.0 / (1.0 + 4.0 * constraint_damping_time(joint, h) / h);
  rows.per_compliance = 4.0 * rows.gamma / (h * h);
  rows.sigma << Eigen::Vector3d::Constant(rows.per_compliance * joint.spook.compliance_linear),
      Eigen::Vector2d::Constant(rows.per_compliance * joint.spook.compliance_angular);
  return rows;
}

inline bool has_load_friction(const JointParameterValues& values) {
  return values.load_friction != 0.0 || values.load_friction_angular != 0.0;
}

/// Limits of the fixed-point iteration for load-dependent friction, which changes its own load:
/// largest number of iterations, and relative change of the bound at convergence. The iteration
/// converges, because friction about the axis hardly loads the bearing.
inline constexpr int kMaxLoadIterations = 100;
inline constexpr double kLoadTolerance = 1e-14;

/// Returns the bound of the dry friction impulse without load dependence [N·m·s], for a joint rate
/// `omega` before the step of length h.
inline double dry_friction_impulse_bound(const JointParameterValues& values, double omega,
                                         double h) {
  return h * dry_friction_torque(values.coulomb_torque, values.stribeck_torque,
                                 values.stribeck_rate, omega);
}

/// Returns regularized dry friction as a fraction of its bound B: the joint rate `omega` after the
/// step divided by `stick_speed`, limited to ±1. This is the law of [Mar] with Σ_t = stick_speed/B
/// and Δ = 0. The joint creeps below the stick speed, and slips above it.
inline double dry_friction_saturation(double omega, double stick_speed) {
  return std::clamp(omega / stick_speed, -1.0, 1.0);
}

/// Returns the coefficient D ≥ 0 of the axis impulse T = −D ω⁺ + T_0, which is linear in the joint
/// rate ω⁺ after the step [kg·m²]. It includes viscous friction, back-EMF, rotor inertia, and
/// quadratic drag at the rate before the step.
inline double axis_damping(const JointParameterValues& values, double omega, double h) {
  return h * (viscous_drag_factor(values.viscous, values.quadratic_drag, std::abs(omega)) +
              values.motor_gain * values.back_emf) +
         values.shaft_inertia;
}

/// Returns the part T_0 of the axis impulse that does not depend on the joint rate after the step
/// [N·m·s]. It includes rotor momentum, motor, constant torque and spring.
///
/// @param omega    joint rate before the step [rad/s]
/// @param angle    joint angle [rad]
/// @param control  mean control signal over the step
inline double axis_impulse(const JointParameterValues& values, double omega, double angle,
                           double control, double h) {
  return values.shaft_inertia * omega +
         h * (values.motor_gain * control +
              (values.constant_torque -
               values.stiffness * wrap_angle_difference(angle - values.rest_angle)));
}

}  // namespace estimator
