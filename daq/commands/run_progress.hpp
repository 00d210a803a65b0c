#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "daq/loop/supervisor.hpp"

namespace daq {

/// What an operator reads while a run goes on: lines, and on a terminal below them one that shows
/// how far the run is, rewritten in place.
class RunProgress {
 public:
  /// @param terminal    whether `out` is one; elsewhere there are only lines
  /// @param duration_s  of the scenario, the longest it runs
  RunProgress(std::ostream& out, bool terminal, double duration_s);
  ~RunProgress() { clear(); }
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  void say(const std::string& line);

  /// Rewrites the line about the run, at most five times a second.
  void show(const Supervisor& supervisor);

  /// Takes it away.
  void clear();

 private:
  std::ostream& out_;
  bool terminal_;
  double duration_s_;
  double running_since_s_ = -1.0;  // on the recording's clock; negative: not yet
  std::chrono::steady_clock::time_point shown_at_{};
  bool shown_ = false;
};

/// "98 % of commands acted within 1 ms, all within 5 ms"; empty when no delay was measured.
/// @param tick_s  period of the unit's timer, in which delays are counted
std::string describe_delays(const DelayCounts& delays, double tick_s);

/// "[#####.....]", so many characters wide between the brackets.
std::string progress_bar(double share, int width);

}  // namespace daq
