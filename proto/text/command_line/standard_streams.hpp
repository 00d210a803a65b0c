#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace proto {

/// Handles the standard streams of a program, from the start of main to its end.
///
/// Output on std::cout and std::cerr passes through `escape_lines_for_terminal`, so that names and
/// texts in input files cannot control the terminal. The program itself writes control codes as
/// TerminalCodes. The descriptor of a stream that was closed at the start is reserved, so that no
/// file opened later gets it. Only one instance may exist.
class StandardStreams {
 public:
  /// @param program  its name, for the message about failed output
  explicit StandardStreams(std::string program);
  ~StandardStreams();
  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;

  /// Flushes the standard output. If the flush fails, prints an error message on standard error and
  /// returns exit status 1. If the reader of a pipe has ended, SIGPIPE ends the process, unless the
  /// signal is ignored.
  int finish(int exit_code);

  class OutputFilter;  // filter of one stream

 private:
  std::string program_;
  bool ignores_broken_pipes_;
  std::unique_ptr<OutputFilter> out_;
  std::unique_ptr<OutputFilter> err_;
};

/// Control codes for the terminal, written unescaped: "\r", "\033[K".
struct TerminalCodes {
  std::string_view codes;
};
std::ostream& operator<<(std::ostream& stream, TerminalCodes codes);

}  // namespace proto
