#pragma once

#include <string>

#include "service/simulation/simulation.hpp"

namespace service {

/// Returns an SVG document that plots each encoder's readings and the command of a simulated run
/// over time.
/// @param title  title of the scenario
std::string simulation_plot(const Rig& rig, const SimulatedRun& run, const std::string& title);

}  // namespace service
