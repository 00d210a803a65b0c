#pragma once

#include <string>

namespace service {

/// Display of progress on standard error: on a terminal a single line that is rewritten, elsewhere
/// a new line each time, and no output if quiet.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  /// Ends the line with a line break on a terminal.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);

 private:
  bool quiet_;
  bool terminal_;
  bool shown_ = false;
};

}  // namespace service
