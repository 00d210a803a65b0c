#pragma once

#include <string>

namespace service {

/// Progress on standard error: one rewritten line on a terminal, separate lines elsewhere, nothing
/// if quiet.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  /// Ends the line on a terminal.
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
