#pragma once

#include <string>
#include <vector>

#include "firmware_iface/conformance/test_host.hpp"

namespace firmware_iface::conformance {

/// What a check measured, e.g. 50 ms.
struct Figure {
  double value = 0.0;
  std::string unit;
  std::string note = {};
};

/// One requirement of PROTOCOL.md, or a part of one, that can be tested over the port.
struct Check {
  const char* id;           ///< number of the requirement; a letter tells its parts apart
  const char* requirement;  ///< one sentence
  /// Returns the figure that passed. Throws Failed or NotTested, and what TestHost throws.
  Figure (*run)(TestHost& host);
};

/// Throws Failed with the detail unless the condition holds.
void expect(bool condition, const std::string& detail);

/// "50", "0.35".
std::string text_of(double value);

/// So many things, whose name gets an s unless there is one: "3 frames, dropped".
Figure counted(std::int64_t count, const std::string& name, const std::string& note = "");

/// All checks, in the order in which they run.
std::vector<Check> all_checks();

/// Requirements on a unit that no message over the port can show; the board itself must be tested.
const std::vector<std::string>& requirements_not_testable();

// The parts of the list.
std::vector<Check> frame_checks();
std::vector<Check> session_checks();
std::vector<Check> configure_checks();
std::vector<Check> sample_checks();
std::vector<Check> command_checks();
std::vector<Check> time_to_live_checks();
std::vector<Check> trip_checks();
std::vector<Check> clear_checks();
std::vector<Check> format_checks();
std::vector<Check> overall_checks();  ///< over all that the unit sent in the checks before

}  // namespace firmware_iface::conformance
