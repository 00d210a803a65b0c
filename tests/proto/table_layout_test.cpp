#include "proto/text/table/table_layout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "proto/text/table/csv_table.hpp"
#include "proto/text/table/table_cells.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;

using Names = std::vector<std::string>;
using Values = std::vector<double>;

/// Reads all columns of a text.
CsvTable read_all(const std::string& text, const Names& names = {}) {
  std::vector<ColumnRequest> requests;
  for (const std::string& name : parse_csv_header("f.csv", text, names).names) {
    requests.push_back({name, MissingCells::kAllowed});
  }
  CsvTable table = read_csv("f.csv", text, requests, names);
  require_no_fault(table);
  return table;
}

std::string refusal_of(const std::string& text, const Names& names = {}) {
  return refusal([&] { (void)read_all(text, names); });
}

/// Expects columns t = 0, 0.1 and x = 1.5, 2.5, and a note with these parts.
void expect_table(const std::string& text, const Names& header,
                  const std::vector<std::string>& note) {
  SCOPED_TRACE(text);
  const CsvTable table = read_all(text);
  EXPECT_EQ(table.header, header);
  ASSERT_EQ(table.values.size(), 2U);
  EXPECT_EQ(table.values[0], (Values{0.0, 0.1}));
  EXPECT_EQ(table.values[1], (Values{1.5, 2.5}));
  if (note.empty()) {
    EXPECT_EQ(table.layout, "");
  } else {
    expect_parts(table.layout, note);
  }
}

TEST(TableLayout, FindsTheSeparator) {
  const Names header = {"t", "x"};
  expect_table("t,x\n0,1.5\n0.1,2.5\n", header, {});
  expect_table("t;x\n0;1.5\n0.1;2.5\n", header, {"semicolons"});
  expect_table("t\tx\n0\t1.5\n0.1\t2.5\n", header, {"tabs"});
  expect_table("  t   x\n  0   1.5\n  0.1 2.5\n", header, {"blanks"});
  expect_table("sep=;\nt;x\n0;1.5\n0.1;2.5\n", header, {"semicolons"});
  expect_table("t,x\r0,1.5\r0.1,2.5\r", header, {});
  // Rows that end with a separator have no further column.
  expect_table("t,x\n0,1.5,\n0.1,2.5,\n", header, {});
  expect_parts(refusal_of("sep=|\nt|x\n0|1\n"), {"f.csv:1", "sep=|", "semicolon"});
}

// A sensor without any reading is a column, a separator at the end of rows is none.
TEST(TableLayout, KeepsALastColumnWithoutReadings) {
  EXPECT_EQ(parse_csv_header("f.csv", "0,1,nan\n1,2,nan\n2,3,nan\n").names, (Names{"1", "2", "3"}));
  EXPECT_EQ(parse_csv_header("f.csv", "0,1,\n1,2,\n2,3,\n").names, (Names{"1", "2"}));
}

TEST(TableLayout, FindsDecimalCommas) {
  expect_table("t;x\n0,0;1,5\n0,1;2,5\n", {"t", "x"}, {"semicolons", "decimal commas"});
  expect_table("t x\n0,0 1,5\n0,1 2,5\n", {"t", "x"}, {"blanks", "decimal commas"});
  expect_table("t,x\n\"0,0\",\"1,5\"\n\"0,1\",\"2,5\"\n", {"t", "x"}, {"decimal commas"});
}

// What can be read in two ways is refused with both of them.
TEST(TableLayout, RefusesAmbiguousCommas) {
  expect_parts(refusal_of("t;x\n0;1,234\n1;2,345\n"), {"f.csv:2", "\"1,234\"", "1.234", "1234"});
  EXPECT_EQ(read_all("t;x\n0;0,234\n1;2,345\n").values[1], (Values{0.234, 2.345}));
  EXPECT_EQ(read_all("t;x\n0;1,23\n1;2,345\n").values[1], (Values{1.23, 2.345}));
  expect_parts(refusal([] {
                 (void)parse_csv("f.csv", "t;x\n0.5;1,23\n1.5;2,34\n", {{"t"}, {"x"}});
               }),
               {"f.csv:2:2", "\"1,23\" in line 2", "\"0.5\" in line 2", "thousands"});
  expect_parts(refusal([] { (void)parse_csv("f.csv", "t,x\n0,0,1,5\n0,1,1,6\n", {{"t"}}); }),
               {"f.csv:2: no column \"t\"", "line 1 has 2 cells, but the rows have 4",
                "with decimal commas", "semicolons"});
}

// Beside decimal commas, "69.101" can be 69101. Each column is read by itself, but not its commas.
TEST(TableLayout, RefusesAmbiguousPointsBesideDecimalCommas) {
  const CsvColumns table =
      read_csv_columns("f.csv", "t;n;x\n0,5;69.101;0.5\n1.000,5;70.202;1.25\n");
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[0].values, (Values{0.5, 1000.5}));
  EXPECT_TRUE(table.columns[1].values.empty());
  expect_parts(table.columns[1].fault, {"f.csv:2:2", "\"69.101\"", "decimals or thousands"});
  EXPECT_EQ(table.columns[2].values, (Values{0.5, 1.25}));
}

TEST(TableLayout, RefusesOneColumnOfDecimalCommas) {
  expect_parts(refusal([] { (void)parse_csv("f.csv", "x\n0,5\n1,5\n", {{"x"}}); }),
               {"f.csv:2: no column \"x\"", "line 1 has 1 cell, but the rows have 2",
                "with decimal commas, \"0,5\" would have 1"});
}

TEST(TableLayout, FindsTheHeader) {
  const std::string rows = "0,1.5\n0.1,2.5\n";
  expect_table("# rig 3\n# saved, by hand\nt,x\n" + rows, {"t", "x"}, {});
  expect_table("# t, x\n" + rows, {"t", "x"}, {"comment in line 1"});
  expect_table("% Time [s] Angle [rad]\n0 1.5\n0.1 2.5\n", {"Time [s]", "Angle [rad]"},
               {"comment in line 1"});
  expect_table("t,x\n[s],[rad]\n" + rows, {"t", "x"}, {"units in line 2"});
  expect_table("t,x\ns,deg\n" + rows, {"t", "x"}, {"units in line 2"});
  expect_table("rst:0x1 (POWERON),boot:0x13\nclk:1,mode:DIO,div:2\nready\nt,x\n" + rows, {"t", "x"},
               {"3 lines above the table"});
  // A doubled quote within quotes is a quote.
  expect_table("\"Time, s\",\"Angle \"\"x\"\", rad\"\n" + rows, {"Time, s", "Angle \"x\", rad"},
               {});
  // Only the first line may begin with a number: names of joints are often numbers.
  expect_table("1,u\n" + rows, {"1", "u"}, {});
  const CsvTable pandas = read_all(",0,1\n0,1,2\n1,3,4\n");
  EXPECT_EQ(pandas.header, (Names{"column 1", "0", "1"}));
  EXPECT_EQ(pandas.row_count(), 2);
}

// pandas writes an index without a name. Rows that end with a separator have an empty last column.
TEST(TableLayout, NamesColumnsThatHaveNoName) {
  const std::string rows = "0,0.5,1\n1,0.6,2\n";
  const CsvTable indexed = read_all(",t,x\n" + rows);
  EXPECT_EQ(indexed.header, (Names{"column 1", "t", "x"}));
  expect_parts(indexed.layout, {"column 1 has no name"});
  EXPECT_EQ(indexed.values[0], (Values{0.0, 1.0}));
  EXPECT_EQ(read_all("t,,x\n" + rows).header, (Names{"t", "column 2", "x"}));
  EXPECT_EQ(parse_csv_header("f.csv", "t;x;\n0;1;\n1;2;\n").names, (Names{"t", "x", ""}));
}

TEST(TableLayout, JoinsTimeStampsInTwoColumns) {
  const std::string rows = "1700000000,250000000,7\n1700000001,0,8\n";
  for (const auto& [names, stamp] : {std::pair<std::string, std::string>{
                                         "header.stamp.sec,header.stamp.nanosec", "header.stamp"},
                                     {"secs,nsecs", "stamp"}}) {
    const std::string text = names + ",x\n" + rows;
    EXPECT_EQ(parse_csv_header("f.csv", text).names.front(), stamp);
    const CsvTable table = parse_csv("f.csv", text, {{stamp}, {"x"}});
    EXPECT_EQ(table.values[0], (std::vector<double>{1700000000.25, 1700000001.0}));
    EXPECT_EQ(table.values[1], (std::vector<double>{7.0, 8.0}));
  }
  // Neither half alone is a time stamp, and a column of that name comes first.
  EXPECT_EQ(parse_csv_header("f.csv", "sec,x\n1,2\n").names, (Names{"sec", "x"}));
  EXPECT_EQ(parse_csv_header("f.csv", "sec,nanosec,stamp\n1,2,3\n").names.front(), "sec");
}

TEST(TableLayout, NamesColumnsWithoutHeader) {
  const std::string rows = "0 1.5\n0.1 2.5\n";
  expect_table(rows, {"1", "2"}, {"no header line", "numbers"});
  expect_table("booting\nok\n" + rows, {"1", "2"}, {"2 lines above", "no header line"});
  const CsvTable named = read_all(rows, {"t", "theta"});
  EXPECT_EQ(named.header, (Names{"t", "theta"}));
  expect_parts(named.layout, {"as given"});
  expect_parts(refusal_of(rows, {"t"}), {"f.csv:1", "2 cells", "names are given for 1"});
  // Given names are for files without header only.
  EXPECT_EQ(read_all("a b\n" + rows, {"t", "theta"}).header, (Names{"a", "b"}));
}

// A damaged number in the first row does not make this row the header.
TEST(TableLayout, KeepsTheHeaderAboveADamagedRow) {
  expect_parts(refusal_of("t,x\n0,ERR\n1,2\n2,3\n3,4\n"), {"f.csv:2:2", "\"ERR\""});
  EXPECT_EQ(read_all("t,x\n,\n0,1\n1,2\n").row_count(), 3);
}

TEST(TableLayout, LeavesOutALineThatIsCutOff) {
  const std::string good = "t,x\n0,1\n1,2\n";
  for (const char* end : {"2", "2,", "2,-", "2,1e"}) {
    const CsvTable table = read_csv("f.csv", good + end, {{"t"}, {"x"}});
    EXPECT_EQ(table.row_count(), 2) << end;
    EXPECT_TRUE(table.faults.empty()) << end;
    expect_parts(table.layout, {"last line", "cut off"});
  }
  EXPECT_EQ(read_all(good + "2,3").row_count(), 3);
  EXPECT_EQ(read_all(good + std::string(5, '\0')).row_count(), 2);
  // A last cell with fewer decimals than all others may be the begin of a longer number.
  std::string measured = "t,x\n";
  for (int k = 0; k < 30; ++k)
    measured += std::to_string(k) + ",0.2" + std::to_string(k % 7) + "\n";
  EXPECT_EQ(read_all(measured + "30,0.2").row_count(), 30);
  EXPECT_EQ(read_all(measured + "30,0.25").row_count(), 31);
  EXPECT_EQ(read_all(measured + "30,0.2\n").row_count(), 31);
  // A complete line is judged.
  expect_parts(refusal_of(good + "2\n"), {"f.csv:4", "1 cells"});
}

TEST(TableLayout, DecodesText) {
  const std::string header = "Winkel [\xC2\xB0]";
  EXPECT_EQ(read_all("t;Winkel [\xB0]\n0;1\n1;2\n").header[1], header);
  const auto utf16 = [](const std::string& ascii, bool is_big_endian) {
    std::string text;
    for (const char c : ascii) {
      text += is_big_endian ? std::string{'\0', c} : std::string{c, '\0'};
    }
    return text;
  };
  const std::string text = "t,x\r\n0,1\r\n1,2\r\n";
  for (const std::string& each : {"\xFF\xFE" + utf16(text, false), "\xFE\xFF" + utf16(text, true),
                                  utf16(text, false), utf16(text, true)}) {
    const CsvTable table = read_all(each);
    EXPECT_EQ(table.header, (Names{"t", "x"}));
    EXPECT_EQ(table.values[1], (Values{1.0, 2.0}));
    expect_parts(table.layout, {"UTF-16"});
  }
}

TEST(TableLayout, ReadsLabviewMeasurements) {
  const CsvTable table = read_all(
      "LabVIEW Measurement\t\nWriter_Version\t2\nSeparator\tTab\n***End_of_Header***\t\n\t\n"
      "Channels\t1\t\t\nSamples\t2\t\t\n***End_of_Header***\t\t\n"
      "X_Value\tAngle\tComment\n0,000\t1,5\tstart\n0,001\t2,5\n");
  EXPECT_EQ(table.header, (Names{"X_Value", "Angle"}));
  EXPECT_EQ(table.values[0], (Values{0.0, 0.001}));
  EXPECT_EQ(table.values[1], (Values{1.5, 2.5}));
  expect_parts(table.layout, {"LabVIEW", "tabs", "decimal commas"});
}

TEST(TableCells, ReadDatesInSeconds) {
  const auto number = [](const std::string& cell) {
    const std::optional<CellNumber> parsed = parse_cell(cell);
    return parsed ? parsed->value : -1.0;
  };
  constexpr double kMarch5 = 1709596800.0;  // 2024-03-05 00:00 UTC, by date -u -d
  EXPECT_DOUBLE_EQ(number("2024-03-05T10:00:00.25"), kMarch5 + 36000.25);
  EXPECT_DOUBLE_EQ(number("2024-03-05 10:00:00,25Z"), kMarch5 + 36000.25);
  EXPECT_DOUBLE_EQ(number("2024/03/05 10:00:00+01:00"), kMarch5 + 32400.0);
  EXPECT_DOUBLE_EQ(number("\"05.03.2024 10:00:00\""), kMarch5 + 36000.0);
  EXPECT_DOUBLE_EQ(number("05-Mar-2024 10:00:00.25"), kMarch5 + 36000.25);  // MATLAB
  EXPECT_DOUBLE_EQ(number("20240305T100000.25Z"), kMarch5 + 36000.25);
  EXPECT_DOUBLE_EQ(number("2024-03-05 10:00:00 PM"), kMarch5 + 79200.0);
  EXPECT_DOUBLE_EQ(number("12:00:01 AM"), 1.0);
  EXPECT_DOUBLE_EQ(number("12:00:01 PM"), 43201.0);
  EXPECT_DOUBLE_EQ(number("23:59:59.5"), 86399.5);
  for (const char* bad : {"2024-02-30 10:00:00", "24:00:00", "10:60:00", "10:00", "13:00:00 AM",
                          "20241305T100000", "05-Mai-2024 10:00:00", "03/05/2024 10:00:00",
                          "2024-03-05T10:00:00+", "::", "1,2,3", "1,"}) {
    EXPECT_EQ(number(bad), -1.0) << bad;
  }
}

// Spreadsheets group digits, Fortran writes "D" before the exponent, and word processors replace
// the minus sign.
TEST(TableCells, ReadNumbersOfOtherPrograms) {
  for (const auto& [cell, value] : {std::pair("69'101", 69101.0),
                                    {"1\u202F069\u00A0101", -1.0},  // two separators
                                    {"1\u202F069\u202F101", 1069101.0},
                                    {"-69\u2019101.5", -69101.5},
                                    {"1.069.101", 1069101.0},
                                    {"1,069,101", 1069101.0},
                                    {"1.234,5", 1234.5},
                                    {"1,234.5", 1234.5},
                                    {"\u22120.25", -0.25},
                                    {"2.5D-03", 0.0025},
                                    {"0x19a5", 6565.0},
                                    {"1.2.3", -1.0},
                                    {"1'23", -1.0},
                                    {"1234'567", -1.0},
                                    {"1.234.5", -1.0},
                                    {"0x", -1.0},
                                    {"0x1g", -1.0},
                                    {"\u2212", -1.0},
                                    {"d", -1.0}}) {
    const std::optional<CellNumber> number = parse_cell(cell);
    EXPECT_DOUBLE_EQ(number ? number->value : -1.0, value) << cell;
  }
  EXPECT_EQ(parse_cell("1.234,5")->notation, CellNotation::kDecimalComma);
  EXPECT_EQ(parse_cell("1,234.5")->notation, CellNotation::kDecimalPoint);
}

// pandas and MATLAB write durations with words.
TEST(TableCells, ReadDurationsInSeconds) {
  for (const auto& [cell, seconds] : {std::pair("0 days 00:00:01.315", 1.315),
                                      {"2 days 01:00:00", 176400.0},
                                      {"1.315 sec", 1.315},
                                      {"\"1,315 sec\"", 1.315},
                                      {"2 s", 2.0}}) {
    const std::optional<CellNumber> number = parse_cell(cell);
    ASSERT_TRUE(number.has_value()) << cell;
    EXPECT_DOUBLE_EQ(number->value, seconds) << cell;
    EXPECT_EQ(number->notation, CellNotation::kDuration) << cell;
  }
  for (const char* bad : {"00:01.5", "0 days", "0 days 00:01", "1 V", " sec", "sec", "days"}) {
    EXPECT_FALSE(parse_cell(bad).has_value()) << bad;
  }
  const CsvTable table = read_all("Time,x\n0.5 sec,1\n0.6 sec,2\n");
  EXPECT_EQ(table.values[0], (Values{0.5, 0.6}));
  expect_parts(table.layout, {"durations in seconds"});
}

// The serial monitor of Arduino writes the time of receipt before each line. It jitters, so that
// the clock of the board, if there is one, is the better time.
TEST(TableLayout, ReadsSerialMonitors) {
  const CsvTable own = read_all(
      "10:11:11.000 -> Ready\n10:11:11.900 -> ms,enc\n"
      "10:11:12.000 -> 5,703\n10:11:12.006 -> 10,704\n10:11:12.010 -> 15,704\n");
  EXPECT_EQ(own.header, (Names{"ms", "enc"}));
  EXPECT_EQ(own.values[0], (Values{5.0, 10.0, 15.0}));
  EXPECT_EQ(own.lines.front(), 3);
  expect_parts(own.layout, {"without its times of receipt"});
  for (const char* text : {"10:11:11.900 -> enc,u\n"
                           "10:11:12.000 -> 703,1\n10:11:12.006 -> 702,0\n10:11:12.010 -> 701,1\n",
                           "10:11:11.900 -> enc u\r\n10:11:12.000 -> 703 1\r\n"
                           "10:11:12.006 -> 702 0\r\n10:11:12.010 -> 701 1\r\n"}) {
    const CsvTable table = read_all(text);
    EXPECT_EQ(table.header, (Names{"receive_time", "enc", "u"}));
    EXPECT_EQ(table.values[0], (Values{36672.0, 36672.006, 36672.01}));
    EXPECT_EQ(table.values[1], (Values{703.0, 702.0, 701.0}));
    expect_parts(table.layout, {"times of receipt as first column"});
  }
  const CsvTable one = read_all("10:11:12.000 -> 7\n10:11:12.006 -> 8\n10:11:12.010 -> 9\n");
  EXPECT_EQ(one.values[1], (Values{7.0, 8.0, 9.0}));
  EXPECT_EQ(read_all("t,x\n0,1\n1,2\n").layout, "");
}

TEST(TableCells, AmbiguousTimesAreExplained) {
  expect_parts(describe_ambiguous_time("10:01"), {"hours:minutes or minutes:seconds"});
  expect_parts(describe_ambiguous_time("03/05/2024 10:00:00"),
               {"day 3 of month 5", "day 5 of month 3"});
  EXPECT_EQ(describe_ambiguous_time("10:01:02"), "");
  EXPECT_EQ(describe_ambiguous_time("abc"), "");
}

TEST(TableLayout, TimesOfDayPassMidnight) {
  const CsvTable table = read_all("t,x\n23:59:59.5,1\n00:00:00.5,2\n");
  EXPECT_EQ(table.values[0], (Values{86399.5, 86400.5}));
  expect_parts(table.layout, {"times of day"});
}

}  // namespace
}  // namespace proto
