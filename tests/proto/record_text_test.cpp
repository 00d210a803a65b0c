#include "proto/text/table/record_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "proto/text/table/csv_table.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;

using Names = std::vector<std::string>;
using Values = std::vector<double>;

CsvColumns read(const std::string& text) { return read_csv_columns("run.log", text); }

/// Expects columns "t" = 0, 0.1, 0.2 and "x" = 1.5, 2.5, -3, and a note with this part.
void expect_table(const std::string& text, const std::string& note) {
  SCOPED_TRACE(text);
  const CsvColumns table = read(text);
  ASSERT_EQ(table.columns.size(), 2U);
  EXPECT_EQ(table.columns[0].name, "t");
  EXPECT_EQ(table.columns[1].name, "x");
  EXPECT_EQ(table.columns[0].values, (Values{0.0, 0.1, 0.2}));
  EXPECT_EQ(table.columns[1].values, (Values{1.5, 2.5, -3.0}));
  expect_parts(table.layout, {note});
}

TEST(RecordText, ReadsLinesOfASerialPlotter) {
  const std::string note = "values with names, as for a serial plotter";
  expect_table("t:0,x:1.5\nt:0.1,x:2.5\nt:0.2,x:-3\n", note);
  expect_table("Ready.\nt: 0, x: 1.5\nt: 0.1, x: 2.5\nt: 0.2, x: -3\n", note);
  expect_table("t:0\tx:1.5\r\nt:0.1\tx:2.5\r\nt:0.2\tx:-3\r\n", note);
  expect_table("t=0 x=1.5\nt=0.1 x=2.5\nt=0.2 x=-3\nt=0.", note);
  // Values on lines of their own are rows of their own.
  const CsvColumns apart = read("t:0\nx:1\nt:1\nx:2\n");
  EXPECT_EQ(apart.columns[1].values[1], 1.0);
  EXPECT_TRUE(std::isnan(apart.columns[1].values[2]));
  const CsvColumns received =
      read("10:11:12.000 -> x:7\n10:11:12.500 -> x:8\n10:11:13.000 -> x:9\n");
  EXPECT_EQ(received.columns[0].name, "receive_time");
  EXPECT_EQ(received.columns[0].values, (Values{36672.0, 36672.5, 36673.0}));
  EXPECT_EQ(received.columns[1].values, (Values{7.0, 8.0, 9.0}));
}

// A message of the program's start is no column.
TEST(RecordText, LeavesOutNamesOfSingleMessages) {
  std::string text = "Offset: 12\n";
  for (int k = 0; k < 30; ++k) text += "angle:" + std::to_string(k) + ",u:0.5\n";
  const CsvColumns table = read(text);
  ASSERT_EQ(table.columns.size(), 2U);
  EXPECT_EQ(table.columns[0].name, "angle");
  EXPECT_EQ(table.columns[0].values.size(), 30U);
}

TEST(RecordText, ReadsJson) {
  expect_table("{\"t\":0,\"x\":1.5}\n{\"t\":0.1,\"x\":2.5}\n{\"x\":-3,\"t\":0.2}\n{\"t\":0.",
               "JSON");
  expect_table(R"([{"t": 0, "x": 1.5}, {"t": 0.1, "x": 2.5},
                   {"t": 0.2, "x": -3}])",
               "JSON");
  expect_table(R"({"rate": 10, "t": [0, 0.1, 0.2], "x": [1.5, 2.5, -3], "name": "run"})", "JSON");
  expect_table(R"({"t":{"0":0,"1":0.1,"2":0.2},"x":{"0":1.5,"1":2.5,"2":-3}})", "JSON");
  const CsvColumns nested =
      read(R"({"stamp":{"sec":5,"nanosec":250000000},"q":[1,null],"name":"a, b"})"
           "\n"
           R"({"stamp":{"sec":6,"nanosec":0},"q":[2,3],"on":true})");
  Names names;
  for (const CsvColumn& column : nested.columns) names.push_back(column.name);
  EXPECT_EQ(names, (Names{"stamp", "stamp.sec", "stamp.nanosec", "q[0]", "q[1]", "name", "on"}));
  EXPECT_EQ(nested.columns[0].values, (Values{5.25, 6.0}));
  EXPECT_TRUE(std::isnan(nested.columns[4].values[0]));
  EXPECT_EQ(nested.columns[6].values[1], 1.0);
  EXPECT_EQ(read("[[0,1.5],[1,2.5]]").columns[1].values, (Values{1.5, 2.5}));
  const CsvColumns listed = read(R"({"meta":{"m":1},"data":[{"t":0,"x":5},{"t":1,"x":6}]})");
  ASSERT_EQ(listed.columns.size(), 2U);
  EXPECT_EQ(listed.columns[1].name, "data.x");
  EXPECT_EQ(listed.columns[1].values, (Values{5.0, 6.0}));
}

TEST(RecordText, RefusesJsonThatIsNotATable) {
  expect_parts(refusal([] { (void)read(R"({"name": "run", "mass": 0.3})"); }),
               {"run.log: this JSON text is no table", "no columns of several values",
                "an object per line", "--parameters"});
  expect_parts(refusal([] { (void)read("{\"t\":0}\n{\"t\" 1}\n{\"t\":2}\n"); }),
               {"line 2 is not JSON"});
  expect_parts(refusal([] { (void)read(std::string(100'000, '{')); }), {"is not JSON"});
}

// Messages name the line of the text.
TEST(RecordText, KeepsTheLinesOfTheText) {
  const std::vector<ColumnRequest> requests = {{"t"}, {"x"}};
  for (const char* text :
       {"\n\nt:0,x:1\nt:1,x:2\nt:2,x:3\n\nt:3\n",
        "\n\n{\"t\":0,\"x\":1}\n{\"t\":1,\"x\":2}\n{\"t\":2,\"x\":3}\n\n{\"t\":3}\n"}) {
    const CsvTable table = read_csv("run.log", text, requests);
    EXPECT_EQ(table.lines, (std::vector<int>{3, 4, 5, 7}));
    ASSERT_EQ(table.faults.size(), 1U);
    expect_parts(table.faults[0].message, {"run.log:7:2"});
  }
}

TEST(RecordText, ReadsYamlOfRosTopics) {
  const CsvColumns table = read(
      "header:\n  stamp:\n    sec: 5\n    nanosec: 0\n  frame_id: ''\n"
      "name:\n- arm\n- rod\nposition:\n- 0.5\n- -1.5\npoints:\n- x: 1\n  y: 2\n- x: 3\n  y: "
      "4\n---\n"
      "header:\n  stamp:\n    sec: 5\n    nanosec: 500000000\n  frame_id: ''\n"
      "name: [arm, rod]\nposition: [0.25, .nan]\npoints:\n- x: 5\n  y: 6\n---\n"
      "header:\n  stamp:\n    sec: 6\n");
  const auto column = [&](const std::string& name) {
    for (const CsvColumn& each : table.columns) {
      if (each.name == name) return each.values;
    }
    ADD_FAILURE() << "no column " << name;
    return Values{};
  };
  EXPECT_EQ(column("header.stamp"), (Values{5.0, 5.5}));
  EXPECT_EQ(column("position[0]"), (Values{0.5, 0.25}));
  EXPECT_EQ(column("position[1]")[0], -1.5);
  EXPECT_EQ(column("points[0].y"), (Values{2.0, 6.0}));
  EXPECT_EQ(column("points[1].x")[0], 3.0);
  expect_parts(table.layout, {"YAML"});
}

TEST(RecordText, LeavesTablesUnchanged) {
  for (const char* text : {"t,x\n0,1\n1,2\n", "time:s x:rad\n0 1\n1 2\n", "---\nt;x\n0;1\n---\n",
                           "[INFO] start\nt,x\n0,1\n", "10:00:01,1\n10:00:02,2\n", ""}) {
    EXPECT_EQ(convert_records("run.log", text).assumption, "") << text;
  }
}

}  // namespace
}  // namespace proto
