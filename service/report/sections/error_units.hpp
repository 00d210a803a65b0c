#pragma once

#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"

namespace service {

/// Returns the unit in which errors of these joint types are given: "mrad" for revolute joints,
/// "mm" for prismatic joints, "mrad or mm" for a mix.
std::string error_units(const std::vector<estimator::JointKind>& kinds);

/// Returns the unit of errors that are pooled over joints of these types: "mrad", "0.1 mm", or
/// "mrad or 0.1 mm". In pooled errors, kMetresPerRadian (0.1 m) of a prismatic joint counts as one
/// radian of a revolute joint.
std::string pooled_error_units(const std::vector<estimator::JointKind>& kinds);

}  // namespace service
