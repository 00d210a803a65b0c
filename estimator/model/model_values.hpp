#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Values of one body, unpacked from the parameters.
struct BodyValues {
  double mass;              ///< [kg]
  Eigen::Matrix3d inertia;  ///< about the centre of mass, body frame [kg·m²]
};

/// Values of one joint, unpacked from the parameters; units as in JointQuantity.
struct JointValues {
  Eigen::Vector3d point_a, point_b;
  double viscous, quadratic_drag;
  double coulomb_torque, stribeck_torque, stribeck_rate;
  double load_friction, load_friction_angular;
  double constant_torque, stiffness, rest_angle;
  double motor_gain, shaft_inertia, back_emf, input_delay;
};

/// All values that a time step needs, unpacked after each change of the parameters.
struct ModelValues {
  std::vector<BodyValues> bodies;
  std::vector<JointValues> joints;
  Eigen::Vector3d gravity;           ///< acceleration in the world frame [m/s²]
  Eigen::Matrix3d gravity_jacobian;  ///< ∂gravity/∂(g, tilt_x, tilt_z)
};

/// Unpacks the values of `mechanism.parameters`.
ModelValues unpack(const Mechanism& mechanism);

}  // namespace estimator
