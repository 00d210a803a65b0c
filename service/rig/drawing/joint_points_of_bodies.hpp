#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Returns, for each body, the points of its joints in the body's frame, without duplicates [m].
std::vector<std::vector<Eigen::Vector3d>> joint_points_of_bodies(
    const estimator::Mechanism& mechanism);

}  // namespace service
