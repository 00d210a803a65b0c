#pragma once

#include <string>

#include "service/simulation/simulation.hpp"

namespace service {

/// The run as a CSV recording. Columns are those of the rig file's recording { }, in its units and
/// with its signs and offsets, so that rigcal calibrate reads it back; where the file describes no
/// recordings: t_s, <hinge>_rad, <motor>_control.
std::string simulation_csv(const Rig& rig, const SimulatedRun& run);

}  // namespace service
