#include "service/cli/progress_line.hpp"

#include <unistd.h>

#include <cmath>
#include <iostream>

#include "proto/text/command_line/standard_streams.hpp"
#include "service/cli/terminal.hpp"

namespace service {

using proto::TerminalCodes;

ProgressLine::ProgressLine(ProgressOptions options)
    : options_(options), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() {
  if (shown_) std::cerr << TerminalCodes{"\r\033[K"} << std::flush;
  shown_ = false;
}

void ProgressLine::show(const std::string& text, const std::string& stage) {
  if (options_.quiet) return;
  if (terminal_) {
    // "\033[K" clears the rest of a longer previous text.
    std::cerr << TerminalCodes{"\r"} << cut_to_width(text, terminal_size(STDERR_FILENO).columns - 1)
              << TerminalCodes{"\033[K"} << std::flush;
    shown_ = true;
  } else if (stage != stage_ && !options_.verbose) {
    std::cerr << stage << '\n';
    stage_ = stage;
  }
}

void ProgressLine::log(const std::string& line) {
  if (options_.quiet) return;
  erase();
  std::cerr << line << '\n';
}

std::string ProgressLine::elapsed() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  return std::to_string(std::lround(std::floor(passed.count()))) + " s";
}

}  // namespace service
