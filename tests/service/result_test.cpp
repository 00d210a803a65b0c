#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "proto/calibration.pb.h"
#include "service/report/calibration_page.hpp"
#include "service/report/number_format.hpp"
#include "service/report/result_table.hpp"
#include "service/report/svg_chart.hpp"
#include "tests/service/prepared_calibration.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++count;
  }
  return count;
}

// The text goes through protobuf's own JSON parser: what it reads must be what was estimated.
TEST(CalibrationJson, ReadsBackAsTheSchema) {
  const std::string json = calibration_json(prepared_calibration(), prepared_context());
  rigcal::v1::CalibrationResult result;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &result).ok());
  ASSERT_EQ(result.parameters_size(), 2);
  EXPECT_EQ(result.parameters(0).name(), "B.J_zz");
  EXPECT_EQ(result.parameters(0).value(), 0.0039601);
  EXPECT_EQ(result.parameters(0).standard_deviation(), 2.34e-6);
  EXPECT_TRUE(std::isinf(result.parameters(0).upper()));
  EXPECT_TRUE(std::isinf(result.parameters(1).standard_deviation()));
  EXPECT_TRUE(std::isnan(result.parameters(1).prior_mean()));
  EXPECT_TRUE(result.parameters(1).at_bound());
  EXPECT_EQ(result.simulation(0).rmse_rad(), 0.003);
  EXPECT_EQ(result.correlation(0).values(1), -0.75);
  EXPECT_EQ(result.history_size(), 3);
  EXPECT_TRUE(result.converged());
  EXPECT_EQ(result.recordings(0).samples(), 20002);
  EXPECT_FALSE(result.recordings(0).segments(2).used());
  EXPECT_EQ(result.null_directions(0).coefficients(1), 1.0);
}

// Readers index fields by name: those of value zero and of infinite value must be there too.
TEST(CalibrationJson, HoldsEveryFieldThatReadersIndex) {
  const std::string json = calibration_json(prepared_calibration(), prepared_context());
  for (const char* field :
       {"\"parameters\"", "\"standardDeviation\"", "\"lower\"", "\"upper\"", "\"initial\"",
        "\"unit\"", "\"atBound\"", "\"rmseRad\"", "\"wallTimeS\"", "\"nullDirections\"",
        "\"iterations\"", "\"termination\"", "\"cost\"", "\"version\""}) {
    EXPECT_NE(json.find(field), std::string::npos) << field;
  }
  EXPECT_EQ(count_of(json, "\"lower\""), 2);
  expect_parts(json, {"\"upper\": \"Infinity\"", "\"lower\": 0"});
}

TEST(NumberFormat, RoundsToTheSecondDigitOfTheDeviation) {
  const auto both = [](double value, double sd) {
    const Measured m = format_measured(value, sd);
    return m.value + " ± " + m.standard_deviation;
  };
  EXPECT_EQ(both(0.0039601, 2.34e-6), "0.0039601 ± 0.0000023");
  EXPECT_EQ(both(3.96012e-4, 2.34e-6), "396.0e-6 ± 2.3e-6");
  EXPECT_EQ(both(-12.3456, 0.9961), "-12.3 ± 1.0");
  EXPECT_EQ(both(1234567.0, 2000.0), "1.2346e6 ± 0.0020e6");
  EXPECT_EQ(both(9.994e-4, 4.3e-6), "999.4e-6 ± 4.3e-6");
  EXPECT_EQ(both(5.0, 30.0), "5 ± 30");
  EXPECT_EQ(both(5.0, INFINITY), "5 ± inf");
  EXPECT_EQ(both(0.0, 1e-4), "0 ± 100e-6");
  EXPECT_EQ(both(-0.01, 3.0), "0 ± 3.0");
  EXPECT_EQ(both(2.5e-5, 0.0), "25e-6 ± -");
  EXPECT_EQ(both(2.5, 0.0), "2.5 ± -");
  EXPECT_EQ(format_number(1e-5), "1e-5");
  EXPECT_EQ(format_number(-INFINITY), "-inf");
  EXPECT_EQ(format_quantity(5.7e-5), "57e-6");
  EXPECT_EQ(format_quantity(2.61e-7, 2), "261e-9");
  EXPECT_EQ(format_quantity(261.0, 2), "261");
  EXPECT_EQ(format_quantity(-0.00107), "-0.00107");
  EXPECT_EQ(format_quantity(0.0), "0");
  EXPECT_EQ(format_quantity(INFINITY), "inf");
}

TEST(ResultTable, AlignsColumnsDespiteUnitsInUnicode) {
  const std::string text = format_table({{"a", "kg·m²"}, {"bbb", "m"}}, {false, true});
  EXPECT_EQ(text, "a    kg·m²\nbbb      m\n");
}

TEST(ResultTable, TellsWhatAPersonMustKnow) {
  const std::string text = format_calibration(prepared_calibration(), 0.25);
  expect_parts(text, {"B.J_zz", "0.0039601", "0.0000023", "kg·m²", "at lower bound 0",
                      "hinge pivot", "3", "1.b is not seen", "chosen for a test", "Converged",
                      "cost tolerance", "2 iterations"});
  estimator::Calibration failed = prepared_calibration();
  failed.termination = estimator::Termination::kMaxIterations;
  expect_parts(format_calibration(failed, 0.25), {"NOT CONVERGED"});
}

TEST(CalibrationPage, IsSelfContainedAndComplete) {
  const std::string html = calibration_page(prepared_calibration(), prepared_context());
  // Title, summary, two trajectories with angle, residual and control, cost, correlation.
  expect_parts(html,
               {"<!DOCTYPE html>", "Calibration of test rig", "prefers-color-scheme: dark",
                "@media print", "angle [rad]", "residual [mrad]", "time [s]", "cost per iteration",
                "Correlation of the estimates", "-0.75", "1.b is not seen", "at bound", "</html>"});
  EXPECT_EQ(count_of(html, "measured</text>"), 2 + 2);  // legends and residual titles
  EXPECT_EQ(count_of(html, "<svg"), count_of(html, "</svg>"));
  for (const char* external : {"http:", "https:", "<script", "<link", "@import", "url("}) {
    EXPECT_EQ(html.find(external), std::string::npos) << external;
  }
  EXPECT_EQ(html.find("nan"), std::string::npos);
}

// A file or parameter name must not become markup.
TEST(CalibrationPage, EscapesNames) {
  const std::string html = calibration_page(prepared_calibration(), prepared_context());
  expect_parts(html, {"1.&lt;b&gt;", "run &amp; more.csv"});
  EXPECT_EQ(html.find("<b>\""), std::string::npos);
  EXPECT_EQ(html.find("1.<b>"), std::string::npos);
}

// 100 000 points on 800 pixels: few points, yet every spike is kept and the gap stays a gap.
TEST(Decimation, KeepsSpikesAndGaps) {
  std::vector<double> x(100000);
  std::vector<double> y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = 1e-3 * static_cast<double>(k);
    y[k] = std::sin(0.1 * x[k]);
  }
  y[54321] = 40.0;
  y[77777] = -40.0;
  for (std::size_t k = 30000; k < 30010; ++k) y[k] = NAN;
  const std::vector<std::size_t> kept = decimate(x, y, 800);
  EXPECT_LE(kept.size(), 4 * 803U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  for (const std::size_t index :
       {std::size_t{0}, std::size_t{54321}, std::size_t{77777}, x.size() - 1}) {
    EXPECT_NE(std::find(kept.begin(), kept.end(), index), kept.end()) << index;
  }
  EXPECT_TRUE(
      std::any_of(kept.begin(), kept.end(), [&](std::size_t k) { return std::isnan(y[k]); }));
}

TEST(Ticks, AreRoundAndCoverTheRange) {
  EXPECT_EQ(nice_ticks(0.0, 10.0, 10).size(), 11U);
  const std::vector<double> ticks = nice_ticks(-0.3, 0.3, 6);
  ASSERT_EQ(ticks.size(), 7U);
  for (int k = 0; k < 7; ++k) EXPECT_NEAR(ticks[static_cast<std::size_t>(k)], 0.1 * (k - 3), 1e-15);
  EXPECT_EQ(ticks[3], 0.0);
  for (const double tick : nice_ticks(0.00123, 0.00987, 5)) {
    EXPECT_NEAR(tick * 1e3, std::round(tick * 1e3 * 2.0) / 2.0, 1e-9);
  }
  EXPECT_EQ(nice_ticks(2.0, 2.0, 5).size(), 1U);
}

// Degenerate charts must draw: a single point, a constant, nothing observed.
TEST(Chart, SurvivesDegenerateData) {
  for (const std::vector<double>& y : {std::vector<double>{1.0, 1.0}, {NAN, NAN}, {0.0, -0.0}}) {
    Chart chart;
    chart.series = {{"s", "simulated", {0.0, 1.0}, y, true}};
    const std::string svg = svg_chart(chart);
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
  }
}

}  // namespace
}  // namespace service
