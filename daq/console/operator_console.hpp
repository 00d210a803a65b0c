#pragma once

#include <iosfwd>
#include <optional>
#include <string>

namespace daq {

/// Interface to the operator at the rig, who reads messages and answers with lines of text.
class OperatorInterface {
 public:
  virtual ~OperatorInterface() = default;

  /// Prints a paragraph. Its second and later lines start with `indent` blanks.
  virtual void say(const std::string& text, std::size_t indent = 0) = 0;

  /// Prints a question as a paragraph, without waiting for the answer.
  virtual void ask(const std::string& question, std::size_t indent = 0) = 0;

  /// Prints a line unchanged.
  virtual void print_line(const std::string& line) = 0;

  /// Updates a status line in place if the output is a terminal; otherwise does nothing.
  virtual void show(const std::string& status) = 0;

  /// Returns the next line of input without its line end; nullopt if there is none yet. Never
  /// waits.
  virtual std::optional<std::string> read_answer() = 0;

  /// Returns whether the operator's input has ended.
  virtual bool has_input_ended() = 0;

  /// Discards input that was typed before a question, if the input is a terminal.
  virtual void discard_typed_input() = 0;
};

/// Operator at a terminal, or a script that writes and reads through pipes.
class OperatorConsole final : public OperatorInterface {
 public:
  /// @param input     descriptor to read from
  /// @param terminal  `out` is a terminal
  OperatorConsole(int input, std::ostream& out, bool terminal)
      : input_(input), out_(out), terminal_(terminal) {}

  void say(const std::string& text, std::size_t indent = 0) override;
  void ask(const std::string& question, std::size_t indent = 0) override;
  void print_line(const std::string& line) override;
  void show(const std::string& status) override;
  std::optional<std::string> read_answer() override;
  bool has_input_ended() override;
  void discard_typed_input() override;

 private:
  void begin_line();
  std::string format_paragraph(const std::string& text, std::size_t indent) const;
  void read_input();

  int input_;  // negative: ended
  std::ostream& out_;
  bool terminal_;
  bool asks_ = false;   // the last line is a question
  bool shows_ = false;  // the last line is a status
  std::string typed_;
};

/// Wraps text between words to lines of at most `columns` characters. The second and later lines
/// start with `indent` blanks. A word that is longer than a line is not broken.
std::string wrap_text(const std::string& text, std::size_t columns, std::size_t indent);

}  // namespace daq
