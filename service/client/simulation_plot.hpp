#pragma once

#include <string>

#include "service/simulation/simulation.hpp"

namespace service {

/// Returns a plot of a simulated run as a complete SVG document: each encoder's reading and the
/// command over time.
/// @param title  title of the scenario
std::string simulation_plot(const Rig& rig, const SimulatedRun& run, const std::string& title);

}  // namespace service
