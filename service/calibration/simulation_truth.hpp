#pragma once

#include <map>
#include <string>

namespace service {

/// True parameter values of a simulated rig, by parameter name. Names and units of a Furuta
/// pendulum are those in configs/rig-furuta.textproto (bodies A and B, joints 1 and 2), and of a
/// single pendulum those in configs/rig-pendulum.textproto (body pendulum, joint pivot).
using TrueParameters = std::map<std::string, double>;

/// Loads the true parameter values of a simulated rig from a configuration file of rigcal-sim.
TrueParameters load_true_parameters(const std::string& path);

}  // namespace service
