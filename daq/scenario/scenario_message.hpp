#pragma once

#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "daq/scenario/command_limits.hpp"
#include "proto/scenario.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// What of a rig a scenario can name.
struct ScenarioRig {
  std::string path{};                 ///< of the rig file, for messages
  std::vector<std::string> hinges{};  ///< in the order of a moment's joints
  std::vector<bool> slides{};         ///< of these; none: all turn
  std::vector<std::string> motors{};  ///< joints that are driven, in the order of the commands
  bool has_operator = true;           ///< someone holds a hinge and lets it go; not in a simulation
};

/// Makes the scenario of a message (proto/scenario.proto) for a rig, chooses what it leaves open
/// (phases of a multisine), and checks its excitations and duration.
/// @param path   of the scenario file: a replayed file is sought beside it
/// @param place  of the message in that file
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do"
Scenario make_scenario(const rigcal::v1::Scenario& message, const std::string& path,
                       const proto::TextLocator& place, const ScenarioRig& rig);

/// A scenario may ask for less than the rig allows, never for more.
/// @param wish   0: nothing is asked
/// @param place  of the message with the field
/// @return the limit in force; @throws proto::InputError
double tighter(double limit, double wish, const char* field, const proto::TextLocator& place);

/// Limits of a scenario's commands on a rig, by motor.
/// @param place  of the scenario
/// @throws proto::InputError where the scenario allows itself more than the rig does of any motor
std::vector<CommandLimits> tighten_commands(std::vector<CommandLimits> rig,
                                            const rigcal::v1::Limits& wishes,
                                            const proto::TextLocator& place);

/// @param limits  by motor of the rig
/// @param units   of their control signals, likewise
/// @param place   of the scenario
/// @throws proto::InputError for a scenario that asks for more than its limits
void check_commands(const Scenario& scenario, const std::vector<CommandLimits>& limits,
                    const std::vector<std::string>& units, const ScenarioRig& rig,
                    const proto::TextLocator& place);

}  // namespace daq
