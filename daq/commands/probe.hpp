#pragma once

#include <atomic>
#include <iosfwd>

#include "daq/config/rig_config.hpp"
#include "daq/console/exit_code.hpp"

namespace daq {

/// Connects to a rig's unit and prints its description and a table of one second of its samples:
/// counts, angles, validity, losses. Drives no motor.
ExitCode probe_unit(const RigConfig& rig, std::ostream& out);

/// Shows the state of a rig until `stop` is set: angles, speeds, output, timing and lost samples.
/// Drives no motor.
/// @param in_place  `out` is a terminal: the view is updated ten times a second. Otherwise it is
///     printed once, at the end.
ExitCode monitor_unit(const RigConfig& rig, const std::atomic<bool>& stop, bool in_place,
                      std::ostream& out);

}  // namespace daq
