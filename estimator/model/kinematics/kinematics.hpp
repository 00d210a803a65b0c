#pragma once

#include <Eigen/Core>

#include "estimator/model/kinematics/model_values.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/state.hpp"

namespace estimator {

/// Returns the joint angle θ in (−π, π], the rotation about the joint axis that carries frame a
/// onto frame b. With the relative quaternion's scalar part s and axial part x, θ = 2 atan2(x, s).
/// It is exact if the joint constraints hold, and smooth near that. The ground has the identity
/// pose.
double joint_angle(const Joint& joint, const Pose& a, const Pose& b);
double joint_angle(const Joint& joint, const Configuration& q);
/// Returns the joint angle for the poses of all bodies.
double joint_angle(const Joint& joint, const Pose* poses);

/// A joint angle and its derivatives by the world-frame rotations δψ_a and δψ_b of the two bodies.
struct JointAngleJacobian {
  double angle;          ///< joint angle, see joint_angle [rad]
  Eigen::RowVector3d a;  ///< derivative by the rotation of body a; zero for the ground
  Eigen::RowVector3d b;
};
JointAngleJacobian joint_angle_jacobian(const Joint& joint, const Pose& a, const Pose& b);
JointAngleJacobian joint_angle_jacobian(const Joint& joint, const Pose* poses);

/// Returns the angles of all joints.
Eigen::VectorXd joint_angles(const Mechanism& mechanism, const Configuration& q);

/// Returns the constraint violations g(q), five per joint: point [m], axis [rad] [Mar, eq. F.1].
Eigen::VectorXd constraint_violation(const Mechanism& mechanism, const ModelValues& values,
                                     const Configuration& q);

/// Returns the dense constraint Jacobian G(q) = ∂g/∂q, (5·joints) × (6·bodies).
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

/// Returns the state at given joint angles, as `assemble`, and joint rates [rad/s]. The velocities
/// follow from the rates on the spanning tree, projected onto G v = 0 with the constraint Jacobian
/// G.
State assemble_state(const Mechanism& mechanism, const ModelValues& values,
                     const Eigen::VectorXd& angles, const Eigen::VectorXd& rates);

}  // namespace estimator
