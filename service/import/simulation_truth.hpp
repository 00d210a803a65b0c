#pragma once

#include <map>
#include <string>

namespace service {

/// True parameters by the names and in the units of the rig files next to the simulation files:
/// configs/rig-furuta.textproto (bodies A and B, joints 1 and 2) for a Furuta pendulum,
/// configs/rig-pendulum.textproto (body pendulum, joint pivot) for a single pendulum.
using TrueParameters = std::map<std::string, double>;

/// Loads the true parameters of a simulated rig from the file that rigcal-sim was started with.
/// @throws proto::InputError "FILE:LINE:COLUMN: message; remedy"
TrueParameters load_simulation_truth(const std::string& path);

}  // namespace service
