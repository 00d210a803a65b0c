#pragma once

#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "daq/scenario/command_limits.hpp"
#include "proto/scenario.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// The parts of a rig that a scenario can refer to.
struct ScenarioRig {
  std::string path{};                 ///< of the rig file, for messages
  std::vector<std::string> joints{};  ///< in the order of ScenarioInput::joint
  std::vector<bool> slides{};         ///< whether each joint slides; empty: all turn
  std::vector<std::string> motors{};  ///< driven joints, in the order of the commands
  bool has_operator = true;  ///< an operator holds and releases a joint; false in a simulation
};

/// Creates the scenario of a message (proto/scenario.proto) for a rig, chooses omitted values
/// (phases of a multisine), and checks its excitations and duration.
/// @param path   of the scenario file; paths of replayed files are relative to its folder
/// @param place  location of the message in that file
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do"
Scenario make_scenario(const rigcal::v1::Scenario& message, const std::string& path,
                       const proto::TextLocator& place, const ScenarioRig& rig);

/// Returns the smaller of a rig's and a scenario's limit for one field.
/// @param wish   limit in the scenario; 0: none
/// @param place  location of the message with the field
/// @throws proto::InputError if the scenario's limit exceeds the rig's
double merge_limit(double limit, double wish, const char* field, const proto::TextLocator& place);

/// Returns the limits of a scenario's commands on a rig, by motor.
/// @param place  location of the scenario
/// @throws proto::InputError if the scenario's limit is above the limits of all motors
std::vector<CommandLimits> merge_command_limits(std::vector<CommandLimits> rig,
                                                const rigcal::v1::Limits& wishes,
                                                const proto::TextLocator& place);

/// Checks that a scenario's commands stay within its limits.
/// @param limits  by motor of the rig
/// @param units   of the control signals, by motor
/// @param place   location of the scenario
/// @throws proto::InputError if a command exceeds its limit
void check_commands(const Scenario& scenario, const std::vector<CommandLimits>& limits,
                    const std::vector<std::string>& units, const ScenarioRig& rig,
                    const proto::TextLocator& place);

}  // namespace daq
