#pragma once

#include <map>
#include <string>

namespace service {

/// True parameter values of a simulated rig, by parameter name. Names and units are those in
/// configs/rig-furuta.textproto for a Furuta pendulum (bodies A and B, joints 1 and 2), and in
/// configs/rig-pendulum.textproto for a single pendulum (body pendulum, joint pivot).
using TrueParameters = std::map<std::string, double>;

/// Loads the true parameter values of a simulated rig from a configuration file of rigcal-sim.
TrueParameters load_true_parameters(const std::string& path);

}  // namespace service
