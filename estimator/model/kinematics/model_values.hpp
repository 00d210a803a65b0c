#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Mass and inertia of one body, taken from the parameters.
struct BodyValues {
  double mass;              ///< [kg]
  Eigen::Matrix3d inertia;  ///< about the centre of mass, body frame [kg·m²]
};

/// Parameter values of one joint; units as in JointQuantity.
struct JointValues {
  Eigen::Vector3d point_a, point_b;
  double viscous, quadratic_drag;
  double coulomb_torque, stribeck_torque, stribeck_rate;
  double load_friction, load_friction_angular;
  double constant_torque, stiffness, rest_angle;
  double motor_gain, shaft_inertia, back_emf, input_delay;
};

/// All parameter values that a time step needs, updated after each change of the parameters.
struct ModelValues {
  std::vector<BodyValues> bodies;
  std::vector<JointValues> joints;
  Eigen::Vector3d gravity;           ///< acceleration in the world frame [m/s²]
  Eigen::Matrix3d gravity_jacobian;  ///< ∂gravity/∂(g, tilt_x, tilt_z)
};

/// Returns the values of `mechanism.parameters` as vectors and matrices.
ModelValues unpack(const Mechanism& mechanism);

}  // namespace estimator
