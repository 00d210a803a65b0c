#pragma once

#include <string>

#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Returns the limits of a motor's command in the rig file. Limits in the safety section take
/// precedence over the control range of the motor.
/// @param motor  index of the driven joint
daq::CommandLimits motor_command_limits(const Rig& rig, int motor);

/// Reads and checks a scenario file (proto/scenario.proto) for a rig.
/// @throws InputError "FILE:LINE:COLUMN: message; remedy"
Scenario load_scenario(const std::string& path, const Rig& rig);

/// Parses and checks the text of a scenario file for a rig. A recording to replay is searched for
/// in the folder of `path`.
/// @throws InputError "FILE:LINE:COLUMN: message; remedy"
Scenario parse_scenario(const std::string& path, const std::string& text, const Rig& rig);

}  // namespace service
