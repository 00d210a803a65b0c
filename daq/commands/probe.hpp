#pragma once

#include <atomic>
#include <iosfwd>

#include "daq/commands/exit_code.hpp"
#include "daq/config/rig_config.hpp"

namespace daq {

/// Greets the unit, says what it is, and shows a second of its samples as a table: counts, angles,
/// validity, losses. Drives nothing.
ExitCode probe_unit(const RigConfig& rig, std::ostream& out);

/// A terminal view of the rig, ten times a second, until `stop` is set: angles, output, loop
/// timing, losses. Drives nothing.
ExitCode monitor_unit(const RigConfig& rig, const std::atomic<bool>& stop, std::ostream& out);

}  // namespace daq
