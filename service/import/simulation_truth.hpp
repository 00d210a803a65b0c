#pragma once

#include <map>
#include <string>

namespace service {

/// Parameters by the names of the rig files beside the simulation files: for a Furuta pendulum
/// those of configs/rig-furuta.textproto (bodies A and B, hinges 1 and 2), for a single one those
/// of configs/rig-pendulum.textproto (body pendulum, hinge pivot). In the units of those files.
using TrueParameters = std::map<std::string, double>;

/// What a simulated rig was made with, from the file that rigcal-sim was started with.
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do"
TrueParameters load_simulation_truth(const std::string& path);

}  // namespace service
