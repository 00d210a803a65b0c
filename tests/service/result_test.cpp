#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>

#include "proto/calibration.pb.h"
#include "service/messages/message_text.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"
#include "tests/service/prepared_calibration.hpp"
#include "tests/support/json.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

/// The visible page, without its scripts and their data.
std::string without_scripts(std::string html) {
  for (std::size_t at = 0; (at = html.find("<script", at)) != std::string::npos;) {
    html.erase(at, html.find("</script>", at) - at);
  }
  return html;
}

// Protobuf's own JSON parser must read back the estimated values.
TEST(CalibrationJson, ReadsBackAsTheSchema) {
  const std::string json = calibration_json(prepared_calibration(), prepared_context());
  const auto result = from_json<rigcal::v1::CalibrationResult>(json);
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

// Programs index fields by name, so zero and infinite values must be present too.
TEST(CalibrationJson, ContainsEveryFieldThatReadersUse) {
  const std::string json = calibration_json(prepared_calibration(), prepared_context());
  expect_parts(json,
               {"\"parameters\"", "\"standardDeviation\"", "\"lower\"", "\"upper\"", "\"initial\"",
                "\"unit\"", "\"atBound\"", "\"rmseRad\"", "\"wallTimeS\"", "\"nullDirections\"",
                "\"iterations\"", "\"termination\"", "\"cost\"", "\"version\""});
  EXPECT_EQ(count_of(json, "\"lower\""), 2);
  expect_parts(json, {"\"upper\": \"Infinity\"", "\"lower\": 0"});
}

TEST(ResultTable, AlignsColumnsDespiteUnitsInUnicode) {
  const std::string text = format_table({{"a", "kg·m²"}, {"bbb", "m"}}, {false, true});
  EXPECT_EQ(text, "a    kg·m²\nbbb      m\n");
}

TEST(ResultTable, ReportsEssentials) {
  const std::string text = format_calibration(prepared_calibration(), 0.25);
  expect_parts(text, {"B.J_zz", "3.9601", "0.0023", "10⁻³ kg·m²", "at lower bound 0", "joint pivot",
                      "3", "1.b is not seen", "chosen for a test", "Converged", "cost tolerance",
                      "2 iterations"});
  estimator::Calibration failed = prepared_calibration();
  failed.termination = estimator::Termination::kMaxIterations;
  expect_parts(format_calibration(failed, 0.25), {"NOT CONVERGED"});
}

TEST(CalibrationJson, ContainsContradictionsAndEffectsOfFixedValues) {
  estimator::Calibration calibration = prepared_calibration();
  calibration.fixed_value_effects = {{"1.b_x", "A.J_zz", -2e-5, 9.0}};
  calibration.contradictions = {{.name = "2.a_x",
                                 .unit = "m",
                                 .kept = 0.0542,
                                 .value = 0.0537,
                                 .standard_deviation = 2e-5,
                                 .decrease = 600.0,
                                 .moved = "B.J_zz",
                                 .shift = 3.4}};
  const auto result =
      from_json<rigcal::v1::CalibrationResult>(calibration_json(calibration, prepared_context()));
  ASSERT_EQ(result.contradictions_size(), 1);
  const rigcal::v1::ContradictionResult& only = result.contradictions(0);
  EXPECT_EQ(only.parameter(), "2.a_x");
  EXPECT_EQ(only.unit(), "m");
  EXPECT_EQ(only.kept(), 0.0542);
  EXPECT_EQ(only.value(), 0.0537);
  EXPECT_EQ(only.standard_deviation(), 2e-5);
  EXPECT_EQ(only.most_affected_parameter(), "B.J_zz");
  EXPECT_EQ(only.shift(), 3.4);
  ASSERT_EQ(result.fixed_value_effects_size(), 1);
  const rigcal::v1::FixedValueEffectResult& effect = result.fixed_value_effects(0);
  EXPECT_EQ(effect.parameter(), "1.b_x");
  EXPECT_EQ(effect.most_affected_parameter(), "A.J_zz");
  EXPECT_EQ(effect.change(), -2e-5);
  EXPECT_EQ(effect.shift(), 9.0);
}

// Dependent parameters are listed after the estimates, with their standard deviations.
TEST(Results, ContainDependentParameters) {
  estimator::Calibration calibration = prepared_calibration();
  calibration.dependent = {{"C.J", "kg·m²", 0.0071, 4e-5, 0.009, 1e-9, INFINITY, false, 8e-5}};
  estimator::Parameter prior{
      .name = "C.J", .prior_mean = 0.007, .prior_standard_deviation = 0.0003};
  calibration.mechanism.parameters = {prior};
  expect_parts(format_calibration(calibration, 0.25), {"C.J", "7.100", "0.040", "dependent"});
  const auto result =
      from_json<rigcal::v1::CalibrationResult>(calibration_json(calibration, prepared_context()));
  ASSERT_EQ(result.dependent_size(), 1);
  EXPECT_EQ(result.parameters_size(), 2);
  EXPECT_EQ(result.dependent(0).name(), "C.J");
  EXPECT_EQ(result.dependent(0).standard_deviation(), 4e-5);
  EXPECT_EQ(result.dependent(0).prior_mean(), 0.007);
  expect_parts(render_calibration_page(calibration, prepared_context()),
               {"C.J", "dependent", "7.020 … 7.180", "95 % of the prior"});
}

TEST(CalibrationPage, IsSelfContainedAndComplete) {
  const std::string page = render_calibration_page(prepared_calibration(), prepared_context());
  const std::string html = without_scripts(page);
  // Title, summary, two trajectories with angle, residual and control, cost, correlation.
  expect_parts(html, {"<!DOCTYPE html>", "Calibration of test rig", "prefers-color-scheme: dark",
                      "@media print", "angle [rad]", "residual [mrad]", "time [s]",
                      "cost per iteration", "1.b is not seen", "at lower bound 0", "</html>"});
  EXPECT_EQ(count_of(html, "measured</text>"), 2);          // legends
  EXPECT_EQ(count_of(html, "− measured, RMSE 3 mrad"), 4);  // titles, each also for screen readers
  EXPECT_EQ(count_of(html, "<svg"), count_of(html, "</svg>"));
  for (const char* external : {"http:", "src=", "<link", "@import", "url("}) {
    EXPECT_EQ(page.find(external), std::string::npos) << external;
  }
  EXPECT_EQ(html.find("https:"), std::string::npos);
  // Readings of two segments, the cost, the use; a correlation needs two identifiable parameters.
  EXPECT_EQ(count_of(page, "<script type=\"application/json\""), 4);
  EXPECT_EQ(count_of(page, "<script"), count_of(page, "</script>"));
  EXPECT_EQ(count_of(html, "<table"), count_of(html, "<caption>"));
  EXPECT_EQ(count_of(html, "<th>"), 0) << "a head without a scope";
  EXPECT_EQ(html.find("nan"), std::string::npos);
}

/// The prepared result with two correlated parameters, and a prior on one.
estimator::Calibration correlated_calibration() {
  estimator::Calibration c = prepared_calibration();
  c.parameters = {{"A.J", "kg·m²", 0.004, 1e-5, 0.01, 1e-9, INFINITY, false, 2e-5},
                  {"A.m", "kg", 0.5, 0.3, 0.5, 0.0, INFINITY, false, 0.6}};
  c.correlation = (Eigen::MatrixXd(2, 2) << 1.0, 0.8, 0.8, 1.0).finished();
  c.null_directions = {
      {estimator::Message(std::string("A.J and A.m trade off")), Eigen::Vector2d(2e-3, -1.0)}};
  estimator::Parameter parameter{
      .name = "A.J", .prior_mean = 0.0045, .prior_standard_deviation = 0.0002};
  c.mechanism.parameters = {parameter};
  return c;
}

// An interval from other numbers than the estimate's, or an omitted prior, would mislead whoever
// publishes it.
TEST(CalibrationPage, ShowsIntervalsAgainstPriorAndBounds) {
  const std::string html = render_calibration_page(correlated_calibration(), prepared_context());
  expect_parts(html, {"3.980 … 4.020", "4.50 ± 0.20", "≥ 1e-6", "[10⁻³ kg·m²]", "class=\"prior\"",
                      "95 % of the prior", "0.50 %", "includes 0"});
  const std::string without = render_calibration_page(prepared_calibration(), prepared_context());
  EXPECT_EQ(without.find("class=\"prior\""), std::string::npos);
}

// With a correlation of 0.8, knowing the other parameter would shrink a standard deviation by
// sqrt(1 − 0.8²) = 0.6: a factor of 1/0.6 = 1.7.
TEST(CalibrationPage, ReportsUnidentifiableDirections) {
  const std::string html = render_calibration_page(correlated_calibration(), prepared_context());
  expect_parts(html, {"A.J and A.m trade off", "ΔA.J = 0.002 kg·m², ΔA.m = -1 kg",
                      "A.m is compatible with zero", ">1.7</td>", ">0.0060</td>", "A.m (0.8)",
                      "Correlation of the estimates"});
  // A parameter without effect is its own null direction, without partners.
  estimator::Calibration lone = correlated_calibration();
  lone.null_directions = {
      {estimator::Message(std::string("A.m has no effect")), Eigen::Vector2d(0.0, 1.0)}};
  lone.initial_null_directions = lone.null_directions;
  const std::string lone_html = render_calibration_page(lone, prepared_context());
  expect_parts(lone_html, {"<b>A.m has no effect</b>.", "The same directions were unidentifiable"});
  EXPECT_EQ(lone_html.find("any multiple"), std::string::npos);
  estimator::Calibration clear = correlated_calibration();
  clear.null_directions.clear();
  clear.parameters[1].standard_deviation = 0.01;
  clear.parameters[1].half_interval = 0.02;
  expect_parts(render_calibration_page(clear, prepared_context()),
               {"Every free parameter is identifiable"});
}

TEST(CalibrationPage, ReportsDataQualityAndOptions) {
  CalibrationMetadata context = prepared_context();
  ImportSummary& summary = context.recordings[0].summary;
  summary.rows = 20006 + 3340;
  summary.rows_before_release = 3340;
  summary.clock = {34.95, 0.01};
  summary.arrival = {740.0, 4262.0};
  summary.gaps = {{0, 10.0, 10.0}};
  summary.missing_samples = 9999;
  summary.scenario = "release";
  context.options.step = 0.001;
  const std::string html = render_calibration_page(prepared_calibration(), context);
  expect_parts(html,
               {"run &amp; more.csv (release)", "20002", "3340 before a release, 4 in short parts",
                "1 (9999 samples)", "+34.950 ± 0.010 ppm", "740 µs (99 %), 4262 µs",
                "Gaps: 10 s after 10 s", "0.001 s (requested)", "10000", "rigcal 1.2.3"});
  EXPECT_EQ(count_of(html, "class=\"used\""), 2);
  EXPECT_EQ(count_of(html, "class=\"unused\""), 1);
  EXPECT_EQ(count_of(html, "class=\"gap\""), 1);
}

// Every solve is a separate problem; joined, they would look like a rising cost. Rounds of one
// stage share a name in the legend.
TEST(CalibrationPage, PlotsEachSolveOfAFitSeparatelyWithItsStage) {
  estimator::Calibration c = prepared_calibration();
  EXPECT_EQ(render_calibration_page(c, prepared_context()).find("cannot be compared"),
            std::string::npos);
  c.refined = true;
  c.refinement_termination = estimator::Termination::kMaxIterations;
  const auto add = [&](int iteration, int solve, estimator::SolveKind kind) {
    estimator::IterationRecord record{
        .iteration = iteration, .cost = 1.0 + iteration, .solve = solve, .kind = kind};
    c.refinement_history.push_back(record);
  };
  for (const int k : {0, 1, 2}) add(k, 0, estimator::SolveKind::kSmoothedFriction);
  for (const int k : {2, 3}) add(k, 1, estimator::SolveKind::kRigFriction);
  for (const int k : {4, 5}) add(k, 2, estimator::SolveKind::kRigFriction);
  const std::string page = render_calibration_page(c, prepared_context());
  const std::string html = without_scripts(page);
  expect_parts(html,
               {"Not converged", "are valid only at an optimum",
                "Costs of different stages cannot be compared", "Their costs cannot be compared"});
  EXPECT_EQ(count_of(html, ">with smoothed friction</text>"), 1);
  EXPECT_EQ(count_of(html, ">with the rig&#39;s friction</text>") +
                count_of(html, ">with the rig's friction</text>"),
            1);
  // A line is interrupted where its second solve begins: two "move to" commands.
  const std::size_t line = html.find("class=\"line series-2\"");
  ASSERT_NE(line, std::string::npos);
  const std::string path = html.substr(html.rfind("<path", line), line - html.rfind("<path", line));
  EXPECT_EQ(count_of(path, "M"), 2) << path;
  expect_parts(page, {"\"iteration\",\"data\":{\"values\":[0,1,2,2,2,3,3.5,4,5]}"});
}

// On paper a figure stands alone; its image and data can be downloaded separately.
TEST(CalibrationPage, HasACaptionForEveryFigure) {
  estimator::Calibration c = correlated_calibration();
  c.correlation = Eigen::MatrixXd::Identity(2, 2);
  const std::string page = render_calibration_page(c, prepared_context());
  const std::string html = without_scripts(page);
  EXPECT_EQ(count_of(html, "<figure>"), count_of(html, "</figcaption>"));
  EXPECT_EQ(count_of(html, "<figure>"), count_of(page, "<script type=\"application/json\""));
  EXPECT_EQ(count_of(html, "<figcaption></figcaption>"), 0);
  expect_parts(page, {"<figcaption>run &amp; more.csv, 20 s to 30 s: encoder readings",
                      "<figcaption>Joint estimation: cost after each iteration.",
                      "<figcaption>Correlation between the errors of two estimates",
                      "<figcaption>Used samples of run &amp; more.csv over time",
                      "<span class=\"hint\">10001 rows of data.</span>", "Save SVG",
                      "from [s],to [s],what,samples used\\u000a"});
}

// A page without its date, program and input files cannot be cited.
TEST(CalibrationPage, StatesItsProvenance) {
  CalibrationMetadata context = prepared_context();
  context.date = "2026-11-22T20:15:33Z";
  context.request.operator_name = "Ada & Co";
  context.request.rig_name = "rig.textproto";
  context.request.rig_text = "abc";  // FIPS 180-2, appendix B.1
  context.recordings[0].mark = {"0123abcd", 4711};
  expect_parts(
      render_calibration_page(prepared_calibration(), context),
      {"2026-11-22 20:15 UTC · rigcal 1.2.3 · operator Ada &amp; Co", "rig.textproto",
       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "0123abcd", "4711"});
}

// Rejected readings and findings must be drawn at their times.
TEST(CalibrationPage, DrawsRejectedReadingsAndFindings) {
  estimator::Calibration calibration = prepared_calibration();
  const auto treated = [](int count) {
    estimator::Finding made = estimator::make_finding({estimator::MessageCode::kRestIntervals,
                                                       {{"encoder", "pivot"},
                                                        {"percent", 20.0 * count},
                                                        {"first", 0.5},
                                                        {"is_held", false},
                                                        {"interval", estimator::Quantity{0.1, "s"}},
                                                        {"rejected", count}}},
                                                      "run & more.csv", "pivot");
    made.from = made.to = 0.5;
    made.treated = true;
    return made;
  };
  estimator::Finding finding = treated(1), marked = treated(3);
  marked.intervals = {{0.7, 0.7}, {3.0, 4.0}, {15.0, 16.0}};
  calibration.findings = {finding, marked};
  CalibrationMetadata context = prepared_context();
  EXPECT_EQ(count_of(render_calibration_page(calibration, context), "rejected pivot"), 0);
  context.held = {{"run & more.csv", 0, 0.5, 9.0}, {"other.csv", 0, 0.7, 9.0}};
  const std::string html = render_calibration_page(calibration, context);
  EXPECT_EQ(count_of(html, "rejected pivot [rad]"), 1);  // of the segment that contains 0.5 s
  // The treatment is in its own column, if there was any.
  EXPECT_EQ(count_of(render_finding_section(calibration.findings), ">done automatically<"), 1);
  finding.treated = false;
  EXPECT_EQ(count_of(render_finding_section({finding}), ">done automatically<"), 0);
  // A point is a single mark; time spans of the segment are shaded in both its charts.
  EXPECT_EQ(count_of(html, "<title>" + describe_finding(finding).what), 0);
  const FindingText text = describe_finding(marked);
  const std::string title = "<title>" + text.what + " (" + text.treatment + ")</title>";
  EXPECT_EQ(count_of(html, std::regex_replace(title, std::regex("\""), "&quot;")), 4);
  EXPECT_EQ(count_of(html, "class=\"mark note\""), 4);
  EXPECT_EQ(count_of(html, "class=\"mark\""), 0);
  calibration.findings[1].severity = estimator::Severity::kWarning;
  EXPECT_EQ(count_of(render_calibration_page(calibration, context), "class=\"mark\""), 4);
}

// File and parameter names must be escaped.
TEST(CalibrationPage, EscapesNames) {
  const std::string html = render_calibration_page(prepared_calibration(), prepared_context());
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
  const std::vector<std::size_t> kept = select_points_to_draw(x, y, 800);
  EXPECT_LE(kept.size(), 4 * 803U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  for (const std::size_t index :
       {std::size_t{0}, std::size_t{54321}, std::size_t{77777}, x.size() - 1}) {
    EXPECT_NE(std::find(kept.begin(), kept.end(), index), kept.end()) << index;
  }
  EXPECT_TRUE(
      std::any_of(kept.begin(), kept.end(), [&](std::size_t k) { return std::isnan(y[k]); }));
}

// The cost of a fit that hardly falls: ticks with four digits were 20203, 20203, 20202, 20202.
TEST(Chart, WritesDistinctTicksAndTheirCommonPartOnce) {
  Chart chart{.title = "Cost", .x_label = "iteration", .y_label = "cost", .series = {}};
  chart.series = {{"", "measured", {0.0, 1.0, 2.0}, {20203.17, 20202.61, 20202.42}}};
  for (const bool logarithmic : {false, true}) {
    chart.log_y = logarithmic;
    const std::string svg = render_chart(chart);
    expect_parts(svg, {">20202.4<", ">20202.6<", ">20203.0<"});
  }
  chart.series[0].y = {20202.617, 20202.61, 20202.602};
  const std::string close = render_chart(chart);
  expect_parts(close, {">cost − 20202.6<", ">0.010<"});
}

// Degenerate charts must be drawn: a single point, a constant, no observation.
TEST(Chart, SurvivesDegenerateData) {
  for (const std::vector<double>& y : {std::vector<double>{1.0, 1.0}, {NAN, NAN}, {0.0, -0.0}}) {
    Chart chart;
    chart.series = {{"s", "simulated", {0.0, 1.0}, y, true}};
    const std::string svg = render_chart(chart);
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
  }
}

// The estimator decides (verdict_test.cpp); here its verdict becomes a warning for the joint.
TEST(DescribeMisfit, WarnsOfAJointWithUnexplainedMotion) {
  estimator::Calibration calibration = prepared_calibration();
  calibration.refined = true;
  EXPECT_TRUE(describe_unexplained_joints(calibration).empty());
  calibration.simulation.front().rmse = 0.5;  // for a motion of 1/√2
  ASSERT_EQ(describe_unexplained_joints(calibration).size(), 1U);
  expect_parts(format_note(describe_unexplained_joints(calibration).front()),
               {"warning: ", "does not reproduce", "71 % of the motion", "unit"});
}

estimator::Calibration judged_calibration() {
  estimator::Calibration calibration = prepared_calibration();
  calibration.parameters[0].noise_deviation = 1.1e-6;
  calibration.parameters[0].scatter_deviation = 2.34e-6;
  calibration.parameters[0].half_interval = 5.5e-6;
  calibration.verdict = {
      estimator::VerdictKind::kRejected,
      {{estimator::MessageCode::kSegmentsDisagree, {{"statistic", 412.0}, {"degrees", 60.0}}}}};
  calibration.agreement = {412.0, 60.0, 1e-40};
  for (int p = 0; p < 3; ++p) {
    calibration.parts.push_back({"run & more.csv", 3.0 * p, 3.0 * p + 3.0,
                                 Eigen::Vector2d(0.00396 + 2e-6 * p, NAN),
                                 Eigen::Vector2d(1e-6, NAN)});
  }
  calibration.combinations = {{"B.J_zz / 1.K", 0.05, 1e-6, "kg·m²/(N·m/V)"}};
  return calibration;
}

// Each field must hold its own value, not its neighbour's.
TEST(CalibrationJson, ContainsTheEvidenceForTheVerdict) {
  const auto result = from_json<rigcal::v1::CalibrationResult>(
      calibration_json(judged_calibration(), prepared_context()));
  EXPECT_EQ(result.parameters(0).noise_deviation(), 1.1e-6);
  EXPECT_EQ(result.parameters(0).scatter_deviation(), 2.34e-6);
  EXPECT_TRUE(std::isnan(result.parameters(1).scatter_deviation()));
  EXPECT_EQ(result.verdict().kind(), "rejected");
  EXPECT_EQ(
      result.verdict().sentence(),
      "the model is rejected: the segments disagree (Cochran's Q = 412, 60 degrees of freedom)");
  EXPECT_EQ(result.consistency().statistic(), 412.0);
  EXPECT_EQ(result.consistency().degrees_of_freedom(), 60.0);
  EXPECT_EQ(result.consistency().p_value(), 1e-40);
  ASSERT_EQ(result.parts_size(), 3);
  EXPECT_EQ(result.parts(1).recording(), "run & more.csv");
  EXPECT_EQ(result.parts(1).from_s(), 3.0);
  EXPECT_EQ(result.parts(1).to_s(), 6.0);
  EXPECT_EQ(result.parts(1).values(0), 0.003962);
  EXPECT_TRUE(std::isnan(result.parts(1).values(1)));
  EXPECT_EQ(result.parts(1).standard_deviations(0), 1e-6);
  ASSERT_EQ(result.combinations_size(), 1);
  EXPECT_EQ(result.combinations(0).description(), "B.J_zz / 1.K");
  EXPECT_EQ(result.combinations(0).value(), 0.05);
  EXPECT_EQ(result.combinations(0).standard_deviation(), 1e-6);
  EXPECT_EQ(result.combinations(0).unit(), "kg·m²/(N·m/V)");
}

TEST(CalibrationJson, ContainsTheRelativeError) {
  using estimator::PredictionKind;
  struct Case {
    PredictionKind kind;
    const char* name;
    const char* clause;
  };
  for (const Case& each :
       {Case{PredictionKind::kOpenLoop, "open-loop", "1.5 % of the motion over 8 s"},
        Case{PredictionKind::kShortTerm, "short-term", "1.5 % of the motion 8 s ahead"},
        Case{PredictionKind::kTorque, "torque", "1.5 % of a torque"},
        Case{PredictionKind::kAcceleration, "acceleration", "1.5 % of the accelerations"}}) {
    estimator::Calibration calibration = judged_calibration();
    calibration.verdict.kind = estimator::VerdictKind::kApproximate;
    calibration.verdict.error = {0.015, 8.0, each.kind, false};
    const auto verdict =
        from_json<rigcal::v1::CalibrationResult>(calibration_json(calibration, prepared_context()))
            .verdict();
    EXPECT_EQ(verdict.kind(), "approximate");
    EXPECT_EQ(verdict.relative_error(), 0.015);
    EXPECT_EQ(verdict.horizon_s(), 8.0);
    EXPECT_EQ(verdict.prediction(), each.name);
    expect_parts(verdict.sentence(), {std::string("the model fits to ") + each.clause});
  }
}

// The verdict comes first, and a result without fit is not presented as one.
TEST(ResultTable, BeginsWithTheVerdict) {
  estimator::Calibration calibration = judged_calibration();
  const std::string text = format_calibration(calibration, 0.25);
  EXPECT_EQ(text.find("The model is rejected: the segments disagree (Cochran's Q = 412, 60 "
                      "degrees of freedom).\n"),
            0U)
      << text;
  expect_parts(text, {"95 % interval", "well-identified combinations", "B.J_zz / 1.K",
                      "kg·m²/(N·m/V)", "Converged"});
  calibration.verdict.kind = estimator::VerdictKind::kNoFit;
  expect_parts(format_calibration(calibration, 0.25), {"NO RESULT"});
}

TEST(CalibrationPage, ShowsVerdictPiecesAndCombinations) {
  const std::string html = render_calibration_page(judged_calibration(), prepared_context());
  const std::size_t verdict = html.find("The model is rejected: the segments disagree");
  ASSERT_NE(verdict, std::string::npos);
  EXPECT_LT(verdict, html.find("Joint estimation"));
  expect_parts(
      html, {"Parts disagree", "B.J_zz by part", "all together", "from the scatter between parts",
             "Well-identified combinations", "B.J_zz / 1.K"});
  EXPECT_EQ(without_scripts(html).find("nan"), std::string::npos);
  expect_parts(html, {"standard deviations wide (B.J_zz)"});
  EXPECT_EQ(render_calibration_page(prepared_calibration(), prepared_context()).find("<h2>Parts"),
            std::string::npos);
}

}  // namespace
}  // namespace service
