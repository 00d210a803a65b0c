#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Formats the identifiable combinations of the mechanism's inertial parameters. Lists the base
/// parameters with the rig file's values, parameters without effect, and whether a torque is known.
std::string base_parameter_table(const estimator::Mechanism& mechanism);

}  // namespace service
