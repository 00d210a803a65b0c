#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "daq/loop/supervisor.hpp"

namespace daq {

/// Prints messages for the operator during a run. On a terminal, a progress line below the messages
/// is updated in place.
class RunProgress {
 public:
  /// @param terminal    `out` is a terminal; otherwise only lines are printed
  /// @param duration_s  longest duration of the scenario
  RunProgress(std::ostream& out, bool terminal, double duration_s);
  ~RunProgress() { clear(); }
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  void say(const std::string& line);

  /// Updates the progress line, at most five times a second.
  void show(const Supervisor& supervisor);

  /// Removes the progress line.
  void clear();

 private:
  std::ostream& out_;
  bool terminal_;
  double duration_s_;
  double running_since_s_ = -1.0;  // on the recording's clock; negative: not yet running
  std::chrono::steady_clock::time_point shown_at_{};
  bool shown_ = false;
};

/// Describes the delays until a run's commands took effect: "98 % of commands acted within 1 ms,
/// all within 5 ms". Empty if no delay was measured.
/// @param tick_s  period of the unit's timer, in which delays are counted
std::string describe_command_delays(const DelayCounts& delays, double tick_s);

/// Returns a progress bar such as "[#####.....]", with `width` characters between the brackets.
std::string format_progress_bar(double share, int width);

}  // namespace daq
