#include "service/server/storage/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace service {
namespace {

// The log text of one event, at this level.
std::string written(LogLevel level, std::initializer_list<LogField> fields) {
  set_log_level(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  log_event(level, "tested", fields);
  std::string line = testing::internal::GetCapturedStderr();
  set_log_level(LogLevel::kOff);
  return line;
}

// The value of "name=..." in a line with that one field.
std::string value_of(std::string_view text) {
  const std::string line = written(LogLevel::kInfo, {{"name", text}});
  const std::size_t at = line.find(" name=");
  EXPECT_NE(at, std::string::npos) << line;
  EXPECT_EQ(line.back(), '\n');
  return line.substr(at + 6, line.size() - at - 7);
}

// A name that a client chose must not end its line or its quotes, nor control a terminal. For any
// bytes there is one line of printable characters, with escaped quotes.
TEST(Log, EscapesForeignText) {
  for (const std::string& text :
       {std::string("a\nlevel=error event=forged"), std::string("a\r\tb"),
        std::string("\x1b]0;title\a\x1b[2J"), std::string("\x7f"),
        std::string("\xC2\x9B"
                    "31m"),
        std::string("\xE2\x80\xAE"
                    "abc"),
        std::string("\xE2\x80\xA8"), std::string("\xFF\xFE\x80"), std::string("nul\0nul", 7),
        std::string("\" event=forged \""), std::string("\\\" x=\\")}) {
    const std::string value = value_of(text);
    SCOPED_TRACE(value);
    ASSERT_GE(value.size(), 2u);
    EXPECT_EQ(value.front(), '"');
    EXPECT_EQ(value.back(), '"');
    EXPECT_TRUE(
        std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    for (std::size_t k = 1; k + 1 < value.size(); ++k) {
      if (value[k] == '\\') {
        ++k;  // the escaped character
        ASSERT_LT(k + 1, value.size()) << "the closing quote is marked as part of the text";
      } else {
        EXPECT_NE(value[k], '"') << k;
      }
    }
  }
}

// Plain words are unchanged, everything else is quoted. Long texts are cut and marked.
TEST(Log, WritesPlainTextPlainly) {
  EXPECT_EQ(value_of("run-1.b_2:/x+Z"), "run-1.b_2:/x+Z");
  EXPECT_EQ(value_of(""), "\"\"");
  EXPECT_EQ(value_of("two words"), "\"two words\"");
  EXPECT_EQ(value_of("a=b"), "\"a=b\"");
  EXPECT_EQ(value_of("K\xC3\xB6nig"), "\"K\xC3\xB6nig\"");
  EXPECT_EQ(value_of(std::string(1024, 'x')), std::string(1024, 'x'));
  EXPECT_EQ(value_of(std::string(1025, 'x')), '"' + std::string(1024, 'x') + "...\"");
}

// Numbers of every type, in the given order, after time, level and event; nothing below the lowest
// level.
TEST(Log, IsOneLineOfFacts) {
  const std::string line = written(
      LogLevel::kWarning, {{"count", std::uint64_t{18446744073709551615U}}, {"share", 0.25}});
  EXPECT_EQ(line.rfind("time=", 0), 0u) << line;
  EXPECT_NE(line.find(" level=warning event=tested count=18446744073709551615 share=0.25\n"),
            std::string::npos)
      << line;
  EXPECT_NE(written(LogLevel::kError, {}).find(" level=error event=tested\n"), std::string::npos);
  EXPECT_EQ(written(LogLevel::kDebug, {}), "");
  set_log_level(LogLevel::kDebug);
  EXPECT_TRUE(logs(LogLevel::kDebug));
  set_log_level(LogLevel::kInfo);
  EXPECT_FALSE(logs(LogLevel::kDebug));
  EXPECT_TRUE(logs(LogLevel::kInfo));
  set_log_level(LogLevel::kOff);
  EXPECT_FALSE(logs(LogLevel::kError));
}

}  // namespace
}  // namespace service
