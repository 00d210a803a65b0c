#pragma once

#include <string>

#include "service/simulation/simulation.hpp"

namespace service {

/// The run as a CSV recording, see recording_csv.
std::string simulation_csv(const Rig& rig, const SimulatedRun& run);

}  // namespace service
