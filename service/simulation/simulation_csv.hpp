#pragma once

#include <string>

#include "service/simulation/simulation.hpp"

namespace service {

/// Returns the run as a CSV recording, see recording_csv.
std::string simulation_csv(const Rig& rig, const SimulatedRun& run);

}  // namespace service
