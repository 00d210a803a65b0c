#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>

#include "service/messages/message_table.hpp"
#include "service/messages/message_text.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using namespace test_support;
using estimator::Message;
using estimator::MessageCode;
using estimator::Quantity;

// The table of messages: complete, well-formed and rendered by its rules.

/// Returns what is wrong with a template; empty if nothing is. Independent of `fill_template`.
std::string template_fault(std::string text) {
  // Doubled characters stand for themselves.
  text = std::regex_replace(text, std::regex(R"(\{\{|\}\}|\[\[|\]\])"), "");
  // A name; a name with a number of digits or a separator; a name with two texts.
  static const std::regex kPlaceholder(R"(\{[a-z][a-z0-9_]*(:[^{}|]+|\|[^{}|]*\|[^{}|]*)?\})");
  text = std::regex_replace(text, kPlaceholder, "");
  if (text.find_first_of("{}") != std::string::npos) return "invalid placeholder: " + text;
  text = std::regex_replace(text, std::regex(R"(\[[^\[\]]*\])"), "");
  return text.find_first_of("[]") == std::string::npos ? "" : "unbalanced bracket: " + text;
}

std::string filled(const std::string& text, std::vector<estimator::Argument> arguments) {
  return fill_template(text, {MessageCode::kText, std::move(arguments)});
}

TEST(MessageTable, HasOneRowPerCode) {
  const std::vector<MessageRow> rows = message_rows();
  for (int code = 0; code < estimator::kMessageCodeCount; ++code) {
    EXPECT_EQ(std::ranges::count(rows, static_cast<MessageCode>(code), &MessageRow::code), 1)
        << "code " << code;
  }
  EXPECT_EQ(std::ssize(rows), estimator::kMessageCodeCount)
      << "kMessageCodeCount must follow from the last code";
}

TEST(MessageTable, HasASentenceAndAKebabCaseIdInEveryRow) {
  static const std::regex kKebabCase("[a-z0-9]+(-[a-z0-9]+)*");
  for (const MessageRow& row : message_rows()) {
    EXPECT_TRUE(std::regex_match(row.id, kKebabCase)) << row.id;
    EXPECT_STRNE(row.sentence, "") << row.id;
  }
}

TEST(MessageTable, HasWellFormedTemplates) {
  for (const MessageRow& row : message_rows()) {
    for (const char* text : {row.sentence, row.advice, row.treatment}) {
      EXPECT_EQ(template_fault(text), "") << row.id;
    }
  }
  for (const char* bad :
       {"{a", "a}", "{}", "{a|b}", "{a|b|c|d}", "{a:}", "{A}", "[a", "a]", "[a[b]c]", "{a{b}}"}) {
    EXPECT_NE(template_fault(bad), "") << bad;
  }
  for (const char* good : {"{a}", "{a:4}", "{a|b|}", "[, {a}]", "{{ {a} }}", "[[{a}]]"}) {
    EXPECT_EQ(template_fault(good), "") << good;
  }
}

TEST(MessageTable, RejectsAMissingArgument) {
  EXPECT_THROW(filled("{count}", {}), std::logic_error);
  EXPECT_THROW(filled("[{a}]{count|row|rows}", {{"a", 1}}), std::logic_error);
  EXPECT_THROW(format_message(Message(MessageCode::kOutliers)), std::logic_error);
}

TEST(MessageTable, RejectsACodeWithoutRow) {
  EXPECT_THROW(find_message_row(static_cast<MessageCode>(estimator::kMessageCodeCount)),
               std::logic_error);
}

TEST(MessageTable, OmitsABracketIfAnArgumentInItIsMissing) {
  const std::string text = "at {first} s[, the last at {last} s]";
  EXPECT_EQ(filled(text, {{"first", 1}}), "at 1 s");
  EXPECT_EQ(filled(text, {{"first", 1}, {"last", 2}}), "at 1 s, the last at 2 s");
  EXPECT_EQ(filled("[{a} and {b}][ or {c}]", {{"a", 1}, {"c", 3}}), " or 3");
}

TEST(MessageTable, ChoosesATextByCountOrFlag) {
  const std::string text = "{n|row is|rows are}";
  EXPECT_EQ(filled(text, {{"n", 1}}), "row is");
  EXPECT_EQ(filled(text, {{"n", 0}}), "rows are");
  EXPECT_EQ(filled(text, {{"n", 2}}), "rows are");
  EXPECT_EQ(filled(text, {{"n", -1}}), "rows are");
  EXPECT_EQ(filled(text, {{"n", 1.0}}), "row is");
  EXPECT_EQ(filled(text, {{"n", true}}), "row is");
  EXPECT_EQ(filled(text, {{"n", false}}), "rows are");
  EXPECT_EQ(filled("[a{n|, b|}]", {{"n", false}}), "a");
}

TEST(MessageTable, FormatsValues) {
  EXPECT_EQ(filled("{x}", {{"x", std::string("a {b} [c]")}}), "a {b} [c]");
  EXPECT_EQ(filled("{x:?}", {{"x", std::string("a")}}), "\"a\"");
  EXPECT_EQ(filled("{x}", {{"x", 123456}}), "123456");
  EXPECT_EQ(filled("{x} {x:6}", {{"x", 3.14159265}}), "3.14 3.14159");
  EXPECT_EQ(filled("{x}", {{"x", Quantity{0.25, "rad"}}}), "0.25 rad");
  EXPECT_EQ(filled("{x:4}", {{"x", Quantity{3.14159265}}}), "3.142");
  EXPECT_EQ(filled("{x}", {{"x", Quantity{10.04, "ms", 0.12}}}), "10.04 ± 0.12 ms");
  EXPECT_EQ(filled("{x}", {{"x", std::vector<std::string>{"a", "b"}}}), "a, b");
  EXPECT_EQ(filled("{x}", {{"x", std::vector<Message>{"one", "two"}}}), "one; two");
}

TEST(MessageTable, KeepsDoubledCharacters) {
  EXPECT_EQ(filled("stops {{ upper {{ value: {x} }} }} [[-]]", {{"x", 2}}),
            "stops { upper { value: 2 } } [-]");
}

TEST(MessageTable, JoinsSentenceAndAdviceOfAnError) {
  EXPECT_EQ(
      format_error({MessageCode::kFixedLoop, {{"joint", std::string("w")}}}),
      "joint \"w\" closes a loop in which no joint moves: its bodies are already fixed to one "
      "another; remove the joint");
  EXPECT_EQ(format_error("a sentence"), "a sentence");
}

// The parts of a loop's gap, which depend on one another.
TEST(MessageTable, DescribesAnOpenLoop) {
  const auto gap = [](bool apart, bool twisted) {
    Message fault(MessageCode::kOpenLoop, {{"joint", std::string("R")},
                                           {"is_both", apart && twisted},
                                           {"is_half_turn_off", !apart && !twisted}});
    if (apart) fault.arguments.push_back({"distance", Quantity{3.1, "mm"}});
    if (twisted) fault.arguments.push_back({"twist", Quantity{0.2, "rad"}});
    return format_message(fault);
  };
  const std::string joint = "joint \"R\" leaves its loop ";
  const std::string end = " in every tested configuration";
  EXPECT_EQ(gap(true, true), joint + "open by 3.1 mm and twisted by 0.2 rad" + end);
  EXPECT_EQ(gap(true, false), joint + "open by 3.1 mm" + end);
  EXPECT_EQ(gap(false, true), joint + "twisted by 0.2 rad" + end);
  EXPECT_EQ(gap(false, false), joint + "closed only half a turn off" + end);
}

// docs/reference/messages.md lists the message table. RIGCAL_WRITE_PAGES=1 writes it anew.

/// Returns a template as text for people: names in italics, alternatives with a slash.
std::string readable(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\{\{)"), "\x01");
  text = std::regex_replace(text, std::regex(R"(\}\})"), "\x02");
  text = std::regex_replace(text, std::regex(R"(\{[a-z0-9_]+\|([^{}|]*)\|([^{}|]*)\})"), "$1/$2");
  text = std::regex_replace(text, std::regex(R"(\{([a-z0-9_]+):\?\})"), "\"*$1*\"");
  text = std::regex_replace(text, std::regex(R"(\{([a-z0-9_]+)(:[^{}]*)?\})"), "*$1*");
  text = std::regex_replace(text, std::regex("\x01"), "{");
  text = std::regex_replace(text, std::regex("\x02"), "}");
  return std::regex_replace(text, std::regex(R"(\|)"), "\\|");
}

std::string page() {
  std::string text =
      "# Messages about recordings, rig files and results\n\n"
      "This page lists every finding, note and verdict of rigcal. It is generated from the message "
      "table in\n[service/messages](../../service/messages). Words in italics stand for values. "
      "Alternatives are separated by a\nslash. Parts in brackets appear only if their values are "
      "known. [Findings](findings.md) explains the\nfindings and how rigcal reacts to them.\n\n"
      "| message | severity | sentence | what to do | what rigcal did |\n|---|---|---|---|---|\n";
  for (const MessageRow& row : message_rows()) {
    if (row.code <= estimator::MessageCode::kInRecording) continue;  // frames of other texts
    text += "| `" + std::string(row.id) + "` | " + severity_name(estimator::severity_of(row.code)) +
            " | " + readable(row.sentence) + " | " + readable(row.advice) + " | " +
            readable(row.treatment) + " |\n";
  }
  return text;
}

TEST(MessagePage, ListsTheMessageTable) {
  const std::string path = source_folder() + "/docs/reference/messages.md";
  if (std::getenv("RIGCAL_WRITE_PAGES") != nullptr) std::ofstream(path) << page();
  std::ostringstream stored;
  stored << std::ifstream(path).rdbuf();
  EXPECT_TRUE(stored.str() == page())
      << path << " is out of date; run RIGCAL_WRITE_PAGES=1 build/bin/service_tests "
      << "--gtest_filter='MessagePage*'";
}

}  // namespace
}  // namespace service
