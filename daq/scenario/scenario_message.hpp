#pragma once

#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "proto/scenario.pb.h"
#include "proto/text/text_file.hpp"

namespace daq {

/// What of a rig a scenario can name.
struct ScenarioRig {
  std::string path{};                 ///< of the rig file, for messages
  std::vector<std::string> hinges{};  ///< in the order of a moment's joints
  std::vector<std::string> motors{};  ///< hinges that are driven
  bool has_operator = true;           ///< someone holds a hinge and lets it go; not in a simulation
};

/// A scenario as a rig or a simulation runs it.
struct RigScenario {
  Scenario scenario;
  std::string motor;  ///< hinge that is driven; empty: none
};

/// Makes the scenario of a message (proto/scenario.proto) for a rig, chooses what it leaves open
/// (phases of a multisine), and checks its excitation and duration.
/// @param path   of the scenario file: a replayed file is sought beside it
/// @param place  of the message in that file
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do"
RigScenario make_scenario(const rigcal::v1::Scenario& message, const std::string& path,
                          const proto::TextLocator& place, const ScenarioRig& rig);

}  // namespace daq
