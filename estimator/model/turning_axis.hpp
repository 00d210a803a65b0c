#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// The one direction about which a body ever turns, in its frame, unit; nothing where it turns
/// about several. Of a body that turns about one, only the moment of inertia about it has any
/// effect. Of one that does not turn at all, none: zero.
std::optional<Eigen::Vector3d> turning_axis(const Mechanism& mechanism, int body);

}  // namespace estimator
