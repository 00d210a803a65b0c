#pragma once

#include <chrono>
#include <string>

namespace service {

/// Amount of progress that a command shows.
struct ProgressOptions {
  bool quiet = false;    ///< no progress
  bool verbose = false;  ///< a line for every iteration
};

/// Display of progress on standard error. A terminal has a single line, which is rewritten and
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
  std::string elapsed() const;

 private:
  void erase();

  ProgressOptions options_;
  bool terminal_;
  bool shown_ = false;  // a line is on the terminal
  std::string stage_;   // last printed stage
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace service
