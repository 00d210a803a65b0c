#include "tests/studies/runs/study_figures.hpp"

#include <gtest/gtest.h>

namespace service {
namespace {

// Small quantities are scaled by powers of a thousand, which the label states.
TEST(StudyFigure, ScalesSmallQuantities) {
  Chart chart;
  chart.series = {{"a", series_class(0), {1.0, 2.0}, {0.003, 0.004}}};
  scale_axis(chart, "J", "kg·m²");
  EXPECT_EQ(chart.y_label, "J [10⁻³ kg·m²]");
  EXPECT_NEAR(chart.series[0].y[1], 4.0, 1e-12);
}

}  // namespace
}  // namespace service
