#pragma once

#include <atomic>
#include <iosfwd>
#include <string>
#include <vector>

#include "daq/commands/exit_code.hpp"
#include "daq/commands/operator_console.hpp"
#include "daq/config/rig_config.hpp"
#include "daq/safety/black_box.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

struct CommissionOptions {
  std::string rig_path;
  std::string url;                  ///< overrides the rig file's; empty: the rig file's
  std::vector<std::string> joints;  ///< empty: all with an encoder
};

/// Guides an operator through the check of a new rig: encoders by hand with the motor off, then
/// each motor by small pulses. If the operator agrees, changes the rig file's unit section, and
/// writes a record into the file and beside it. The motor is always off at the end.
/// @throws proto::InputError for an error in the files, or if the operator has left
ExitCode commission_rig(const CommissionOptions& options, const std::atomic<bool>& stop,
                        Operator& person, std::ostream& out);

/// As above, with a connected unit whose stream has not been started.
/// @param black_box  tap of `unit`
/// @param time       for the record, UTC, "2026-11-26T10:15:30Z"
ExitCode commission_unit(const RigConfig& rig, const std::vector<std::string>& joints,
                         firmware_iface::UnitLink& unit, BlackBox& black_box,
                         const std::atomic<bool>& stop, Operator& person, const std::string& time);

/// Rejects, before any question, a rig file that could not be written at the end.
/// @throws proto::InputError
void require_writable_rig(const RigConfig& rig);

}  // namespace daq
