#pragma once

#include <fmt/core.h>
#include <atomic>
#include <functional>
#include <optional>
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
  std::function<Measurement(TestHost& host)> run;
};

/// Throws Failed with the formatted text unless the condition holds.
template <typename... Args>
void expect(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw Failed{fmt::format(text, std::forward<Args>(args)...)};
}

/// Throws Failed unless the fault flags of a trip include its cause.
void expect_cause(unsigned fault_flags, unsigned cause);

/// Returns a number as text, such as "50" or "0.35".
std::string text_of(double value);

/// Returns a count and its noun, plural if the count is not 1, as a measurement: "3 frames,
/// dropped".
Measurement counted(auto count, const std::string& name, const std::string& note = "") {
  return {static_cast<double>(count), count == 1 ? name : name + "s", note};
}

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
std::vector<Check> trip_checks();
std::vector<Check> clear_checks();
std::vector<Check> format_checks();
std::vector<Check> overall_checks();  ///< of all messages received during the earlier checks

enum class Verdict { kPassed, kFailed, kNotTested };

/// Result of one check.
struct CheckResult {
  Check check;
  Verdict verdict = Verdict::kNotTested;
  Measurement figure;   ///< measured result, if the check passed
  std::string detail;   ///< if it failed: expected and actual behaviour; if not tested: the reason
  int repetitions = 0;  ///< repetitions after failures while this computer was late
};

struct Report {
  std::optional<hello_reply> unit;  ///< first HELLO_REPLY of the unit
  std::vector<CheckResult> rows;
  std::string trouble;  ///< why the test ended early; empty if it did not
  bool is_interrupted = false;
  bool is_tripped = true;  ///< the unit confirmed at the end that it is tripped

  int count(Verdict verdict) const;
  bool has_passed() const;  ///< no check failed, and the test did not end early
};

/// Callbacks at the start and at the end of each check.
struct Progress {
  std::function<void(const Check&)> begin;
  std::function<void(const CheckResult&)> end;
};

/// Returns whether `name` is the number of a check or of its requirement. "C4" selects C4.1a.
bool is_selected_by(const Check& check, const std::string& name);

/// Runs the conformance checks on the unit at the other end of the transport: all checks, or the
/// ones selected in `only` if it is not empty. Leaves the unit tripped. Setting `stop` ends the
/// test after the message that it waits for.
Report run_checks(Transport& transport, const Settings& settings,
                  const std::vector<std::string>& only, const std::atomic<bool>& stop,
                  const Progress& progress);

}  // namespace firmware_iface::conformance
