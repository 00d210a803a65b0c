#pragma once

#include <Eigen/Core>

#include "estimator/tree/contact.hpp"

namespace estimator {

/// Joints of a mechanism at rest for an instant, c coordinates, s joints.
struct RestingJoints {
  Eigen::MatrixXd mass;      ///< Nᵀ M N, c × c
  Eigen::VectorXd force;     ///< Nᵀ (h + M γ) and what joints that slip add; c [N·m]
  Eigen::MatrixXd coupling;  ///< N of the joints, s × c
  Eigen::VectorXd drift;     ///< γ of the joints, s
  Eigen::VectorXd bound;     ///< of their dry friction, s [N·m]
};

/// Which of the joints go on to stick and which slip, by Gauss's principle: accelerations minimise
///
///   ½ ÿᵀ Nᵀ M N ÿ + forceᵀ ÿ + Σ bound_j |N_j ÿ + γ_j|,
///
/// so there is one answer even where more joints are at rest than can hold independently.
Contacts settle_contacts(const RestingJoints& joints);

/// How much force the friction of joints that stick has to spare before one of them breaks loose,
/// < 0 where it does not suffice [N·m, of coordinates]. The forces that friction can hold form a
/// zonotope {couplingᵀ λ: |λ_j| ≤ bound_j}; this is the distance of its nearest face, each face
/// weighed so that a joint that holds a coordinate alone counts with its own torque.
///
/// @param force  that is to be held, c
/// @return not a number where the coupling is none, as that of a loop that cannot be closed
double holding_margin(const Eigen::MatrixXd& coupling, const Eigen::VectorXd& bound,
                      const Eigen::VectorXd& force);

}  // namespace estimator
