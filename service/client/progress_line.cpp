#include "service/client/progress_line.hpp"

#include <unistd.h>

#include <iostream>

#include "proto/text/standard_streams.hpp"

namespace service {

using proto::TerminalCodes;

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_) std::cerr << '\n';
}

void ProgressLine::show(const std::string& text) {
  if (quiet_) return;
  // "\033[K" clears the rest of a longer previous text.
  if (terminal_) {
    std::cerr << TerminalCodes{"\r"} << text << TerminalCodes{"\033[K"} << std::flush;
  } else {
    std::cerr << text << '\n';
  }
  shown_ = true;
}

}  // namespace service
