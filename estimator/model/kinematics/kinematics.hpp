#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/math/so3.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"

namespace estimator {

/// Mass and inertia of one body, as given by the current parameter values.
struct BodyValues {
  double mass;              ///< [kg]
  Eigen::Matrix3d inertia;  ///< about the centre of mass, body frame [kg·m²]
};

/// Parameter values of one joint; units as in JointParameter.
struct JointParameterValues {
  Eigen::Vector3d point_a, point_b;
  double viscous, quadratic_drag;
  double coulomb_torque, stribeck_torque, stribeck_rate;
  double load_friction, load_friction_angular;
  double constant_torque, stiffness, rest_angle;
  double motor_gain, shaft_inertia, back_emf, input_delay;
};

/// All parameter values that a time step needs, updated after each change of the parameters.
struct ModelParameterValues {
  std::vector<BodyValues> bodies;
  std::vector<JointParameterValues> joints;
  Eigen::Vector3d gravity;           ///< acceleration in the world frame [m/s²]
  Eigen::Matrix3d gravity_jacobian;  ///< ∂gravity/∂(g, tilt_x, tilt_z)
};

/// Returns the values of `mechanism.parameters`, arranged in vectors and matrices.
ModelParameterValues unpack_parameters(const Mechanism& mechanism);

/// Geometry of one joint in one configuration, in the world frame.
struct JointGeometry {
  Eigen::Vector3d c_a, c_b;       ///< from the centres of mass to the joint point [m]
  Eigen::Vector3d x_a;            ///< x axis of the joint frame on body a
  Eigen::Vector3d x_b, y_b, z_b;  ///< axes of the joint frame on body b; x_b is the joint axis
  Eigen::Vector3d n_y, n_z;       ///< x_a × y_b, x_a × z_b
  Eigen::Matrix<double, 5, 1> g;  ///< constraint violation: point [m], axis [rad]
};

/// Returns the joint geometry for the positions and rotation matrices of bodies a and b. The ground
/// has the identity pose.
inline JointGeometry make_joint_geometry(const Joint& joint, const JointParameterValues& values,
                                         const Eigen::Vector3d& r_a, const Eigen::Matrix3d& R_a,
                                         const Eigen::Vector3d& r_b, const Eigen::Matrix3d& R_b) {
  JointGeometry geometry;
  geometry.c_a.noalias() = R_a * values.point_a;
  geometry.c_b.noalias() = R_b * values.point_b;
  geometry.x_a.noalias() = R_a * joint.frame_a.col(0);
  geometry.x_b.noalias() = R_b * joint.frame_b.col(0);
  geometry.y_b.noalias() = R_b * joint.frame_b.col(1);
  geometry.z_b.noalias() = R_b * joint.frame_b.col(2);
  geometry.n_y = geometry.x_a.cross(geometry.y_b);
  geometry.n_z = geometry.x_a.cross(geometry.z_b);
  geometry.g << r_a + geometry.c_a - r_b - geometry.c_b, geometry.x_a.dot(geometry.y_b),
      geometry.x_a.dot(geometry.z_b);
  return geometry;
}

/// Returns the rows of the constraint Jacobian for body a of a joint: [I, −[c_a]×; 0, n_yᵀ; 0,
/// n_zᵀ]. The rows for body b contain c_b and have the opposite signs.
inline Eigen::Matrix<double, 5, 6> constraint_rows(const JointGeometry& geometry, bool of_body_b) {
  Eigen::Matrix<double, 5, 6> A = Eigen::Matrix<double, 5, 6>::Zero();
  const double sign = of_body_b ? -1.0 : 1.0;
  A.topLeftCorner<3, 3>().diagonal().setConstant(sign);
  A.topRightCorner<3, 3>() = -sign * hat(of_body_b ? geometry.c_b : geometry.c_a);
  A.block<1, 3>(3, 3) = sign * geometry.n_y.transpose();
  A.block<1, 3>(4, 3) = sign * geometry.n_z.transpose();
  return A;
}

/// Derivatives of A y with respect to the rotations of the two bodies of a joint, for the
/// constraint Jacobian A and a fixed velocity y. Only the angular parts of y contribute.
struct ConstraintRowDerivatives {
  Eigen::Matrix<double, 5, 3> a;  ///< by the rotation δψ_a of body a
  Eigen::Matrix<double, 5, 3> b;  ///< by the rotation δψ_b of body b
};

/// Returns the derivatives of A y with respect to the rotations of the two bodies of a joint.
/// @param omega_a, omega_b  angular parts of y for the two bodies; zero for the ground
inline ConstraintRowDerivatives constraint_row_derivatives(const JointGeometry& geometry,
                                                           const Eigen::Vector3d& omega_a,
                                                           const Eigen::Vector3d& omega_b) {
  const Eigen::Vector3d difference = omega_a - omega_b;
  const Eigen::Vector3d& x_a = geometry.x_a;
  const Eigen::Vector3d across = difference.cross(x_a);
  ConstraintRowDerivatives turn;
  turn.a.topRows<3>().noalias() = -hat(omega_a) * hat(geometry.c_a);
  turn.b.topRows<3>().noalias() = hat(omega_b) * hat(geometry.c_b);
  turn.a.row(3) = x_a.cross(geometry.y_b.cross(difference)).transpose();
  turn.a.row(4) = x_a.cross(geometry.z_b.cross(difference)).transpose();
  turn.b.row(3) = geometry.y_b.cross(across).transpose();
  turn.b.row(4) = geometry.z_b.cross(across).transpose();
  return turn;
}

/// Returns the joint angle θ in (−π, π], the rotation about the joint axis that carries frame a
/// onto frame b. With the relative quaternion's scalar part s and axial part x, θ = 2 atan2(x, s).
/// It is exact if the joint constraints hold, and smooth near that. The ground has the identity
/// pose.
double joint_angle(const Joint& joint, const Pose& a, const Pose& b);
double joint_angle(const Joint& joint, const Configuration& q);
/// Returns the joint angle for the poses of all bodies.
double joint_angle(const Joint& joint, const Pose* poses);

/// A joint angle and its derivatives with respect to the world-frame rotations δψ_a and δψ_b of the
/// two bodies.
struct JointAngleJacobian {
  double angle;          ///< joint angle, see joint_angle [rad]
  Eigen::RowVector3d a;  ///< derivative by the rotation of body a; zero for the ground
  Eigen::RowVector3d b;
};
JointAngleJacobian joint_angle_jacobian(const Joint& joint, const Pose* poses);

/// Returns the angles of all joints.
Eigen::VectorXd joint_angles(const Mechanism& mechanism, const Configuration& q);

/// Returns the constraint violations g(q), five per joint: point [m], axis [rad] [Mar, eq. F.1].
Eigen::VectorXd constraint_violation(const Mechanism& mechanism, const ModelParameterValues& values,
                                     const Configuration& q);

/// Returns the dense constraint Jacobian G(q) = ∂g/∂q, (5·joints) × (6·bodies).
Eigen::MatrixXd constraint_jacobian(const Mechanism& mechanism, const ModelParameterValues& values,
                                    const Configuration& q);

/// Returns the derivative ∂(G(q) v)/∂q at a fixed velocity v, (5·joints) × (6·bodies).
Eigen::MatrixXd constraint_rate_jacobian(const Mechanism& mechanism,
                                         const ModelParameterValues& values, const Pose* poses,
                                         const Eigen::VectorXd& velocity);

/// Returns the configuration with the given joint angles and zero constraint violation.
///
/// Bodies are placed along a spanning tree from the ground. If loops leave a violation,
/// Gauss–Newton steps with least-norm corrections remove it.
///
/// @param angles  one per joint [rad]; those of joints that close a loop are ignored
Configuration assemble_configuration(const Mechanism& mechanism, const ModelParameterValues& values,
                                     const Eigen::VectorXd& angles);

/// Moves a configuration q so that it satisfies the joint constraints g(q) = 0, by Gauss–Newton
/// steps with least-norm corrections.
void project_to_constraints(const Mechanism& mechanism, const ModelParameterValues& values,
                            Configuration& q);

/// Returns the state of all bodies at given joint angles and joint rates [rad/s]. The poses are
/// those of assemble_configuration. The velocities follow from the rates on the spanning tree,
/// projected onto G v = 0 with the constraint Jacobian G.
State assemble_state(const Mechanism& mechanism, const ModelParameterValues& values,
                     const Eigen::VectorXd& angles, const Eigen::VectorXd& rates);

}  // namespace estimator
