#pragma once

#include <string>
#include <vector>

#include "firmware_iface/conformance/test_host.hpp"

namespace firmware_iface::conformance {

/// A measured result of a check, e.g. 50 ms.
struct Measurement {
  double value = 0.0;
  std::string unit;
  std::string note = {};
};

/// A requirement of PROTOCOL.md, or a part of one, that can be tested over the port.
struct Check {
  const char* id;           ///< number of the requirement, with a letter for its part
  const char* requirement;  ///< one sentence
  /// Runs the check and returns the measured result. Throws Failed, NotTested, and the exceptions
  /// of TestHost.
  Measurement (*run)(TestHost& host);
};

/// Throws Failed with the detail unless the condition holds.
void expect(bool condition, const std::string& detail);

/// Returns a number as text, such as "50" or "0.35".
std::string text_of(double value);

/// Returns a count and its noun, plural if the count is not 1, as a measurement: "3 frames,
/// dropped".
Measurement counted(std::int64_t count, const std::string& name, const std::string& note = "");

/// Returns all checks, in the order in which they run.
std::vector<Check> all_checks();

/// Returns the requirements that cannot be checked by messages but need a test of the board itself.
const std::vector<std::string>& requirements_not_testable();

// The parts of the list:
std::vector<Check> frame_checks();
std::vector<Check> session_checks();
std::vector<Check> configure_checks();
std::vector<Check> sample_checks();
std::vector<Check> command_checks();
std::vector<Check> time_to_live_checks();
std::vector<Check> trip_checks();
std::vector<Check> clear_checks();
std::vector<Check> format_checks();
std::vector<Check> overall_checks();  ///< of all messages received during the earlier checks

}  // namespace firmware_iface::conformance
