#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "daq/console/console_writer.hpp"
#include "daq/console/until_rule.hpp"
#include "daq/loop/supervisor.hpp"
#include "daq/safety/safety_limits.hpp"

namespace daq {

/// The properties of a run that its view shows.
struct RunViewSettings {
  double duration_s = 0.0;                 ///< longest duration of the scenario
  SafetyLimits limits = {};                ///< ranges of the bars
  std::vector<std::string> command_units;  ///< one per motor
};

/// Prints messages for the operator during a run. On a terminal, a view below the messages is
/// updated in place: progress, a bar for each joint and motor in its safety limits, and the
/// estimates of --until. On other outputs, only lines are printed. Never waits for the output.
class RunProgress {
 public:
  /// @param terminal  `out` is a terminal
  RunProgress(std::ostream& out, bool terminal, RunViewSettings settings)
      : terminal_(terminal), settings_(std::move(settings)), writer_(out) {}

  void say(const std::string& line) { writer_.add_line(line); }

  /// On a terminal, updates the view, at most ten times a second. On other outputs, prints the
  /// estimates from time to time.
  void show(const Supervisor& supervisor, const UntilRule& rule);

  /// Removes the view and waits until all messages are written. say() must not be called
  /// afterwards.
  void finish() { writer_.finish(); }

  /// Returns the lines of the view.
  std::vector<std::string> make_view(const Supervisor& supervisor, const UntilRule& rule) const;

 private:
  std::string progress_line(const Supervisor& supervisor) const;

  bool terminal_;
  RunViewSettings settings_;
  double running_since_s_ = -1.0;  // on the recording's clock; negative: not yet running
  double next_line_s_ = 0.0;       // of a line with estimates, on the recording's clock
  std::chrono::steady_clock::time_point shown_at_{};
  ConsoleWriter writer_;
};

/// Describes the delays until a run's commands took effect: "98 % of commands acted within 1 ms,
/// all within 5 ms". Empty if no delay was measured.
/// @param tick_s  period of the unit's timer, in which delays are counted
std::string describe_command_delays(const DelayCounts& delays, double tick_s);

/// Returns a progress bar such as "[#####.....]", with `width` characters between the brackets.
std::string format_progress_bar(double share, int width);

/// Returns a bar with a mark at the position of a value in its range, such as "|----o-----|", with
/// `width` characters between the ends. Beyond the range the mark is "<" or ">"; without a number,
/// there is no mark.
std::string format_range_bar(double value, double min, double max, int width);

}  // namespace daq
