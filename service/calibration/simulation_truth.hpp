#pragma once

#include <map>
#include <string>

namespace service {

/// True parameter values of a simulated rig, by parameter name. Names and units for a Furuta
/// pendulum are those of configs/rig-furuta.textproto (bodies A and B, joints 1 and 2); for a
/// single pendulum, those of configs/rig-pendulum.textproto (body pendulum, joint pivot).
using TrueParameters = std::map<std::string, double>;

/// Loads the true parameter values of a simulated rig from the file that rigcal-sim was started
/// with.
/// @throws proto::InputError "FILE:LINE:COLUMN: message; remedy"
TrueParameters load_simulation_truth(const std::string& path);

}  // namespace service
