#pragma once

#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"

namespace service {

/// Of a thousandth of what the sensors or joints of these kinds read, each in its own unit: "mrad",
/// "mm", or "mrad or mm" where there are both.
std::string error_units(const std::vector<estimator::JointKind>& kinds);

/// The same of errors pooled over all of them, of which a slide by kSlidePerRadian counts as a
/// radian: "mrad", "0.1 mm" or "mrad or 0.1 mm".
std::string pooled_error_units(const std::vector<estimator::JointKind>& kinds);

}  // namespace service
