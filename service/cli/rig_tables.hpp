#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns a rig's name and its numbers of bodies and joints.
std::string rig_summary(const Rig& rig);

/// Returns text tables of a rig's joints, mimic joints, and encoders between bodies.
std::string joint_tables(const Rig& rig);

/// Returns a text table of a mechanism's parameters with values, units, bounds and priors.
/// @param all  include parameters fixed at zero or without effect; otherwise give only their number
std::string parameter_table(const estimator::Mechanism& mechanism, bool all);

/// Returns a text table of the base parameters, the identifiable combinations of the mechanism's
/// inertial parameters, with their values in the rig file. The text also lists parameters without
/// effect on the motion, and says whether a torque is known.
std::string base_parameter_table(const estimator::Mechanism& mechanism);

}  // namespace service
