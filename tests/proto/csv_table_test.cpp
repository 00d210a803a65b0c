#include "proto/text/table/csv_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "proto/text/table/table_cells.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;

TEST(CsvTable, ReadsColumnsByNameInAnyOrder) {
  const CsvTable table = parse_csv("f.csv", "a,b,c\n1,x,-2.5e-1\n+3,y,4\n", {{"c"}, {"a"}});
  ASSERT_EQ(table.row_count(), 2);
  EXPECT_EQ(table.values[0], (std::vector<double>{-0.25, 4.0}));
  EXPECT_EQ(table.values[1], (std::vector<double>{1.0, 3.0}));
  EXPECT_EQ(table.where(1, 0), "f.csv:3:3");
}

// Files from spreadsheets and other systems: byte order mark, \r\n, quotes, spaces, blank lines.
TEST(CsvTable, AcceptsCommonVariantsOfCsv) {
  const CsvTable table = parse_csv(
      "f.csv", "\xEF\xBB\xBF\"a\" , b\r\n 1 ,\"2\"\r\n\r\n3,4\r\n\r\n\r\n", {{"a"}, {"b"}});
  ASSERT_EQ(table.row_count(), 2);
  EXPECT_EQ(table.values[1], (std::vector<double>{2.0, 4.0}));
  EXPECT_EQ(table.lines[1], 4);  // the blank line counts
}

TEST(CsvTable, AcceptsSemicolonsIfTheHeaderHasNoComma) {
  EXPECT_EQ(parse_csv("f.csv", "a;b\n1;2\n", {{"b"}}).values[0].at(0), 2.0);
  // A semicolon inside a name is no separator if the file uses commas.
  EXPECT_EQ(parse_csv("f.csv", "a,b(x;y)\n1,2\n", {{"b(x;y)"}}).values[0].at(0), 2.0);
}

// Quoted text may contain separators. A quote that never closes is an ordinary character.
TEST(CsvTable, SeparatorsWithinQuotesAreText) {
  const CsvTable table = parse_csv("f.csv",
                                   "\"a, b\",c,d\n"
                                   "\"x, \"\"y\"\"\",2,3\n"
                                   "\"x,4,5\n"
                                   "\"\",6,\"7\" \n",
                                   {{"c"}, {"d"}});
  EXPECT_EQ(table.header[0], "a, b");
  EXPECT_EQ(table.values[0], (std::vector<double>{2.0, 4.0, 6.0}));
  EXPECT_EQ(table.values[1], (std::vector<double>{3.0, 5.0, 7.0}));
}

TEST(CsvTable, NumbersNamesInOrderOfOccurrence) {
  const CsvTable table = parse_csv("f.csv", "n,x\nb.csv,1\n\"a,c\",2\nb.csv,3\n,4\n",
                                   {{.name = "n", .kind = CellKind::kName}, {"x"}});
  EXPECT_EQ(table.values[0], (std::vector<double>{0.0, 1.0, 0.0, 2.0}));
}

TEST(CsvTable, MissingCellsAreReadOnlyWhereAllowed) {
  const CsvTable allowed = parse_csv("f.csv", "a\n1\nnan\n2\n", {{"a", MissingCells::kAllowed}});
  EXPECT_TRUE(std::isnan(allowed.values[0].at(1)));
  for (const std::string word :
       {"NaN", "-nan", "NA", "N/A", "#N/A", "<NA>", "NULL", "None", "-", "--", "?", " "}) {
    const CsvTable table =
        parse_csv("f.csv", "a,b\n1,1\n2," + word + "\n3,3\n", {{"b", MissingCells::kAllowed}});
    EXPECT_TRUE(std::isnan(table.values[0].at(1))) << word;
    EXPECT_EQ(table.values[0].at(2), 3.0) << word;
  }
  for (const std::string word : {"inf", "-inf", "nine", "n", "---", "x-"}) {
    EXPECT_NE(refusal([&] {
                (void)parse_csv("f.csv", "a,b\n1,1\n2," + word + "\n3,3\n",
                                {{"b", MissingCells::kAllowed}});
              }).find("f.csv:3:2"),
              std::string::npos)
        << word;
  }
  const CsvTable at_end =
      parse_csv("f.csv", "a,b\n1,1\n2,nan\n", {{"a"}, {"b", MissingCells::kAllowedAtTheEnd}});
  EXPECT_TRUE(std::isnan(at_end.values[1].at(1)));
  expect_parts(
      refusal([] {
        (void)parse_csv("f.csv", "a,b\n1,\n2,1\n", {{"a"}, {"b", MissingCells::kAllowedAtTheEnd}});
      }),
      {"f.csv:2:2", "\"b\""});
}

TEST(CsvTable, RefusesWithPlaceCauseAndRemedy) {
  const auto refusal_of = [](const std::string& text) {
    return refusal([&] { (void)parse_csv("f.csv", text, {{"t"}, {"x"}}); });
  };
  expect_parts(refusal_of(""), {"f.csv", "empty"});
  expect_parts(refusal_of("\n\n"), {"f.csv", "empty"});
  expect_parts(refusal_of("t,x\n"), {"f.csv", "no rows"});
  expect_parts(refusal_of("0,1\n1,2\n"),
               {"f.csv:1: no columns \"t\", \"x\"", "no header line", "\"1\", \"2\"", "columns"});
  expect_parts(refusal_of("t,y\n0,1\n"), {"f.csv:1", "no column \"x\"", "\"t\", \"y\""});
  expect_parts(refusal_of("s,y\n0,1\n"),
               {"f.csv:1: no columns \"t\", \"x\"; the file has \"s\", \"y\"; correct recording"});
  expect_parts(refusal_of("t,x,x\n0,1,1\n"), {"f.csv:1", "two columns"});
  expect_parts(refusal_of("t,x\n0,1\n1,nan\n2,3\n"), {"f.csv:3:2", "\"x\"", "\"nan\"", "remove"});
  expect_parts(refusal_of("t,x\n0,\n"), {"f.csv:2:2", "an empty cell"});
  expect_parts(refusal_of("t,x\n0,abc\n"),
               {"f.csv:2:2: column \"x\": holds text, such as \"abc\"; use a column of numbers"});
  expect_parts(refusal_of("t,x\n0,1\n1,abc\n"), {"f.csv:3:2", "\"abc\" is not a finite number"});
  expect_parts(refusal_of("t,x\n0,1.2.3\n"), {"f.csv:2:2", "\"1.2.3\" is not a finite number"});
  expect_parts(refusal_of("t,x\n0,1e999\n"), {"f.csv:2:2", "not a finite number"});
  expect_parts(refusal_of("t,x\n0,inf\n"), {"f.csv:2:2", "not a finite number"});
  expect_parts(refusal_of("t,x\n0,1\n1\n"), {"f.csv:3", "1 cells, the header 2"});
  expect_parts(refusal_of(std::string("t,x\n\0,1\n", 8)), {"f.csv", "not a text file"});
}

// A column that cannot be read must not hide the others.
TEST(CsvTable, ReadsEachColumnIndependently) {
  const CsvColumns table = read_csv_columns(
      "f.csv", "t,word,late,x,x,gap,\n0,a,1,1,1,1,\n1,b,?,2,2,,\n2,c,no,3,3,3,\n3,d,4,4,4,4,\n");
  const auto column = [&](const std::string& name) {
    return *std::ranges::find(table.columns, name, &CsvColumn::name);
  };
  EXPECT_EQ(column("t").values, (std::vector<double>{0, 1, 2, 3}));
  EXPECT_TRUE(column("word").values.empty());
  EXPECT_EQ(column("word").fault, "");
  EXPECT_TRUE(column("late").values.empty());
  expect_parts(column("late").fault, {"f.csv:4:3", "\"no\" is not a finite number"});
  expect_parts(column("x").fault, {"f.csv:1: two columns have the name \"x\""});
  ASSERT_EQ(column("gap").values.size(), 4U);
  EXPECT_TRUE(std::isnan(column("gap").values[1]));
  EXPECT_EQ(table.columns.size(), 6U);
}

TEST(CsvTable, RefusesRowsOfAnotherLengthInEachColumn) {
  const CsvColumns table = read_csv_columns("f.csv", "t,x\n0,1\n1\n2,3\n");
  for (const CsvColumn& column : table.columns) {
    EXPECT_TRUE(column.values.empty());
    expect_parts(column.fault, {"f.csv:3", "1 cells, the header 2"});
  }
}

// A fault in a last line that the end of the file cuts off does not close its column.
TEST(CsvTable, IgnoresAnIncompleteLastLineInEachColumn) {
  for (const CsvColumn& column : read_csv_columns("f.csv", "t,x\n0,1\n1,2\n2,3e").columns) {
    EXPECT_EQ(column.values.size(), 2U) << column.fault;
  }
}

// A file of 90 MB in one line, or of rows of 100 000 cells, took minutes.
TEST(CsvTable, LimitsTheNumberOfColumns) {
  std::string row = "1";
  for (std::size_t k = 1; k < kTableColumnsMax; ++k) row += ",1";
  const std::string rows = row + "\n" + row + "\n" + row + "\n";
  EXPECT_EQ(read_csv_columns("f.csv", rows).columns.size(), kTableColumnsMax);
  const std::string more = row + ",1\n" + row + ",1\n" + row + ",1\n";
  expect_parts(refusal([&] { (void)read_csv_columns("f.csv", more); }),
               {"f.csv", "more than 10000 cells", "save only the signals"});
}

// Random bytes and random damage to a good file give either a table of the right shape or a
// refusal. The sanitizers also find reads past the end.
TEST(CsvTable, SurvivesDamage) {
  std::mt19937 random(7);
  std::string good = "t,x\n";
  for (int k = 0; k < 30; ++k) good += std::to_string(k) + "," + std::to_string(0.5 * k) + "\n";
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    const int edits = 1 + static_cast<int>(random() % 4);
    for (int edit = 0; edit < edits; ++edit) {
      const std::size_t at = random() % text.size();
      const char byte =
          round % 2 == 0 ? static_cast<char>(random() % 256) : ",;\n\r.e-+n\""[random() % 10];
      if (random() % 3 == 0) {
        text.resize(at + 1);
      } else {
        text[at] = byte;
      }
    }
    try {
      const CsvTable table = parse_csv("f.csv", text, {{"t"}, {"x"}});
      for (const auto& column : table.values) {
        ASSERT_EQ(static_cast<int>(column.size()), table.row_count());
        for (const double value : column) ASSERT_TRUE(std::isfinite(value));
      }
    } catch (const InputError& error) {
      ASSERT_EQ(std::string(error.what()).rfind("f.csv", 0), 0U) << error.what();
    }
  }
}

}  // namespace
}  // namespace proto
