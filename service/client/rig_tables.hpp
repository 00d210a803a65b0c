#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Returns a rig's name and its numbers of bodies and joints.
std::string rig_summary(const Rig& rig);

/// Tables of the joints, the mimic joints, and the encoders between bodies.
std::string joint_tables(const Rig& rig);

/// Values, units, bounds and priors of parameters.
/// @param all  include parameters fixed at zero or without effect; otherwise only their number
std::string parameter_table(const estimator::Mechanism& mechanism, bool all);

}  // namespace service
