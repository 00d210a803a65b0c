#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Where joints sit on each body, in its frame, those at one place once [m].
std::vector<std::vector<Eigen::Vector3d>> body_points(const estimator::Mechanism& mechanism);

}  // namespace service
