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
  std::string out_path;    ///< the recording; must not exist
  ServiceOptions service;  ///< to stream to
  std::string url;         ///< instead of the rig file's; empty: the rig file's
  bool terminal = false;   ///< what is printed goes to a terminal: show the run's progress
};

/// Reads a rig file whose unit is to be talked to. A `url` that is not empty replaces the file's.
/// @throws proto::InputError for anything wrong with the file, or when neither names a unit
RigConfig load_rig(const std::string& rig_path, const std::string& url);

/// Runs a scenario on a rig and records it. Ends when the scenario has finished, after a trip, when
/// the unit or the disk fails, or when `stop` is set; the recording is complete in each case.
///
/// @throws proto::InputError for anything wrong with the files
ExitCode run_scenario(const RunOptions& options, const std::atomic<bool>& stop, std::ostream& out);

/// Writes what an open-loop scenario would command: an SVG picture where `path` ends in .svg, else
/// CSV. Touches no unit and never replaces a file.
///
/// @throws proto::InputError for anything wrong with the files
ExitCode plot_scenario(const RunOptions& options, const std::string& path, std::ostream& out);

}  // namespace daq
