#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Returns a text table of the base parameters, the identifiable combinations of the mechanism's
/// inertial parameters, with their values in the rig file. The text also lists parameters without
/// effect on the motion, and says whether a torque is known.
std::string base_parameter_table(const estimator::Mechanism& mechanism);

}  // namespace service
