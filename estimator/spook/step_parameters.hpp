#pragma once

#include <Eigen/Core>
#include <cmath>

#include "estimator/math/angle_wrapping.hpp"
#include "estimator/spook/step_kernel.hpp"

namespace estimator {

/// Returns the load-dependent part of the dry friction bound, rμ (|λ_x| + |λ_y| + |λ_z|) + μ (|λ₄|
/// + |λ₅|) [N·m·s]. The multipliers λ are impulses in the joint frame [Mar, eq. F.4].
inline double load_bound(const JointValues& values, const JointGeometry& geometry,
                         const Eigen::Matrix<double, 5, 1>& lambda) {
  const Eigen::Vector3d force = lambda.head<3>();
  return values.load_friction *
             (std::abs(geometry.x_b.dot(force)) + std::abs(geometry.y_b.dot(force)) +
              std::abs(geometry.z_b.dot(force))) +
         values.load_friction_angular * (std::abs(lambda[3]) + std::abs(lambda[4]));
}

/// Gradient of `load_bound` by the multipliers and by the rotation of body b.
struct LoadGradient {
  Eigen::Matrix<double, 5, 1> along_multipliers;
  Eigen::Vector3d along_turn;
};

inline LoadGradient load_gradient(const JointValues& values, const JointGeometry& geometry,
                                  const Eigen::Matrix<double, 5, 1>& lambda) {
  const auto sign = [](double x) { return x < 0.0 ? -1.0 : 1.0; };
  const Eigen::Vector3d force = lambda.head<3>();
  LoadGradient gradient;
  gradient.along_multipliers.setZero();
  gradient.along_turn.setZero();
  for (const Eigen::Vector3d* axis : {&geometry.x_b, &geometry.y_b, &geometry.z_b}) {
    const double scale = values.load_friction * sign(axis->dot(force));
    gradient.along_multipliers.head<3>() += scale * *axis;
    gradient.along_turn += scale * axis->cross(force);  // (δψ × axis)·force
  }
  gradient.along_multipliers[3] = values.load_friction_angular * sign(lambda[3]);
  gradient.along_multipliers[4] = values.load_friction_angular * sign(lambda[4]);
  return gradient;
}

/// Angle and control of a joint's axis during one step.
struct AxisDrive {
  double angle;                ///< joint angle θ [rad]
  double control;              ///< mean control over the step
  double control_delay_slope;  ///< derivative of the control by the input delay [unit/s]
};

/// Returns the derivative of the axis impulse T by a joint parameter, at fixed velocities and
/// multipliers.
inline double torque_derivative(JointQuantity quantity, const JointValues& values,
                                const JointTerms& terms, const AxisDrive& drive,
                                const Eigen::Matrix<double, 5, 1>& lambda, double h) {
  const double omega_squared = terms.omega * terms.omega;
  const double decay = stribeck_share(values.stribeck_rate, terms.omega);
  switch (quantity) {
    case JointQuantity::kViscous:
      return -h * terms.omega_next;
    case JointQuantity::kQuadraticDrag:
      return -h * std::abs(terms.omega) * terms.omega_next;
    case JointQuantity::kCoulombTorque:
      return -h * terms.sat;
    case JointQuantity::kStribeckTorque:
      return -h * decay * terms.sat;
    case JointQuantity::kStribeckRate:
      return h * values.stribeck_torque * omega_squared * decay * terms.sat;
    case JointQuantity::kLoadFriction: {
      JointValues unit{};
      unit.load_friction = 1.0;
      return -terms.sat * load_bound(unit, terms.geometry, lambda);
    }
    case JointQuantity::kLoadFrictionAngular:
      return -terms.sat * (std::abs(lambda[3]) + std::abs(lambda[4]));
    case JointQuantity::kConstantTorque:
      return h;
    case JointQuantity::kStiffness:
      return -h * wrapped_difference(drive.angle - values.rest_angle);
    case JointQuantity::kRestAngle:
      return h * values.stiffness;
    case JointQuantity::kMotorGain:
      return h * (drive.control - values.back_emf * terms.omega_next);
    case JointQuantity::kShaftInertia:
      return terms.omega - terms.omega_next;
    case JointQuantity::kBackEmf:
      return -h * values.motor_gain * terms.omega_next;
    case JointQuantity::kInputDelay:
      return h * values.motor_gain * drive.control_delay_slope;
    default:
      return 0.0;  // points affect the rows, encoder offsets the observations
  }
}

}  // namespace estimator
