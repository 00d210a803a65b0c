#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "estimator/fit/fit_options.hpp"

namespace service {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

/// Returns the size of the terminal at a file descriptor; 80 columns by 24 rows if it is unknown.
TerminalSize terminal_size(int descriptor);

/// Shortens a UTF-8 text to a number of columns and replaces the removed part by "…".
std::string shorten_to_width(const std::string& text, int columns);

/// Meaning of the first line of a text, which determines the colour of this line.
enum class TextTone { kPlain, kGood, kDoubtful, kBad };

/// Formats text for a terminal: wraps lines to the width, and prints headings ("Findings:") in
/// bold. Colours the first line, and the words "warning" and "fault" at the start of a line. Rows
/// of tables, whose cells are two or more spaces apart, are not wrapped.
/// @param in_colour  whether to write control codes
std::string format_for_terminal(const std::string& text, TextTone first, int columns,
                                bool in_colour);

/// Prints text on standard output. For a terminal, lines are wrapped and coloured (no colour if
/// NO_COLOR is set or TERM is "dumb"). Other outputs get the text unchanged.
void print_text(const std::string& text, TextTone first = TextTone::kPlain);

/// Default time limit of a command that uses the estimator. It equals the time limit of a job of
/// the service.
inline constexpr double kTimeLimitDefault = 3600.0;  // [s]

/// Flag that becomes true at the first Ctrl-C during the lifetime of this object, or at a time
/// limit, which the destructor reports. A second Ctrl-C ends the program as usual. A minute after
/// the time limit, the program ends in any case. Only one such object may exist at a time.
class InterruptFlag {
 public:
  /// @param time_limit  [s]; 0: none
  explicit InterruptFlag(double time_limit = 0.0);
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>& flag() const;

 private:
  double time_limit_;
};

/// Amount of progress that a command shows.
struct ProgressOptions {
  bool quiet = false;    ///< no progress
  bool verbose = false;  ///< a line for every iteration
};

/// Display of progress on standard error. On a terminal it is a single line that is rewritten, and
/// erased at the end. Other outputs get one line per stage.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressOptions options);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_verbose() const { return options_.verbose && !options_.quiet; }

  /// Shows the present state.
  /// @param text   text for a terminal
  /// @param stage  text for other outputs, printed when it changes
  void show(const std::string& text, const std::string& stage);

  /// Prints a line of the iteration log.
  void log(const std::string& line);

  /// Returns the time since the start, e.g. "12 s".
  std::string elapsed_text() const;

 private:
  void erase();

  ProgressOptions options_;
  bool terminal_;
  bool shown_ = false;  // a line is on the terminal
  std::string stage_;   // last printed stage
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Returns a monitor that shows stage, iteration, cost and elapsed time of a calibration as
/// progress and stops the calibration at Ctrl-C. If the progress is verbose, it also logs each
/// iteration. `interrupt` and `progress` must outlive the monitor.
/// @param threads number of threads; 0: one per processor
/// @param part    part of the work, e.g. "fold 2 of 5"; the text may change during the work. Null:
///                the stages of the calibration are numbered
estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* part = nullptr);

}  // namespace service
