#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Returns the initial joint coordinates [rad or m]. `stated` gives some of them; NaN: not given.
///
/// The others are zero. In a rig with loops they take the rest position (find_stable_equilibrium);
/// given joints are moved from there with the loops closed.
///
/// @return nullopt if the loops cannot be closed with the given coordinates
std::optional<Eigen::VectorXd> assemble_joints(const estimator::Mechanism& mechanism,
                                               const Eigen::VectorXd& stated);

}  // namespace service
