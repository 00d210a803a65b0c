#include "daq/console/operator_console.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <ostream>

#include "proto/text/command_line/standard_streams.hpp"

namespace daq {
namespace {

constexpr std::size_t kColumns = 96;
constexpr std::size_t kAnswerMax = 1000;

// Returns the width in columns; continuation bytes of UTF-8 take none.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string wrap_text(const std::string& text, std::size_t columns, std::size_t indent) {
  std::string lines, line;
  std::size_t used = 0;  // columns in use, including the indentation
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t width = columns_of(word);
    if (!line.empty() && used + 1 + width > columns) {
      lines += line + '\n' + std::string(indent, ' ');
      line = word;
      used = indent + width;
      continue;
    }
    used += width + (line.empty() ? 0 : 1);
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line;
}

void OperatorConsole::begin_line() {
  if (shows_) out_ << proto::TerminalCodes{"\r\033[K"};
  if (asks_) out_ << '\n';
  asks_ = shows_ = false;
}

// On a terminal lines are wrapped; a script reads whole sentences.
std::string OperatorConsole::format_paragraph(const std::string& text, std::size_t indent) const {
  if (!terminal_) return text;
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(0, first) + wrap_text(text.substr(first), kColumns - first, indent);
}

void OperatorConsole::ask(const std::string& question, std::size_t indent) {
  if (!terminal_) return print_line(question);
  begin_line();
  out_ << format_paragraph(question, indent) << ' ' << std::flush;
  asks_ = true;
}

void OperatorConsole::say(const std::string& text, std::size_t indent) {
  print_line(format_paragraph(text, indent));
}

void OperatorConsole::print_line(const std::string& line) {
  begin_line();
  out_ << line << std::endl;
}

void OperatorConsole::show(const std::string& status) {
  if (!terminal_) return;
  if (asks_) out_ << '\n';
  asks_ = false;
  out_ << proto::TerminalCodes{"\r"} << status << proto::TerminalCodes{"\033[K"} << std::flush;
  shows_ = true;
}

void OperatorConsole::read_input() {
  pollfd descriptor{input_, POLLIN, 0};
  if (input_ < 0 || ::poll(&descriptor, 1, 0) <= 0) return;
  std::array<char, kAnswerMax> buffer{};
  const ssize_t size_bytes = ::read(input_, buffer.data(), buffer.size());
  if (size_bytes < 0 && errno == EINTR) return;
  if (size_bytes <= 0) {
    input_ = -1;
    return;
  }
  typed_.append(buffer.data(), static_cast<std::size_t>(size_bytes));
}

std::optional<std::string> OperatorConsole::read_answer() {
  if (typed_.find('\n') == std::string::npos) read_input();
  const std::size_t end = typed_.find('\n');
  if (end == std::string::npos) return {};
  std::string answer = typed_.substr(0, end);
  typed_.erase(0, end + 1);
  // On a terminal, the operator's Enter has already ended the line.
  if ((asks_ || shows_) && ::isatty(input_) == 0) out_ << '\n';
  asks_ = shows_ = false;
  const std::size_t first = std::min(answer.find_first_not_of(" \t\r"), answer.size());
  answer.erase(0, first);
  while (!answer.empty() && std::isspace(static_cast<unsigned char>(answer.back())) != 0) {
    answer.pop_back();
  }
  return answer;
}

bool OperatorConsole::has_input_ended() {
  if (typed_.find('\n') != std::string::npos) return false;
  read_input();
  return input_ < 0 && typed_.find('\n') == std::string::npos;
}

void OperatorConsole::discard_typed_input() {
  if (input_ < 0 || ::isatty(input_) == 0) return;
  ::tcflush(input_, TCIFLUSH);
  typed_.clear();
}

}  // namespace daq
