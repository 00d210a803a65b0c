#pragma once

#include <string>

#include "service/simulation/simulation.hpp"

namespace service {

/// A simulated run as a picture: what each encoder reads, and the command, over time. A complete
/// SVG document.
/// @param title  of the scenario
std::string simulation_picture(const Rig& rig, const SimulatedRun& run, const std::string& title);

}  // namespace service
