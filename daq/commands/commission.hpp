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
  std::string url;                  ///< instead of the rig file's; empty: the rig file's
  std::vector<std::string> joints;  ///< none: all with an encoder
};

/// Leads an operator through the check of a new rig: encoders by hand with the motor off, then each
/// motor by small pulses. Changes the rig file's unit section, and puts a record into it and beside
/// it, if the operator agrees. Ends with the motor off, however it ends.
/// @throws proto::InputError for anything wrong with the files, or an operator who has left
ExitCode commission_rig(const CommissionOptions& options, const std::atomic<bool>& stop,
                        Operator& person, std::ostream& out);

/// The same at a unit that is connected, whose stream has not been started.
/// @param black_box  tap of `unit`
/// @param time       of the record, UTC, "2026-11-26T10:15:30Z"
ExitCode commission_unit(const RigConfig& rig, const std::vector<std::string>& joints,
                         firmware_iface::UnitLink& unit, BlackBox& black_box,
                         const std::atomic<bool>& stop, Operator& person, const std::string& time);

/// Refuses, before anything is asked, a rig file that could not be written in the end.
/// @throws proto::InputError
void require_writable_rig(const RigConfig& rig);

}  // namespace daq
