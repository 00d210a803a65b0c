#pragma once

#include <string>

#include "service/simulation/simulation.hpp"

namespace service {

/// Returns the samples of a simulation as a CSV recording, see recording_csv.
std::string simulation_csv(const Rig& rig, const SimulatedRun& run);

}  // namespace service
