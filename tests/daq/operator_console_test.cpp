#include "daq/console/operator_console.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

namespace daq {
namespace {

TEST(WrappedText, BreaksBetweenWords) {
  EXPECT_EQ(wrap_text("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrap_text("one two three", 13, 2), "one two three");
  EXPECT_EQ(wrap_text("µµµ µµµ µµµ", 7, 0), "µµµ µµµ\nµµµ");  // columns, not bytes
  EXPECT_EQ(wrap_text("a incomprehensible b", 5, 1), "a\n incomprehensible\n b");
  EXPECT_EQ(wrap_text("", 5, 1), "");
}

class Piped : public ::testing::Test {
 protected:
  Piped() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Piped() override {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  void type(const std::string& text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void leave() {
    ::close(ends_[1]);
    ends_[1] = -1;
  }

  int ends_[2] = {-1, -1};
};

// Lines are read one by one as they arrive; an incomplete line does not count.
TEST_F(Piped, AnswersLineByLine) {
  std::ostringstream out;
  OperatorConsole person(ends_[0], out, false);
  EXPECT_FALSE(person.read_answer().has_value());
  type("y");
  EXPECT_FALSE(person.read_answer().has_value());
  type("es \r\n\nr\n");
  EXPECT_EQ(person.read_answer(), "yes");
  EXPECT_EQ(person.read_answer(), "");
  EXPECT_FALSE(person.has_input_ended());
  EXPECT_EQ(person.read_answer(), "r");
  EXPECT_FALSE(person.read_answer().has_value());
  EXPECT_FALSE(person.has_input_ended());
}

// A last line without newline is still an answer.
TEST_F(Piped, HasLeftAfterTheLastLine) {
  std::ostringstream out;
  OperatorConsole person(ends_[0], out, false);
  type("y\n");
  leave();
  EXPECT_FALSE(person.has_input_ended());
  EXPECT_EQ(person.read_answer(), "y");
  EXPECT_TRUE(person.has_input_ended());
  EXPECT_FALSE(person.read_answer().has_value());
}

// A script gets whole sentences and no status line, a terminal gets lines that fit its width.
TEST_F(Piped, PrintsForScriptsAndForTerminals) {
  const std::string sentence(60, 'x');
  std::ostringstream script, terminal;
  OperatorConsole for_script(ends_[0], script, false);
  for_script.ask("  " + sentence + " " + sentence, 2);
  for_script.show("status");
  for_script.say("done");
  EXPECT_EQ(script.str(), "  " + sentence + " " + sentence + "\ndone\n");
  OperatorConsole for_terminal(ends_[0], terminal, true);
  for_terminal.ask("  " + sentence + " " + sentence, 2);
  for_terminal.say("done");
  EXPECT_EQ(terminal.str(), "  " + sentence + "\n  " + sentence + " \ndone\n");
}

}  // namespace
}  // namespace daq
