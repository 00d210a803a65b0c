#include "service/report/charts/figure.hpp"
#include "tests/support/texts.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace service {
namespace {

using test_support::count_of;

Chart log_chart() {
  Chart chart;
  chart.title = "estimate";
  chart.x_label = "κ";
  chart.log_x = true;
  chart.series = {{"a", series_class(0), {0.0, 1e-2, 1.0, 1e2}, {9.0, 1.0, 2.0, 3.0}, true}};
  return chart;
}

// Equal factors must have equal distances on a logarithmic axis, and zero, which is not on it, must
// not be drawn.
TEST(LogarithmicAxis, SpacesFactorsEvenlyAndOmitsZero) {
  const std::string svg = svg_chart(log_chart());
  std::vector<double> centres;
  for (std::size_t at = svg.find("<circle cx=\""); at != std::string::npos;
       at = svg.find("<circle cx=\"", at + 1)) {
    centres.push_back(std::stod(svg.substr(at + 12)));
  }
  ASSERT_EQ(centres.size(), 4U) << svg;  // the last one is the legend's
  EXPECT_NEAR(centres[2] - centres[1], centres[1] - centres[0], 0.11);  // rounded to 0.1
  EXPECT_EQ(svg.find(">9<"), std::string::npos) << "the axis reaches for what is not drawn";
  for (const char* tick : {">10⁻²<", ">1<", ">10²<"}) {
    EXPECT_NE(svg.find(tick), std::string::npos) << tick;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

// A bar far longer than the spread of the points must neither flatten them nor leave the frame.
TEST(ErrorBars, StayInTheFrame) {
  Chart chart = log_chart();
  chart.series.front().y_error = {0.0, 0.1, 1e6, 0.0};
  const std::string svg = svg_chart(chart);
  EXPECT_EQ(count_of(svg, " bar\""), 2U);
  for (std::size_t at = svg.find("y1=\""); at != std::string::npos;
       at = svg.find("y1=\"", at + 1)) {
    const double y = std::stod(svg.substr(at + 4));
    EXPECT_GE(y, 0.0);
    EXPECT_LE(y, chart.height);
  }
}

// A figure is one self-contained file, with every series named once.
TEST(Figure, IsOneFileWithOneLegend) {
  Figure figure{"f", "Title <1>", "caption", 2, {log_chart(), log_chart(), log_chart()}};
  const std::string svg = figure_file(figure);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_EQ(count_of(svg, "<svg"), 1U);
  EXPECT_EQ(count_of(svg, "Title &lt;1&gt;"), 2U);  // title and label
  EXPECT_EQ(count_of(svg, ">a</text>"), 1U);
  EXPECT_NE(svg.find("(c) estimate"), std::string::npos);
  EXPECT_EQ(svg.find("http", 40), std::string::npos);
}

// Small quantities are scaled by powers of a thousand, which the label states.
TEST(Figure, ScalesSmallQuantities) {
  Chart chart;
  chart.series = {{"a", series_class(0), {1.0, 2.0}, {0.003, 0.004}}};
  scale_axis(chart, "J", "kg·m²");
  EXPECT_EQ(chart.y_label, "J [10⁻³ kg·m²]");
  EXPECT_NEAR(chart.series[0].y[1], 4.0, 1e-12);
}

}  // namespace
}  // namespace service
