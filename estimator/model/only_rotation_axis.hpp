#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// The only direction about which a body can rotate, as a unit vector in its frame; nothing if it
/// can rotate about several. Then only the moment of inertia about it has any effect. Zero for a
/// body that does not rotate.
std::optional<Eigen::Vector3d> only_rotation_axis(const Mechanism& mechanism, int body);

}  // namespace estimator
