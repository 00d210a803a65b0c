#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firmware_iface/conformance/check.hpp"

namespace firmware_iface::conformance {

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
