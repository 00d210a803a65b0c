#pragma once

#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/scenario/catalog.hpp"

namespace daq {

/// Content of a scenario file, checked and ready to run on a rig.
struct ScenarioConfig {
  std::string path;
  std::string text;  ///< the whole file, stored in the recording
  Scenario scenario;
  SafetyLimits limits;  ///< the rig's limits, lowered where the scenario has smaller ones
};

/// Reads a scenario file (proto/scenario.proto) for a rig, chooses omitted values (phases of a
/// multisine), and checks the scenario against the rig's limits.
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do"
ScenarioConfig load_scenario_config(const std::string& path, const RigConfig& rig);

/// Reads the text of a scenario file like load_scenario_config. `path` is used in messages, and
/// replayed files are relative to its folder.
ScenarioConfig parse_scenario_config(const std::string& path, const std::string& text,
                                     const RigConfig& rig);

}  // namespace daq
