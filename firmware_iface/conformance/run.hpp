#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firmware_iface/conformance/check.hpp"

namespace firmware_iface::conformance {

enum class Verdict { kPassed, kFailed, kNotTested };

/// The outcome of one check.
struct Row {
  Check check;
  Verdict verdict = Verdict::kNotTested;
  Figure figure;        ///< if it passed
  std::string detail;   ///< if it failed, what was expected and what came; if not tested, why
  int repetitions = 0;  ///< failures that were tried again because this computer was late
};

struct Report {
  std::optional<hello_reply> unit;  ///< its first HELLO_REPLY
  std::vector<Row> rows;
  std::string trouble;  ///< what ended the test early; empty: nothing
  bool is_interrupted = false;
  bool is_tripped = true;  ///< the unit confirmed at the end that it is tripped

  int count(Verdict verdict) const;
  bool has_passed() const;  ///< no check failed, and nothing ended the test early
};

/// Sees the checks begin and end.
struct Progress {
  std::function<void(const Check&)> begin;
  std::function<void(const Row&)> end;
};

/// Whether the name is that of the check, or of its requirement: "C4" selects C4.1a.
bool is_selected_by(const Check& check, const std::string& name);

/// Runs the checks on the unit behind the transport, the selected ones alone if `only` names any,
/// and leaves it tripped. Setting `stop` ends the test after the message that it waits for.
Report run_checks(Transport& transport, const Settings& settings,
                  const std::vector<std::string>& only, const std::atomic<bool>& stop,
                  const Progress& progress);

}  // namespace firmware_iface::conformance
