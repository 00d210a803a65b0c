#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// The name of a rig, and of how much it is made.
std::string rig_head(const Rig& rig);

/// Joints, joints that follow others, and encoders between bodies, a table of each.
std::string joint_tables(const Rig& rig);

/// Values, units, bounds and priors of parameters.
/// @param all  also those that are fixed at zero or without effect; otherwise these are counted
std::string parameter_table(const estimator::Mechanism& mechanism, bool all);

}  // namespace service
