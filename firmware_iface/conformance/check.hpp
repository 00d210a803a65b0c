#pragma once

#include <fmt/core.h>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firmware_iface/conformance/test_host.hpp"

namespace firmware_iface::conformance {

/// Measured result of a conformance check, such as 50 ms.
struct Measurement {
  double value = 0.0;
  std::string unit;
  std::string note = {};
};

/// Conformance check of one requirement of PROTOCOL.md, or of a part of a requirement, by messages
/// over the port.
struct ConformanceCheck {
  const char* id;           ///< number of the requirement, with a letter for its part
  const char* requirement;  ///< one sentence
  /// Runs the check on the unit that `host` controls, and returns the measured result. Throws
  /// CheckFailed, CheckNotTested, and the exceptions of TestHost.
  std::function<Measurement(TestHost& host)> run;
};

/// Throws CheckFailed with the formatted text if the condition is false.
template <typename... Args>
void expect(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw CheckFailed{fmt::format(text, std::forward<Args>(args)...)};
}

/// Throws CheckFailed unless a trip's fault flags contain the expected cause.
void expect_trip_cause(unsigned fault_flags, unsigned cause);

/// Returns a number as text, such as "50" or "0.35".
std::string format_value(double value);

/// Returns a measured count with its noun (singular or plural) and a note, such as "3 frames,
/// dropped".
Measurement format_count(auto count, const std::string& name, const std::string& note = "") {
  return {static_cast<double>(count), count == 1 ? name : name + "s", note};
}

/// Returns all checks, in the order in which they run.
std::vector<ConformanceCheck> all_checks();

/// Returns the requirements of PROTOCOL.md that messages cannot check, because they need a test of
/// the board itself.
const std::vector<std::string>& untestable_requirements();

// The parts of the list:
std::vector<ConformanceCheck> frame_checks();
std::vector<ConformanceCheck> session_checks();
std::vector<ConformanceCheck> configure_checks();
std::vector<ConformanceCheck> sample_checks();
std::vector<ConformanceCheck> command_checks();
std::vector<ConformanceCheck> trip_checks();
std::vector<ConformanceCheck> clear_checks();
std::vector<ConformanceCheck> format_checks();
std::vector<ConformanceCheck>
overall_checks();  ///< of all messages received during the earlier checks

enum class CheckVerdict { kPassed, kFailed, kNotTested };

/// Result of one check.
struct CheckResult {
  ConformanceCheck check;
  CheckVerdict verdict = CheckVerdict::kNotTested;
  Measurement figure;   ///< measured result, if the check passed
  std::string detail;   ///< if it failed: expected and actual behaviour; if not tested: the reason
  int repetitions = 0;  ///< repetitions after failures while this computer was late
};

struct ConformanceReport {
  std::optional<hello_reply> unit;  ///< first HELLO_REPLY of the unit
  std::vector<CheckResult> rows;
  std::string trouble;  ///< why the test ended early; empty if it did not
  bool is_interrupted = false;
  bool is_tripped = true;  ///< the unit confirmed at the end that it is tripped

  int count(CheckVerdict verdict) const;
  bool has_passed() const;  ///< no check failed, and the test did not end early
};

/// Callbacks at the start and at the end of each check.
struct CheckProgress {
  std::function<void(const ConformanceCheck&)> begin;
  std::function<void(const CheckResult&)> end;
};

/// Returns whether `name` is the number of the check or of the check's requirement: "C4" selects
/// C4.1a.
bool is_selected_by(const ConformanceCheck& check, const std::string& name);

/// Runs conformance checks on the conversion unit at the other end of the transport: the checks
/// listed in `only`, or all checks if `only` is empty. At the end the unit is tripped. Setting
/// `stop` ends the test after the next message.
ConformanceReport run_checks(Transport& transport, const TestSettings& settings,
                             const std::vector<std::string>& only, const std::atomic<bool>& stop,
                             const CheckProgress& progress);

}  // namespace firmware_iface::conformance
