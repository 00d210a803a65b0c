#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns the only direction about which a body can rotate, as a unit vector in the body frame.
/// Only the moment of inertia about it then has an effect. Returns nullopt if the body can rotate
/// about several directions, and zero if it does not rotate.
std::optional<Eigen::Vector3d> only_rotation_axis(const Mechanism& mechanism, int body);

}  // namespace estimator
