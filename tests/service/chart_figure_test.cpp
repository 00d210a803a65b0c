#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "service/report/charts/chart_figure.hpp"
#include "service/report/charts/page_parts.hpp"
#include "service/report/charts/result_pictures.hpp"
#include "service/report/sections/result_table.hpp"
#include "tests/support/json.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The data that the page's script reads, parsed by another JSON reader.
Struct data_of(const std::string& html) {
  const std::size_t begin = html.find(kFigureData) + std::strlen(kFigureData);
  const std::size_t end = html.find("</script>", begin);
  const auto data = from_json<Struct>(html.substr(begin, end - begin));
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
  Chart chart{.title = "Joint 1", .x_label = "time [s]", .y_label = "angle [rad]"};
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
  const Struct data = data_of(render_chart_figure({.name = "run", .charts = {chart}}));
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
  const std::string html =
      render_chart_figure({.name = "run", .charts = {recorded()}, .rows_max = 400});
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
  expect_parts(
      html, {"10001 rows of data, reduced: for every 100 rows, each line shows the first, lowest"});
  EXPECT_EQ(render_chart_figure({.name = "run", .charts = {recorded()}}).find("reduced"),
            std::string::npos);
}

// A name from a file must neither end the script element nor start one.
TEST(ChartFigure, NamesCannotLeaveTheData) {
  const std::string evil = "a</script><script>alert(1)</script><!--\"'&\n";
  Chart chart = recorded();
  chart.title = evil;
  chart.series[0].label = evil;
  chart.marks = {{3.0, 4.0, evil}};
  const std::string html = render_chart_figure({.name = evil, .charts = {chart}});
  EXPECT_EQ(count_of(html, "<script"), 1);
  EXPECT_EQ(count_of(html, "</script"), 1);
  EXPECT_EQ(html.find("<!--"), std::string::npos);
  EXPECT_EQ(data_of(html).fields().at("name").string_value(), evil);
  const std::string shown = render_data_figure("<svg></svg>", evil, evil, "caption");
  EXPECT_EQ(count_of(shown, "<script"), 1);
  EXPECT_EQ(data_of(shown).fields().at("csv").string_value(), evil);
}

TEST(ChartFigure, UnitesSeriesOverDifferentX) {
  Chart chart;
  chart.x_label = "iteration";
  chart.y_label = "cost";
  chart.series = {{"first", "series-1", {0, 1, 2}, {9, 5, 4}, true},
                  {"second", "series-2", {1, 3}, {8, 7}, true}};
  const Struct data = data_of(render_chart_figure({.name = "cost", .charts = {chart}}));
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
  const auto tick = [](const Chart& drawn) { return render_chart(drawn).find(">1000</text>"); };
  EXPECT_EQ(tick(chart), std::string::npos);
  ChartSeries held{"rejected", "residual", chart.series[0].x, {}, true, MarkerShape::kDiamond};
  held.y.assign(held.x.size(), kNaN);
  held.y[7003] = 1000.0;
  held.excluded_from_range = true;
  chart.series.push_back(held);
  EXPECT_EQ(tick(chart), std::string::npos);
  EXPECT_EQ(count_of(render_chart(chart), "<polygon"), 2);  // the point, and its legend entry
  chart.series[1].excluded_from_range = false;
  EXPECT_NE(tick(chart), std::string::npos);
}

TEST(ChartFigure, DescribesMarksUnderThePointer) {
  Chart chart = recorded();
  chart.marks = {{3.0, 3.0, "an outlier & more"}};
  const std::string html = render_chart_figure({.name = "run", .charts = {chart}});
  expect_parts(html,
               {"<title>an outlier &amp; more</title>", "\"text\":\"an outlier \\u0026 more\""});
}

// Names that do not fit beside the title get their own rows above the plot, inside the frame.
TEST(ChartFigure, BreaksALongLegend) {
  Chart chart;
  chart.title = "cost";
  const auto top = [&] {
    const std::string svg = render_chart(chart);
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
  const std::string svg = render_chart(chart);
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
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
}

TEST(EmbeddedData, DistinguishesEvenSteps) {
  std::vector<double> x;
  for (int k = 0; k < 100; ++k) x.push_back(3.0 + 0.001 * k);
  EXPECT_TRUE(is_evenly_spaced(x));
  expect_parts(format_json_axis_values(x), {"\"from\":3,\"step\":0.001,\"count\":100"});
  x[50] += 1e-6;
  EXPECT_FALSE(is_evenly_spaced(x));
  expect_parts(format_json_axis_values(x), {"\"f64\":"});
  EXPECT_FALSE(is_evenly_spaced({1.0}));
  EXPECT_FALSE(is_evenly_spaced({1.0, 1.0}));
  EXPECT_EQ(format_json_values({1.5, kNaN, -2e-9}), "{\"values\":[1.5,null,-2e-09]}");
}

TEST(PageScripts, HaveTheLicenceAndNothingFromElsewhere) {
  const std::string& scripts = page_script_elements();
  expect_parts(scripts, {"Permission is hereby granted, free of charge", "uPlot=function()",
                         "Save data (CSV)"});
  for (const char* external : {"src=", "@import", "url(", "fetch(", "XMLHttpRequest"}) {
    EXPECT_EQ(scripts.find(external), std::string::npos) << external;
  }
  EXPECT_EQ(count_of(scripts, "<script>"), count_of(scripts, "</script>"));
}

Chart log_chart() {
  Chart chart;
  chart.title = "estimate";
  chart.x_label = "κ";
  chart.log_x = true;
  chart.series = {{"a", series_css_class(0), {0.0, 1e-2, 1.0, 1e2}, {9.0, 1.0, 2.0, 3.0}, true}};
  return chart;
}

// Equal factors must have equal distances on a logarithmic axis, and zero, which is not on it, must
// not be drawn.
TEST(LogarithmicAxis, SpacesFactorsEvenlyAndOmitsZero) {
  const std::string svg = render_chart(log_chart());
  std::vector<double> centres;
  for (std::size_t at = svg.find("<circle cx=\""); at != std::string::npos;
       at = svg.find("<circle cx=\"", at + 1)) {
    centres.push_back(std::stod(svg.substr(at + 12)));
  }
  ASSERT_EQ(centres.size(), 4U) << svg;  // the last one is the legend's
  EXPECT_NEAR(centres[2] - centres[1], centres[1] - centres[0], 0.11);  // rounded to 0.1
  EXPECT_EQ(svg.find(">9<"), std::string::npos) << "the axis reaches for what is not drawn";
  expect_parts(svg, {">10⁻²<", ">1<", ">10²<"});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

// A bar far longer than the spread of the points must neither flatten them nor leave the frame.
TEST(ErrorBars, StayInTheFrame) {
  Chart chart = log_chart();
  chart.series.front().y_error = {0.0, 0.1, 1e6, 0.0};
  const std::string svg = render_chart(chart);
  EXPECT_EQ(count_of(svg, " bar\""), 2U);
  for (std::size_t at = svg.find("y1=\""); at != std::string::npos;
       at = svg.find("y1=\"", at + 1)) {
    const double y = std::stod(svg.substr(at + 4));
    EXPECT_GE(y, 0.0);
    EXPECT_LE(y, chart.height);
  }
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

/// The plot of one parameter, whose only part is as far from it as requested.
std::string forest_of(double value, double half_width) {
  estimator::ParameterEstimate estimate{
      .name = "B.m", .unit = "kg", .value = value, .half_interval = half_width};
  estimator::RecordingPartEstimate part;
  part.values = Eigen::VectorXd::Constant(1, value);
  part.standard_deviations = Eigen::VectorXd::Constant(1, half_width / 2.0);
  return render_forest_plot({part}, {"all"}, {estimate}, {0});
}

// A tick at either end of an axis has its text inside the picture, which is clipped, and clear of
// its neighbours. A single tick would show no scale.
TEST(ForestPicture, KeepsTheTextsOfTicksInside) {
  const std::string tick =
      "<text (x=\"[-0-9.]+\" y=\"[0-9.]+\") text-anchor=\"middle\" class=\"tick\">";
  for (const double half_width : {0.92e-4, 1.0e-4, 1.3e-4, 1.0e-3, 4.2e-2, 0.5}) {
    const std::string html = forest_of(0.0, half_width);
    const std::vector<std::string> places = matches(html, tick);
    EXPECT_GE(places.size(), 2U) << html;
    double taken = 0.0;
    for (const std::string& place : places) {
      const double x = std::stod(place.substr(3));
      const std::size_t begin = html.find('>', html.find(place)) + 1;
      const std::string text = html.substr(begin, html.find('<', begin) - begin);
      const double half = 3.5 * static_cast<double>(text.size());  // [px]
      EXPECT_GE(x - half, taken) << text;
      EXPECT_LE(x + half, 192.0) << text;
      taken = x + half;
    }
  }
}

// Session names hold a subject and a time: a shortened name must keep both ends.
TEST(ForestPicture, NamesStayDistinct) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(shorten_names({"run.csv", "run.csv", "other.csv"}, 15),
            (Names{"run.csv", "run.csv", "other.csv"}));
  EXPECT_EQ(shorten_names({"release-1795264085799221042", "release-1795264085799221999",
                           "release-1795264085799221042"},
                          15),
            (Names{"release…9221042", "release…9221999", "release…9221042"}));
  EXPECT_EQ(shorten_names({"multisine-1795264085799221042", "chirp-1795264085799221042"}, 15),
            (Names{"multisi…9221042", "chirp-1…9221042"}));
  // Equal at both ends: numbered.
  EXPECT_EQ(
      shorten_names({"long-name-of-one-run.csv", "short.csv", "long-name-of-two-run.csv"}, 12),
      (Names{"recording 1", "recording 2", "recording 3"}));
  // Multi-byte characters stay whole.
  EXPECT_EQ(shorten_names({"äöüäöüäöüäöü"}, 5), (Names{"äö…öü"}));
}

std::string matrix_of(int size) {
  std::vector<std::string> names;
  for (int k = 0; k < size; ++k) names.push_back("p" + std::to_string(k));
  return render_correlation_heat_map(Eigen::MatrixXd::Identity(size, size), names);
}

/// Rows of each band.
std::vector<std::size_t> bands_of(int size) {
  const std::string html = matrix_of(size);
  std::vector<std::size_t> bands;
  for (std::size_t at = 0; (at = html.find("<div><svg", at)) != std::string::npos; ++at) {
    const std::string band = html.substr(at, html.find("</div>", at) - at);
    bands.push_back(matches(band, "(text-anchor=\"end\")").size());
  }
  return bands;
}

// On paper a block without page breaks must be far shorter than half a page. A large matrix is
// split into bands of about equal numbers of rows, each with the column names above.
TEST(CorrelationMatrix, BreaksBetweenBandsOfRows) {
  using Bands = std::vector<std::size_t>;
  EXPECT_EQ(bands_of(2), Bands{2});
  EXPECT_EQ(bands_of(5), Bands{5});
  EXPECT_EQ(bands_of(6), (Bands{3, 3}));
  EXPECT_EQ(bands_of(8), (Bands{4, 4}));
  EXPECT_EQ(bands_of(9), (Bands{3, 3, 3}));
  EXPECT_EQ(bands_of(17), (Bands{3, 3, 4, 3, 4}));
  EXPECT_EQ(matches(matrix_of(5), "(class=\"again\")").size(), 0U);
  EXPECT_EQ(matches(matrix_of(17), "(class=\"again\")").size(), 4U);
  EXPECT_EQ(matches(matrix_of(17), "(>1.00</text>)").size(), 17U);
  EXPECT_EQ(matches(matrix_of(17), "(<rect)").size(), 17U * 17U);
  EXPECT_EQ(matches(matrix_of(9), "(rotate\\(-90\\))").size(), 3U * 9U);
}

TEST(CorrelationMatrix, HasNoSignOnZero) {
  Eigen::MatrixXd small = Eigen::MatrixXd::Identity(2, 2);
  small(0, 1) = -0.004;
  small(1, 0) = -0.0051;
  const std::string html = render_correlation_heat_map(small, {"a", "b"});
  expect_parts(html, {">0.00</text>", ">-0.01</text>"});
  EXPECT_EQ(html.find("-0.00<"), std::string::npos);
}

}  // namespace
}  // namespace service
