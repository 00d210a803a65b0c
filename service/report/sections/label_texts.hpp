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

/// Returns names shortened for labels. A name longer than `characters_max` keeps its beginning and
/// its end, with "…" between them. If different names would become equal, all names are replaced by
/// "recording 1", "recording 2" and so on.
///
/// @param names  names in UTF-8; equal names get equal results
std::vector<std::string> short_names(const std::vector<std::string>& names, int characters_max);

}  // namespace service
