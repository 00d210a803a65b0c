#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/model_values.hpp"
#include "estimator/model/state.hpp"

namespace estimator {

/// Hinge angle θ in (−π, π]: the twist about the hinge axis that carries frame a onto frame b,
/// θ = 2 atan2(x, s) of the relative quaternion. Exact at zero violation, smooth near it. The
/// ground's pose is the identity.
double hinge_angle(const Hinge& hinge, const Pose& a, const Pose& b);
double hinge_angle(const Hinge& hinge, const Configuration& q);
/// @param poses  of all bodies
double hinge_angle(const Hinge& hinge, const Pose* poses);

/// Derivative of the hinge angle along the world-frame rotations (δψ_a, δψ_b), and the angle.
struct HingeAngleJacobian {
  double angle;          ///< as hinge_angle gives it
  Eigen::RowVector3d a;  ///< zero for the ground
  Eigen::RowVector3d b;
};
HingeAngleJacobian hinge_angle_jacobian(const Hinge& hinge, const Pose& a, const Pose& b);
HingeAngleJacobian hinge_angle_jacobian(const Hinge& hinge, const Pose* poses);

/// Angles of all hinges.
Eigen::VectorXd hinge_angles(const Mechanism& mechanism, const Configuration& q);

/// Stacked holonomic constraint violations g(q), five a hinge: point [m], axis [rad]
/// [Mar, eq. F.1].
Eigen::VectorXd constraint_violation(const Mechanism& mechanism, const ModelValues& values,
                                     const Configuration& q);

/// Constraint Jacobian G(q), (5·hinges) × (6·bodies), dense.
Eigen::MatrixXd constraint_jacobian(const Mechanism& mechanism, const ModelValues& values,
                                    const Configuration& q);

/// Configuration with the given hinge angles and zero constraint violation.
///
/// Bodies are placed along a spanning tree from the ground, then, where loops leave a violation,
/// moved by Gauss–Newton along the least-norm correction.
///
/// @param angles  one a hinge [rad]; hinges that close a loop are ignored
Configuration assemble(const Mechanism& mechanism, const ModelValues& values,
                       const Eigen::VectorXd& angles);

/// Moves a configuration onto g(q) = 0 by Gauss–Newton along least-norm corrections.
void project_to_constraints(const Mechanism& mechanism, const ModelValues& values,
                            Configuration& q);

/// As `assemble`, with the velocities that the hinge rates [rad/s] imply on the spanning tree,
/// projected onto G v = 0.
State assemble_state(const Mechanism& mechanism, const ModelValues& values,
                     const Eigen::VectorXd& angles, const Eigen::VectorXd& rates);

}  // namespace estimator
