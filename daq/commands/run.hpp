#pragma once

#include <atomic>
#include <iosfwd>
#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/console/exit_code.hpp"
#include "daq/stream/service_endpoint.hpp"

namespace daq {

struct RunOptions {
  std::string rig_path;
  std::string scenario_path;
  std::string out_path;           ///< path of the recording; must not exist
  ServiceOptions service;         ///< service to stream to
  std::string url;                ///< URL of the unit; empty: the URL in the rig file
  bool not_commissioned = false;  ///< allow large commands on a rig that is not commissioned
  bool terminal = false;          ///< output goes to a terminal: show the run's progress
};

/// Flags shared by a signal handler and a run.
struct RunFlags {
  std::atomic<bool> stop_requested{false};  ///< by the operator
  std::atomic<bool> stop_loop{false};       ///< stops the real-time loop
  std::atomic<bool> unfinished{false};      ///< a recording has not got its final name yet
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only use such");
};

/// Reads a rig file for connecting to its unit. A nonempty `url` replaces the URL in the file.
/// @throws proto::InputError for an error in the file, or if neither gives a URL
RigConfig load_rig(const std::string& rig_path, const std::string& url,
                   RigUse use = RigUse::kDrive);

/// Runs a scenario on a rig and records it. Ends when the scenario has finished, after a trip, when
/// the unit or the disk fails, or when `flags` request it. Unless the disk fails, the recording is
/// complete.
///
/// @throws proto::InputError for an error in the files
ExitCode run_scenario(const RunOptions& options, RunFlags& flags, std::ostream& out);

/// Writes the commands of an open-loop scenario to a file, as an SVG figure if `path` ends in .svg,
/// else as CSV. Accesses no unit and never replaces a file.
///
/// @throws proto::InputError for an error in the files
ExitCode plot_scenario(const RunOptions& options, const std::string& path, std::ostream& out);

}  // namespace daq
