#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Returns the initial coordinates of all joints for a simulation [rad or m].
///
/// Joints without a given coordinate start at zero. A mechanism with kinematic loops starts from
/// its stable equilibrium (find_stable_equilibrium). From there the joints with a given coordinate
/// are moved to it while the loops stay closed.
///
/// @param stated  given coordinate of each joint; NaN if not given
/// @return nullopt if the loops cannot be closed with the given coordinates
std::optional<Eigen::VectorXd> assemble_joints(const estimator::Mechanism& mechanism,
                                               const Eigen::VectorXd& stated);

}  // namespace service
