#include "tests/studies/runs/study_figures.hpp"

#include <gtest/gtest.h>

namespace service {
namespace {

Chart log_chart() {
  Chart chart;
  chart.title = "estimate";
  chart.x_label = "κ";
  chart.log_x = true;
  chart.series = {{"a", series_css_class(0), {0.0, 1e-2, 1.0, 1e2}, {9.0, 1.0, 2.0, 3.0}, true}};
  return chart;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// A figure is one self-contained file, with every series named once.
TEST(StudyFigure, IsOneFileWithOneLegend) {
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
TEST(StudyFigure, ScalesSmallQuantities) {
  Chart chart;
  chart.series = {{"a", series_css_class(0), {1.0, 2.0}, {0.003, 0.004}}};
  scale_axis(chart, "J", "kg·m²");
  EXPECT_EQ(chart.y_label, "J [10⁻³ kg·m²]");
  EXPECT_NEAR(chart.series[0].y[1], 4.0, 1e-12);
}

}  // namespace
}  // namespace service
