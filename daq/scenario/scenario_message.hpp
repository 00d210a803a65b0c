#pragma once

#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "daq/scenario/command_limits.hpp"
#include "proto/scenario.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// Names of the joints and motors of a rig, to which a scenario can refer.
struct ScenarioRig {
  std::string path{};                 ///< of the rig file, for messages
  std::vector<std::string> joints{};  ///< in the order of ScenarioInput::joint
  std::vector<bool> slides{};         ///< whether each joint slides; empty: all turn
  std::vector<std::string> motors{};  ///< driven joints, in the order of the commands
  bool has_operator = true;  ///< an operator holds and releases a joint; false in a simulation
};

/// Creates the scenario that a message (proto/scenario.proto) describes, for a given rig. Chooses
/// omitted values (phases of a multisine) and checks the excitations and the duration.
/// @param path   of the scenario file; paths of replayed files are relative to its folder
/// @param place  location of the message in that file
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do"
Scenario make_scenario(const rigcal::v1::Scenario& message, const std::string& path,
                       const proto::TextLocator& place, const ScenarioRig& rig);

/// Returns the limit that applies to a scenario on a rig for one field: the smaller of the rig's
/// limit and the scenario's limit.
/// @param wish   limit in the scenario; 0: none
/// @param place  location of the message with the field
/// @throws proto::InputError if the scenario's limit exceeds the rig's
double merge_limit(double limit, double wish, const char* field, const proto::TextLocator& place);

/// Returns the command limits that apply to a scenario on a rig, one entry per motor.
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
void check_command_limits(const Scenario& scenario, const std::vector<CommandLimits>& limits,
                          const std::vector<std::string>& units, const ScenarioRig& rig,
                          const proto::TextLocator& place);

}  // namespace daq
