#pragma once

#include <map>
#include <string>

namespace service {

/// True parameter values of a simulated rig, by parameter name. A Furuta pendulum has the names and
/// units of configs/rig-furuta.textproto (bodies A and B, joints 1 and 2). A single pendulum has
/// the names and units of configs/rig-pendulum.textproto (body pendulum, joint pivot).
using TrueParameters = std::map<std::string, double>;

/// Loads the true parameter values of a simulated rig from a configuration file of rigcal-sim.
TrueParameters load_true_parameters(const std::string& path);

}  // namespace service
