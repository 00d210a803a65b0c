#pragma once

#include <atomic>
#include <iosfwd>
#include <string>

#include "daq/commands/exit_code.hpp"
#include "daq/config/rig_config.hpp"
#include "daq/stream/service_endpoint.hpp"

namespace daq {

struct RunOptions {
  std::string rig_path;
  std::string scenario_path;
  std::string out_path;           ///< the recording; must not exist
  ServiceOptions service;         ///< to stream to
  std::string url;                ///< instead of the rig file's; empty: the rig file's
  bool not_commissioned = false;  ///< run large commands on a rig that is not commissioned
  bool terminal = false;          ///< what is printed goes to a terminal: show the run's progress
};

/// What a signal handler and a run share.
struct RunFlags {
  std::atomic<bool> stop_asked{false};  ///< by the operator
  std::atomic<bool> stop_loop{false};   ///< the real-time loop itself looks at this one
  std::atomic<bool> unfinished{false};  ///< there is a recording that has not got its name yet
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only use such");
};

/// Reads a rig file whose unit is to be talked to. A `url` that is not empty replaces the file's.
/// @throws proto::InputError for anything wrong with the file, or when neither names a unit
RigConfig load_rig(const std::string& rig_path, const std::string& url,
                   RigUse use = RigUse::kDrive);

/// Runs a scenario on a rig and records it. Ends when the scenario has finished, after a trip, when
/// the unit or the disk fails, or when `flags` ask for it; the recording is complete in each case
/// but that of a disk that does not take it.
///
/// @throws proto::InputError for anything wrong with the files
ExitCode run_scenario(const RunOptions& options, RunFlags& flags, std::ostream& out);

/// Writes what an open-loop scenario would command: an SVG picture where `path` ends in .svg, else
/// CSV. Touches no unit and never replaces a file.
///
/// @throws proto::InputError for anything wrong with the files
ExitCode plot_scenario(const RunOptions& options, const std::string& path, std::ostream& out);

}  // namespace daq
