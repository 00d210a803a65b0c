#pragma once

#include <string>

#include "service/import/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Returns the rig file's limits of a motor's command: its safety section, else the motor's own.
/// @param motor  index of the driven joint
daq::CommandLimits motor_command_limits(const Rig& rig, int motor);

/// Reads and checks a scenario file (proto/scenario.proto) for a rig.
/// @throws InputError "FILE:LINE:COLUMN: message; remedy"
Scenario load_scenario(const std::string& path, const Rig& rig);

/// The same for text in memory; a replayed file is searched for in the folder of `path`.
Scenario parse_scenario(const std::string& path, const std::string& text, const Rig& rig);

}  // namespace service
