#include "service/report/charts/chart_figure.hpp"

#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "service/report/charts/embedded_data.hpp"
#include "service/report/charts/page_scripts.hpp"
#include "tests/support/json.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using test_support::count_of;
using test_support::expect_parts;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The data that the page's script reads, parsed by another JSON reader.
Struct data_of(const std::string& html) {
  const std::size_t begin = html.find(kFigureData) + std::strlen(kFigureData);
  const std::size_t end = html.find("</script>", begin);
  const auto data = test_support::from_json<Struct>(html.substr(begin, end - begin));
  return data;
}

std::string bytes_of(const std::string& base64) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : base64) {
    static const std::string kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (letter == '=') break;
    bits = bits << 6U | static_cast<std::uint32_t>(kLetters.find(letter));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  return bytes;
}

std::vector<double> numbers_of(const Value& column) {
  const auto& data = column.struct_value().fields().at("data").struct_value().fields();
  std::vector<double> numbers;
  if (data.contains("values")) {
    for (const Value& value : data.at("values").list_value().values()) {
      numbers.push_back(value.kind_case() == Value::kNumberValue ? value.number_value() : kNaN);
    }
  } else if (data.contains("count")) {
    for (int k = 0; k < data.at("count").number_value(); ++k) {
      numbers.push_back(data.at("from").number_value() + k * data.at("step").number_value());
    }
  } else {
    const bool single = data.contains("f32");
    const std::string bytes = bytes_of(data.at(single ? "f32" : "f64").string_value());
    for (std::size_t at = 0; at < bytes.size(); at += single ? 4 : 8) {
      float narrow = 0.0F;
      double wide = 0.0;
      if (single) {
        std::memcpy(&narrow, bytes.data() + at, 4);
      } else {
        std::memcpy(&wide, bytes.data() + at, 8);
      }
      numbers.push_back(single ? static_cast<double>(narrow) : wide);
    }
  }
  return numbers;
}

std::vector<double> column_of(const Struct& data, int column) {
  return numbers_of(data.fields().at("columns").list_value().values(column));
}

/// 10 s at 1 kHz with a missing second and one spike.
Chart recorded() {
  Chart chart;
  chart.title = "Joint 1";
  chart.x_label = "time [s]";
  chart.y_label = "angle [rad]";
  ChartSeries series{"measured", "measured", {}, {}};
  for (int k = 0; k <= 10000; ++k) {
    series.x.push_back(2.0 + 0.001 * k);
    series.y.push_back(k >= 3000 && k < 4000 ? kNaN : std::sin(0.003 * k));
  }
  series.y[7003] = 40.0;
  chart.series = {series};
  return chart;
}

// A page with other numbers than the estimator's would mislead.
TEST(ChartFigure, ContainsTheDataInSinglePrecision) {
  const Chart chart = recorded();
  const Struct data = data_of(chart_figure({.name = "run", .charts = {chart}}));
  const std::vector<double> x = column_of(data, 0), y = column_of(data, 1);
  ASSERT_EQ(x.size(), chart.series[0].x.size());
  ASSERT_EQ(y.size(), x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    EXPECT_NEAR(x[k], chart.series[0].x[k], 1e-9);
    EXPECT_EQ(std::isnan(y[k]), std::isnan(chart.series[0].y[k]));
    if (std::isnan(y[k])) continue;
    EXPECT_NEAR(y[k], chart.series[0].y[k], 1e-7 * std::abs(y[k]));
  }
  const auto& columns = data.fields().at("columns").list_value();
  EXPECT_EQ(columns.values(0).struct_value().fields().at("name").string_value(), "time [s]");
  EXPECT_EQ(columns.values(1).struct_value().fields().at("name").string_value(), "measured [rad]");
}

// A reduced chart keeps spike and gap, says that it is reduced, and obeys its size limit.
TEST(ChartFigure, KeepsSpikesAndGapsWhenReduced) {
  const std::string html = chart_figure({.name = "run", .charts = {recorded()}, .rows_max = 400});
  const Struct data = data_of(html);
  const std::vector<double> x = column_of(data, 0), y = column_of(data, 1);
  EXPECT_LE(x.size(), 410U);
  EXPECT_EQ(*std::max_element(y.begin(), y.end(),
                              [](double a, double b) { return std::isnan(b) ? false : a < b; }),
            40.0);
  int gaps = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (!std::isnan(y[k])) continue;
    ++gaps;
    EXPECT_GE(x[k], 5.0 - 1e-9);
    EXPECT_LT(x[k], 6.0);
  }
  EXPECT_GT(gaps, 0);
  expect_parts(html, {"10001 rows of data, reduced: for every 100 rows the first, lowest"});
  EXPECT_EQ(chart_figure({.name = "run", .charts = {recorded()}}).find("reduced"),
            std::string::npos);
}

// A name from a file must neither end the script element nor start one.
TEST(ChartFigure, NamesCannotLeaveTheData) {
  const std::string evil = "a</script><script>alert(1)</script><!--\"'&\n";
  Chart chart = recorded();
  chart.title = evil;
  chart.series[0].label = evil;
  chart.marks = {{3.0, 4.0, evil}};
  const std::string html = chart_figure({.name = evil, .charts = {chart}});
  EXPECT_EQ(count_of(html, "<script"), 1);
  EXPECT_EQ(count_of(html, "</script"), 1);
  EXPECT_EQ(html.find("<!--"), std::string::npos);
  EXPECT_EQ(data_of(html).fields().at("name").string_value(), evil);
  const std::string shown = data_figure("<svg></svg>", evil, evil, "caption");
  EXPECT_EQ(count_of(shown, "<script"), 1);
  EXPECT_EQ(data_of(shown).fields().at("csv").string_value(), evil);
}

TEST(ChartFigure, UnitesSeriesOverDifferentX) {
  Chart chart;
  chart.x_label = "iteration";
  chart.y_label = "cost";
  chart.series = {{"first", "series-1", {0, 1, 2}, {9, 5, 4}, true},
                  {"second", "series-2", {1, 3}, {8, 7}, true}};
  const Struct data = data_of(chart_figure({.name = "cost", .charts = {chart}}));
  EXPECT_TRUE(data.fields().at("united").bool_value());
  EXPECT_EQ(column_of(data, 0), (std::vector<double>{0, 1, 2, 3}));
  const std::vector<double> second = column_of(data, 2);
  EXPECT_TRUE(std::isnan(second[0]));
  EXPECT_EQ(second[1], 8.0);
  EXPECT_EQ(second[3], 7.0);
}

// One far outlier must be visible without flattening the other readings.
TEST(ChartFigure, DrawsRejectedReadingsAtTheEndOfTheAxis) {
  Chart chart = recorded();
  chart.series[0].y[7003] = 1.0;
  const auto tick = [](const Chart& drawn) { return svg_chart(drawn).find(">1000</text>"); };
  EXPECT_EQ(tick(chart), std::string::npos);
  ChartSeries held{"rejected", "residual", chart.series[0].x, {}, true, MarkerShape::kDiamond};
  held.y.assign(held.x.size(), kNaN);
  held.y[7003] = 1000.0;
  held.excluded_from_range = true;
  chart.series.push_back(held);
  EXPECT_EQ(tick(chart), std::string::npos);
  EXPECT_EQ(count_of(svg_chart(chart), "<polygon"), 2);  // the point, and its legend entry
  chart.series[1].excluded_from_range = false;
  EXPECT_NE(tick(chart), std::string::npos);
}

TEST(ChartFigure, DescribesMarksUnderThePointer) {
  Chart chart = recorded();
  chart.marks = {{3.0, 3.0, "an outlier & more"}};
  const std::string html = chart_figure({.name = "run", .charts = {chart}});
  expect_parts(html,
               {"<title>an outlier &amp; more</title>", "\"text\":\"an outlier \\u0026 more\""});
}

// Names that do not fit beside the title get their own rows above the plot, inside the frame.
TEST(ChartFigure, BreaksALongLegend) {
  Chart chart;
  chart.title = "cost";
  const auto top = [&] {
    const std::string svg = svg_chart(chart);
    const std::size_t frame = svg.rfind("<rect", svg.find("class=\"frame\""));
    return std::stod(svg.substr(svg.find("y=\"", frame) + 3));
  };
  chart.series = {{"short", "series-1", {0, 1}, {1, 2}}};
  const double one_row = top();
  for (int k = 0; k < 6; ++k) {
    chart.series.push_back(
        {"a stage of a long name " + std::to_string(k), "series-2", {0, 1}, {1, 2}});
  }
  EXPECT_GT(top(), one_row + 15.0);
  const std::string svg = svg_chart(chart);
  int keys = 0;
  for (std::size_t at = 0; (at = svg.find("class=\"tick\">a stage", at)) != std::string::npos;
       ++at) {
    const std::size_t text = svg.rfind("<text", at);
    EXPECT_GE(std::stod(svg.substr(text + 9)), 74.0);
    EXPECT_LT(std::stod(svg.substr(svg.find("y=\"", text) + 3)), top());
    ++keys;
  }
  EXPECT_EQ(keys, 6);
}

// RFC 4648, section 10.
TEST(EmbeddedData, WritesBase64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(EmbeddedData, DistinguishesEvenSteps) {
  std::vector<double> x;
  for (int k = 0; k < 100; ++k) x.push_back(3.0 + 0.001 * k);
  EXPECT_TRUE(is_evenly_spaced(x));
  expect_parts(json_spaced(x), {"\"from\":3,\"step\":0.001,\"count\":100"});
  x[50] += 1e-6;
  EXPECT_FALSE(is_evenly_spaced(x));
  expect_parts(json_spaced(x), {"\"f64\":"});
  EXPECT_FALSE(is_evenly_spaced({1.0}));
  EXPECT_FALSE(is_evenly_spaced({1.0, 1.0}));
  EXPECT_EQ(json_numbers({1.5, kNaN, -2e-9}), "{\"values\":[1.5,null,-2e-09]}");
}

TEST(PageScripts, HaveTheLicenceAndNothingFromElsewhere) {
  const std::string& scripts = page_scripts();
  expect_parts(scripts, {"Permission is hereby granted, free of charge", "uPlot=function()",
                         "Save data (CSV)"});
  for (const char* external : {"src=", "@import", "url(", "fetch(", "XMLHttpRequest"}) {
    EXPECT_EQ(scripts.find(external), std::string::npos) << external;
  }
  EXPECT_EQ(count_of(scripts, "<script>"), count_of(scripts, "</script>"));
}

}  // namespace
}  // namespace service
