#pragma once

#include <iosfwd>
#include <optional>
#include <string>

namespace daq {

/// The operator at the rig, who reads sentences and answers in lines.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Prints a paragraph, whose further lines are indented by `indent`.
  virtual void say(const std::string& text, std::size_t indent = 0) = 0;

  /// Prints a paragraph that waits for an answer.
  virtual void ask(const std::string& question, std::size_t indent = 0) = 0;

  /// Prints a line unchanged.
  virtual void say_line(const std::string& line) = 0;

  /// Prints a line that is updated in place; on a terminal only.
  virtual void show(const std::string& status) = 0;

  /// Returns a line of input without its end, if there is one; never waits.
  virtual std::optional<std::string> take_answer() = 0;

  /// Returns whether no more input can come.
  virtual bool has_left() = 0;

  /// Discards input typed before a question, on a terminal.
  virtual void forget_typed() = 0;
};

/// Console at a terminal, or a script at a pipe.
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

/// Wraps text to lines of at most `columns`, broken between words; further lines start with
/// `indent` blanks. A longer word is not broken.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent);

}  // namespace daq
