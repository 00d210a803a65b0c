#include "service/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string_view>

#include "proto/text/command_line/standard_streams.hpp"
#include "proto/text/printable.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr std::string_view kReset = "\033[0m", kBold = "\033[1m", kRed = "\033[31m",
                           kGreen = "\033[32m", kYellow = "\033[33m";

constexpr std::array kTones = {std::string_view(), kGreen, kYellow, kRed};  // by Tone

struct ColouredWord {
  std::string_view word, code;
};
constexpr std::array kSeverities = {ColouredWord{"warning:", kYellow},
                                    ColouredWord{"fault:", kRed}};

std::string painted(std::string_view text, std::string_view code) {
  if (code.empty()) return std::string(text);
  return std::string(code).append(text).append(kReset);
}

/// Returns a line in colour. A heading is not indented and ends with a colon.
std::string in_colours(const std::string& line) {
  if (!line.empty() && line.front() != ' ' && line.back() == ':') return painted(line, kBold);
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  for (const ColouredWord& each : kSeverities) {
    if (!std::string_view(line).substr(begin).starts_with(each.word)) continue;
    return line.substr(0, begin) + painted(each.word, each.code) +
           line.substr(begin + each.word.size());
  }
  return line;
}

bool has_colour() {
  const char* const forbidden = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (forbidden == nullptr || *forbidden == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

std::string cut_to_width(const std::string& text, int columns) {
  if (display_width(text) <= columns) return text;
  std::string cut;
  int width = 0;
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (starts && ++width >= columns) break;
    cut += c;
  }
  return cut += "…";
}

std::string terminal_text(const std::string& text, Tone first, int columns, bool in_colour) {
  constexpr int kHangingIndent = 4;
  std::string all;
  std::istringstream lines(proto::escape_lines_for_terminal(text));
  bool is_first = true;
  for (std::string line; std::getline(lines, line);) {
    const auto indent = static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
    const int hanging = indent == 0 ? 0 : indent + kHangingIndent;
    for (const std::string& part : wrap_text(line, columns, hanging)) {
      const bool paints_all = is_first && first != Tone::kPlain;
      all += !in_colour ? part
             : paints_all
                 ? painted(part, std::string(kBold).append(kTones[static_cast<std::size_t>(first)]))
                 : in_colours(part);
      all += '\n';
    }
    is_first = false;
  }
  return all;
}

void print_text(const std::string& text, Tone first) {
  if (::isatty(STDOUT_FILENO) != 1) {
    std::cout << text << std::flush;
    return;
  }
  const int columns = std::min(terminal_size(STDOUT_FILENO).columns, kTextColumnsMax);
  const std::string formatted = terminal_text(text, first, columns, has_colour());
  std::cout << proto::TerminalCodes{formatted} << std::flush;
}

}  // namespace service
