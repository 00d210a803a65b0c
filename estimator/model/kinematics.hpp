#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/model_values.hpp"
#include "estimator/model/state.hpp"

namespace estimator {

/// Joint angle θ in (−π, π]: the rotation about the joint axis that carries frame a onto frame b, θ
/// = 2 atan2(x, s) of the relative quaternion. It is exact at zero violation and smooth near it.
/// The ground has the identity pose.
double joint_angle(const Joint& joint, const Pose& a, const Pose& b);
double joint_angle(const Joint& joint, const Configuration& q);
/// @param poses  of all bodies
double joint_angle(const Joint& joint, const Pose* poses);

/// Joint angle and its derivative with respect to the world-frame rotations (δψ_a, δψ_b).
struct JointAngleJacobian {
  double angle;          ///< as from joint_angle
  Eigen::RowVector3d a;  ///< zero for the ground
  Eigen::RowVector3d b;
};
JointAngleJacobian joint_angle_jacobian(const Joint& joint, const Pose& a, const Pose& b);
JointAngleJacobian joint_angle_jacobian(const Joint& joint, const Pose* poses);

/// Angles of all joints.
Eigen::VectorXd joint_angles(const Mechanism& mechanism, const Configuration& q);

/// Stacked constraint violations g(q), five per joint: point [m], axis [rad] [Mar, eq. F.1].
Eigen::VectorXd constraint_violation(const Mechanism& mechanism, const ModelValues& values,
                                     const Configuration& q);

/// Constraint Jacobian G(q), (5·joints) × (6·bodies), dense.
Eigen::MatrixXd constraint_jacobian(const Mechanism& mechanism, const ModelValues& values,
                                    const Configuration& q);

/// Returns the configuration with the given joint angles and zero constraint violation.
///
/// Bodies are placed along a spanning tree from the ground. If loops leave a violation,
/// Gauss–Newton steps with least-norm corrections remove it.
///
/// @param angles  one per joint [rad]; those of joints that close a loop are ignored
Configuration assemble(const Mechanism& mechanism, const ModelValues& values,
                       const Eigen::VectorXd& angles);

/// Moves a configuration onto g(q) = 0 by Gauss–Newton steps with least-norm corrections.
void project_to_constraints(const Mechanism& mechanism, const ModelValues& values,
                            Configuration& q);

/// As `assemble`, with velocities. They follow from the joint rates [rad/s] on the spanning tree,
/// projected onto G v = 0.
State assemble_state(const Mechanism& mechanism, const ModelValues& values,
                     const Eigen::VectorXd& angles, const Eigen::VectorXd& rates);

}  // namespace estimator
