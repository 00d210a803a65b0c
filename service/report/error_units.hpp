#pragma once

#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"

namespace service {

/// Returns the units of a thousandth of the readings of these sensor or joint types: "mrad", "mm",
/// or "mrad or mm" if both occur.
std::string error_units(const std::vector<estimator::JointKind>& kinds);

/// Returns the units of errors pooled over these types, in which kMetresPerRadian of a prismatic
/// joint counts as one radian: "mrad", "0.1 mm" or "mrad or 0.1 mm".
std::string pooled_error_units(const std::vector<estimator::JointKind>& kinds);

}  // namespace service
