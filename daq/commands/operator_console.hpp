#pragma once

#include <iosfwd>
#include <optional>
#include <string>

namespace daq {

/// The person at the rig: reads sentences and answers in lines.
class Operator {
 public:
  virtual ~Operator() = default;

  /// A paragraph, whose further lines are indented by `indent`.
  virtual void say(const std::string& text, std::size_t indent = 0) = 0;

  /// A paragraph that waits for an answer.
  virtual void ask(const std::string& question, std::size_t indent = 0) = 0;

  /// A line as it is.
  virtual void say_line(const std::string& line) = 0;

  /// A line that changes in place; shown on a terminal alone.
  virtual void show(const std::string& status) = 0;

  /// A line of the operator's, without its end, if there is one; never waits.
  virtual std::optional<std::string> take_answer() = 0;

  /// True once no answer can come any more.
  virtual bool has_left() = 0;

  /// Forgets what was typed before it was asked for, on a terminal.
  virtual void forget_typed() = 0;
};

/// An operator at a terminal, or a script at a pipe.
class OperatorConsole final : public Operator {
 public:
  /// @param input     descriptor to read from
  /// @param terminal  whether `out` is one
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

  int input_;  // negative: has ended
  std::ostream& out_;
  bool terminal_;
  bool asks_ = false;   // the last line is a question
  bool shows_ = false;  // the last line is a status
  std::string typed_;
};

/// Text in lines of at most so many columns, broken between words; lines after the first begin with
/// `indent` blanks. A word that is longer stays whole.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent);

}  // namespace daq
