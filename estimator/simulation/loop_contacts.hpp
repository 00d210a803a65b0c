#pragma once

#include <Eigen/Core>

#include "estimator/simulation/contact.hpp"

namespace estimator {

/// Joints that are momentarily at rest, in a mechanism with c coordinates and s such joints.
struct RestingJoints {
  Eigen::MatrixXd mass;      ///< Nᵀ M N, c × c
  Eigen::VectorXd force;     ///< Nᵀ (h + M γ) plus the friction of slipping joints; c [N·m]
  Eigen::MatrixXd coupling;  ///< N of the joints, s × c
  Eigen::VectorXd drift;     ///< γ of the joints, s
  Eigen::VectorXd bound;     ///< bound of their dry friction, s [N·m]
};

/// Determines which joints stick and which slip, by Gauss's principle. The accelerations minimize
///
///   ½ ÿᵀ Nᵀ M N ÿ + forceᵀ ÿ + Σ bound_j |N_j ÿ + γ_j|,
///
/// which has a unique solution even if more joints are at rest than there are coordinates.
Contacts determine_contacts(const RestingJoints& joints);

/// Force margin before one of the sticking joints breaks loose, < 0 if friction is insufficient
/// [N·m, of coordinates]. The forces that friction can hold form a zonotope {couplingᵀ λ: |λ_j| ≤
/// bound_j}. The margin is the distance of its nearest face, weighted so that a joint that holds a
/// coordinate alone counts with its own torque.
///
/// @param force  that has to be held, c
/// @return NaN for an invalid coupling, as of a loop that cannot be closed
double holding_margin(const Eigen::MatrixXd& coupling, const Eigen::VectorXd& bound,
                      const Eigen::VectorXd& force);

}  // namespace estimator
