#include "service/text/table_notation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "service/cli/terminal.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

// Numbers of one unit can be compared only if they share a power of ten.
TEST(TableNotation, SharesPowerOfTenBetweenQuantitiesWithSameUnit) {
  const std::vector<TableNotation> notations = table_notations(
      {{0.0044029, 3.9e-6, "kg·m²"}, {25.61e-6, 0.22e-6, "kg·m²"}, {9.82, 0.0, "m"}});
  EXPECT_EQ(notations[0].value(), "4.4029");
  EXPECT_EQ(notations[0].deviation(), "0.0039");
  EXPECT_EQ(notations[0].unit(), "10⁻³ kg·m²");
  EXPECT_EQ(notations[1].value(), "0.02561");
  EXPECT_EQ(notations[1].deviation(), "0.00022");
  EXPECT_EQ(notations[1].unit(), "10⁻³ kg·m²");
  EXPECT_EQ(notations[2].value(), "9.82");
  EXPECT_EQ(notations[2].unit(), "m");
  EXPECT_EQ(notations[0].interval(0.0043953, 0.0044105), "4.3953 … 4.4105");
  EXPECT_EQ(notations[0].with(0.0045, 0.0002).value(), "4.50");
}

// A value far below the others would need zeros that a reader has to count.
TEST(TableNotation, GivesDistantQuantityItsOwnPowerOfTen) {
  const std::vector<TableNotation> notations =
      table_notations({{1.5, 0.1, "m"}, {2.5e-9, 1e-10, "m"}, {0.0, INFINITY, "m"}});
  EXPECT_EQ(notations[0].value() + " " + notations[0].unit(), "1.50 m");
  EXPECT_EQ(notations[1].value() + " " + notations[1].unit(), "2.50 10⁻⁹ m");
  EXPECT_EQ(notations[2].value() + " " + notations[2].deviation(), "0 -");
}

TEST(FormatPercent, NeverUsesExponents) {
  EXPECT_EQ(format_percent(82.2e-6), "<0.0001 %");
  EXPECT_EQ(format_percent(0.007), "0.0070 %");
  EXPECT_EQ(format_percent(-0.0166, 3), "-0.0166 %");
  EXPECT_EQ(format_percent(12.3), "12 %");
  EXPECT_EQ(format_percent(123456.0), "123456 %");
  EXPECT_EQ(format_percent(0.0), "0 %");
}

TEST(ResultTable, AlignsDecimalPoints) {
  EXPECT_EQ(
      format_table({{"a", "b"}, {"x", "12 %"}, {"y", "-0.17 %"}, {"z", "none"}}, {false, true}),
      "a        b\nx  12    %\ny  -0.17 %\nz     none\n");
  EXPECT_EQ(format_table({{"a"}, {"1e-6"}, {"-1.5"}, {"inf"}}, {true}),
            "    a\n 1e-6\n-1.5\n  inf\n");
}

TEST(ResultTable, IsAtMostHundredColumnsWide) {
  const std::string words(30, 'w');
  const std::string text =
      format_table({{"name", "value", "remark"}, {words, "1", words + " " + words + " " + words}},
                   {false, true, false});
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(display_width(text.substr(begin, end - begin)), kTextColumnsMax) << text;
    begin = end + 1;
  }
}

TEST(TerminalText, WrapsAndColours) {
  const std::string text = "The model fits.\n\nFindings:\n  warning: one two three\n";
  EXPECT_EQ(terminal_text(text, Tone::kGood, 18, false),
            "The model fits.\n\nFindings:\n  warning: one two\n      three\n");
  EXPECT_EQ(terminal_text(text, Tone::kGood, 80, true),
            "\033[1m\033[32mThe model fits.\033[0m\n\n\033[1mFindings:\033[0m\n"
            "  \033[33mwarning:\033[0m one two three\n");
  // Text from files cannot control the terminal.
  EXPECT_EQ(terminal_text("a\033[2Jb\n", Tone::kPlain, 80, true).find('\033'), std::string::npos);
}

}  // namespace
}  // namespace service
