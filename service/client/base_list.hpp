#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"

namespace service {

/// What recordings of this mechanism can tell of its inertias at all: the base parameters as a
/// table with the rig file's values, what has no effect, and whether torques are known.
std::string base_list(const estimator::Mechanism& mechanism);

}  // namespace service
