#pragma once

#include <atomic>
#include <iosfwd>
#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "daq/console/exit_code.hpp"
#include "daq/console/operator_console.hpp"
#include "daq/safety/black_box.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

struct CommissionOptions {
  std::string rig_path;
  std::string url;                  ///< URL of the unit; empty: the URL in the rig file
  std::vector<std::string> joints;  ///< joints to check; empty: all with an encoder
};

/// Guides an operator through commissioning a rig. The operator first moves each joint by hand with
/// the motor off, to check its encoder. Small pulses then test each motor. If the operator agrees,
/// changes the unit section of the rig file, and writes a record into that file and into a file
/// beside it. The motors are always off at the end.
/// @throws proto::InputError for an error in the files, or if the operator's input has ended
ExitCode commission_rig(const CommissionOptions& options, const std::atomic<bool>& stop,
                        Operator& person, std::ostream& out);

/// Commissions a rig as commission_rig does, with a connected unit whose sample stream has not been
/// started.
/// @param black_box  receives the messages of `unit`
/// @param time       time written into the record, UTC, "2026-11-26T10:15:30Z"
ExitCode commission_unit(const RigConfig& rig, const std::vector<std::string>& joints,
                         firmware_iface::UnitLink& unit, BlackBox& black_box,
                         const std::atomic<bool>& stop, Operator& person, const std::string& time);

/// Checks that commissioning can write its changes to the rig file. Called before the operator is
/// asked anything.
/// @throws proto::InputError
void require_writable_rig(const RigConfig& rig);

}  // namespace daq
