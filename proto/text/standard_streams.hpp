#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace proto {

/// What every program does with its standard streams, from the start of main to its end.
///
/// What is printed on std::cout and std::cerr goes through `printable_lines`: whoever chose a name
/// or a text cannot command the terminal it is shown on. What the program itself tells the terminal
/// is written as TerminalCodes. A stream that was closed when the program began is not taken by the
/// first file it opens. One at a time.
class StandardStreams {
 public:
  /// @param program  its name, for the sentence about output that failed
  explicit StandardStreams(std::string program);
  ~StandardStreams();
  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;

  /// Hands over what was printed. Where that fails, says so on standard error, and the exit status
  /// is 1 whatever it would have been. A reader that has left ends the process by SIGPIPE, as it
  /// ends any other writer, unless whoever started the program ignores that.
  int finish(int exit_code);

  class Guard;  // of one stream

 private:
  std::string program_;
  bool ignores_broken_pipes_;
  std::unique_ptr<Guard> out_;
  std::unique_ptr<Guard> err_;
};

/// Codes for the terminal, which pass: "\r", "\033[K".
struct TerminalCodes {
  std::string_view codes;
};
std::ostream& operator<<(std::ostream& stream, TerminalCodes codes);

}  // namespace proto
