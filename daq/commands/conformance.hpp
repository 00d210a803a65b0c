#pragma once

#include <atomic>
#include <iosfwd>
#include <string>
#include <vector>

#include "daq/console/exit_code.hpp"
#include "firmware_iface/conformance/run.hpp"

namespace daq {

struct ConformanceOptions {
  std::string url;
  std::string json_path;  ///< path of the JSON report; "-": standard output, with the table on
                          ///< standard error; empty: none
  std::vector<std::string> only;  ///< numbers of the requirements to test; empty: all
  firmware_iface::conformance::Settings settings;
};

/// Tests the unit against PROTOCOL.md and prints a table of requirements. Leaves the unit tripped.
/// @return kTrouble if a check failed, the port failed or `stop` ended the test
/// @throws proto::InputError for an unknown requirement number
ExitCode test_conformance(const ConformanceOptions& options, const std::atomic<bool>& stop,
                          std::ostream& out, std::ostream& err);

/// Returns the report of a conformance test as a JSON object.
std::string conformance_json(const std::string& url,
                             const firmware_iface::conformance::Settings& settings,
                             const firmware_iface::conformance::Report& report);

}  // namespace daq
