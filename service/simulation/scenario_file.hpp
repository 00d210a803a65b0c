#pragma once

#include <string>

#include "service/import/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// What the rig file allows of a motor's command, by its safety or else by the motor itself.
/// @param motor  joint that is driven
daq::CommandLimits allowed_commands(const Rig& rig, int motor);

/// Reads and checks a scenario file (proto/scenario.proto) for a rig.
/// @throws InputError "FILE:LINE:COLUMN: what; what to do"
Scenario load_scenario(const std::string& path, const Rig& rig);

/// The same for text in memory; a replayed file is sought beside `path`.
Scenario parse_scenario(const std::string& path, const std::string& text, const Rig& rig);

}  // namespace service
