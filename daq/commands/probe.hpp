#pragma once

#include <atomic>
#include <iosfwd>

#include "daq/commands/exit_code.hpp"
#include "daq/config/rig_config.hpp"

namespace daq {

/// Connects to the unit, describes it, and shows one second of its samples as a table: counts,
/// angles, validity, losses. Drives nothing.
ExitCode probe_unit(const RigConfig& rig, std::ostream& out);

/// Shows the rig until `stop` is set: angles, speeds, output, timing, losses. Drives nothing.
/// @param in_place  `out` is a terminal: update the view ten times a second; else print it once, at
///     the end
ExitCode monitor_unit(const RigConfig& rig, const std::atomic<bool>& stop, bool in_place,
                      std::ostream& out);

}  // namespace daq
