#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Where joints begin when `stated` says of some where [rad or m]; NaN: nothing is said of it.
///
/// The others begin at zero. In a rig with loops they begin where it rests (find_rest), or, with
/// some joints stated, where that takes them on the way from rest with loops closed.
///
/// @return nothing where the loops cannot be closed with the stated joints there
std::optional<Eigen::VectorXd> assemble_joints(const estimator::Mechanism& mechanism,
                                               const Eigen::VectorXd& stated);

}  // namespace service
