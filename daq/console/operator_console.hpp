#pragma once

#include <iosfwd>
#include <optional>
#include <string>

namespace daq {

/// Interface to the operator at the rig, who reads messages and answers with lines of text.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Prints a paragraph. Its second and later lines start with `indent` blanks.
  virtual void say(const std::string& text, std::size_t indent = 0) = 0;

  /// Prints a question as a paragraph, without waiting for the answer.
  virtual void ask(const std::string& question, std::size_t indent = 0) = 0;

  /// Prints a line unchanged.
  virtual void say_line(const std::string& line) = 0;

  /// Updates a status line in place. Only on a terminal.
  virtual void show(const std::string& status) = 0;

  /// Returns the next line of input without its line end; nullopt if there is none yet. Never
  /// waits.
  virtual std::optional<std::string> take_answer() = 0;

  /// Returns whether the operator's input has ended.
  virtual bool has_left() = 0;

  /// Discards input that was typed before a question. Only on a terminal.
  virtual void forget_typed() = 0;
};

/// An operator at a terminal, or a script connected by pipes.
class OperatorConsole final : public Operator {
 public:
  /// @param input     descriptor to read from
  /// @param terminal  `out` is a terminal
  OperatorConsole(int input, std::ostream& out, bool terminal)
      : input_(input), out_(out), terminal_(terminal) {}

  void say(const std::string& text, std::size_t indent = 0) override;
  void ask(const std::string& question, std::size_t indent = 0) override;
  void say_line(const std::string& line) override;
  void show(const std::string& status) override;
  std::optional<std::string> take_answer() override;
  bool has_left() override;
  void forget_typed() override;

 private:
  void begin_line();
  std::string paragraph(const std::string& text, std::size_t indent) const;
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
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent);

}  // namespace daq
