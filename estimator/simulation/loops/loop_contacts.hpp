#pragma once

#include <Eigen/Core>

#include "estimator/simulation/contact.hpp"

namespace estimator {

/// Joints that are momentarily at rest: s joints in a mechanism with c independent coordinates. N
/// maps coordinate accelerations to joint accelerations.
struct RestingJoints {
  Eigen::MatrixXd mass;      ///< Nᵀ M N, c × c
  Eigen::VectorXd force;     ///< friction of slipping joints and Nᵀ (h + M γ), at rest; c [N·m]
  Eigen::MatrixXd coupling;  ///< rows of N for the joints at rest, s × c
  Eigen::VectorXd drift;  ///< accelerations γ of these joints at zero coordinate accelerations, s
  Eigen::VectorXd bound;  ///< bounds of their dry friction, s [N·m]
};

/// Determines which joints stick and which slip by Gauss's principle. The coordinate accelerations
/// ÿ minimize
///
///   ½ ÿᵀ Nᵀ M N ÿ + forceᵀ ÿ + Σ bound_j |N_j ÿ + γ_j|,
///
/// with the terms of RestingJoints. The solution is unique even if more joints are at rest than the
/// mechanism has coordinates.
Contacts determine_contact_states(const RestingJoints& joints);

/// Returns the additional coordinate force at which one of the sticking joints breaks loose [N·m];
/// < 0 if friction is insufficient. The forces that friction can balance form a zonotope {couplingᵀ
/// λ: |λ_j| ≤ bound_j}. The result is the distance to its nearest face. The distance is weighted so
/// that for a coordinate held by a single joint, it is the torque of this joint.
///
/// @param force  force that friction has to balance, one per coordinate
/// @return NaN for an invalid coupling, such as for a loop that cannot be closed
double holding_force_margin(const Eigen::MatrixXd& coupling, const Eigen::VectorXd& bound,
                            const Eigen::VectorXd& force);

}  // namespace estimator
