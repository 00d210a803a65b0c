#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <string>

#include "service/cli/terminal.hpp"
#include "service/messages/message_table.hpp"
#include "service/messages/message_text.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/report/friction_comparison_report.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"
#include "tests/service/prepared_calibration.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using enum estimator::JointKind;
using estimator::EstimationStage;
using estimator::Message;
using estimator::MessageCode;
using estimator::Quantity;
using estimator::Termination;

// Numbers of one unit can be compared only if they share a power of ten.
TEST(TableNotation, SharesPowerOfTenBetweenQuantitiesWithSameUnit) {
  const std::vector<TableNotation> notations = make_table_notations(
      {{0.0044029, 3.9e-6, "kg·m²"}, {25.61e-6, 0.22e-6, "kg·m²"}, {9.82, 0.0, "m"}});
  EXPECT_EQ(notations[0].value(), "4.4029");
  EXPECT_EQ(notations[0].deviation_text(), "0.0039");
  EXPECT_EQ(notations[0].unit(), "10⁻³ kg·m²");
  EXPECT_EQ(notations[1].value(), "0.02561");
  EXPECT_EQ(notations[1].deviation_text(), "0.00022");
  EXPECT_EQ(notations[1].unit(), "10⁻³ kg·m²");
  EXPECT_EQ(notations[2].value(), "9.82");
  EXPECT_EQ(notations[2].unit(), "m");
  EXPECT_EQ(notations[0].interval_text(0.0043953, 0.0044105), "4.3953 … 4.4105");
  EXPECT_EQ(notations[0].with(0.0045, 0.0002).value(), "4.50");
}

// A value far below the others would need zeros that a reader has to count.
// "-" stands for a quantity without unit, such as a restitution.
TEST(TableNotation, OmitsTheDashOfAQuantityWithoutUnit) {
  const std::vector<TableNotation> small = make_table_notations({{1e-5, 2e-6, "-"}});
  EXPECT_EQ(small[0].unit(), "10⁻⁶");
  const std::vector<TableNotation> large = make_table_notations({{0.38, 1e-4, "-"}});
  EXPECT_EQ(large[0].unit(), "-");
  const Message start = {MessageCode::kMisplacedStop,
                         {{"joint", "1"},
                          {"is_lower", true},
                          {"is_free", true},
                          {"given", Quantity{0.5, "-"}}}};
  EXPECT_NE(format_message(start).find("is not at 0.5"), std::string::npos);
  EXPECT_EQ(format_message(start).find("0.5 -"), std::string::npos);
}

TEST(TableNotation, GivesDistantQuantityItsOwnPowerOfTen) {
  const std::vector<TableNotation> notations =
      make_table_notations({{1.5, 0.1, "m"}, {2.5e-9, 1e-10, "m"}, {0.0, INFINITY, "m"}});
  EXPECT_EQ(notations[0].value() + " " + notations[0].unit(), "1.50 m");
  EXPECT_EQ(notations[1].value() + " " + notations[1].unit(), "2.50 10⁻⁹ m");
  EXPECT_EQ(notations[2].value() + " " + notations[2].deviation_text(), "0 -");
}

TEST(FormatPercent, NeverUsesExponents) {
  EXPECT_EQ(format_percent(82.2e-6), "<0.0001 %");
  EXPECT_EQ(format_percent(0.007), "0.0070 %");
  EXPECT_EQ(format_percent(-0.0166, 3), "-0.0166 %");
  EXPECT_EQ(format_percent(12.3), "12 %");
  EXPECT_EQ(format_percent(123456.0), "123456 %");
  EXPECT_EQ(format_percent(0.0), "0 %");
}

TEST(ResultTable, AlignsDecimalPoints) {
  EXPECT_EQ(
      format_table({{"a", "b"}, {"x", "12 %"}, {"y", "-0.17 %"}, {"z", "none"}}, {false, true}),
      "a        b\nx  12    %\ny  -0.17 %\nz     none\n");
  EXPECT_EQ(format_table({{"a"}, {"1e-6"}, {"-1.5"}, {"inf"}}, {true}),
            "    a\n 1e-6\n-1.5\n  inf\n");
}

TEST(ResultTable, IsAtMostHundredColumnsWide) {
  const std::string words(30, 'w');
  const std::string text =
      format_table({{"name", "value", "remark"}, {words, "1", words + " " + words + " " + words}},
                   {false, true, false});
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(display_width(text.substr(begin, end - begin)), kTextColumnsMax) << text;
    begin = end + 1;
  }
}

/// Returns the display columns of a line at which text begins, after two or more spaces.
std::vector<int> cell_begins(const std::string& line) {
  std::vector<int> begins;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool after_gap = at == 0 || (at > 1 && line[at - 1] == ' ' && line[at - 2] == ' ');
    if (line[at] != ' ' && after_gap) begins.push_back(display_width(line.substr(0, at)));
  }
  return begins;
}

// Ids, parameters and files with long names must not be broken or cut, because a user copies them.
// Their column is then as wide as the longest name. All other columns begin below their heading.
TEST(ResultTable, AlignsColumnsBesideLongWords) {
  const std::string id = "job-" + std::string(40, 'a');
  const std::string rig = "größe-" + std::string(30, 'r') + ".textproto";
  const std::string text =
      format_table({{"job", "state", "rig", "recordings"},
                    {"j", "done", "a", "b.csv"},
                    {id, "queued, place 7", rig, "first.csv, second.csv, third.csv and 5 more"}},
                   {false, false, false, false});
  expect_parts(text, {id, rig});
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<int> heading = cell_begins(line);
  ASSERT_EQ(heading.size(), 4U) << text;
  EXPECT_EQ(heading[1], display_width(id) + 2) << text;
  std::getline(lines, line);
  EXPECT_EQ(cell_begins(line), heading) << text;
  while (std::getline(lines, line)) {
    for (const int begin : cell_begins(line)) {
      EXPECT_EQ(std::ranges::count(heading, begin), 1) << text;
    }
  }
}

// If one column is not enough, further columns are wrapped; the lines of a row stay together.
TEST(ResultTable, WrapsSeveralColumns) {
  std::string words;
  for (int k = 0; k < 12; ++k) words += (k == 0 ? "" : " ") + ("word" + std::to_string(10 + k));
  const std::string id(44, 'i');
  const std::string text = format_table(
      {{"id", "reason", "remedy"}, {id, words, words}, {"b", "c", "d"}}, {false, false, false});
  std::istringstream lines(text);
  std::vector<std::vector<int>> begins;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), kTextColumnsMax) << text;
    begins.push_back(cell_begins(line));
  }
  const std::vector<int> heading = begins.front();
  ASSERT_EQ(heading.size(), 3U) << text;
  EXPECT_EQ(begins.at(1), heading) << text;
  EXPECT_EQ(begins.at(2), (std::vector<int>{heading[1], heading[2]})) << text;
  EXPECT_EQ(begins.back(), heading) << text;
}

TEST(TerminalText, WrapsAndColours) {
  const std::string text = "The model fits.\n\nFindings:\n  warning: one two three\n";
  EXPECT_EQ(format_for_terminal(text, TextTone::kGood, 18, false),
            "The model fits.\n\nFindings:\n  warning: one two\n      three\n");
  EXPECT_EQ(format_for_terminal(text, TextTone::kGood, 80, true),
            "\033[1m\033[32mThe model fits.\033[0m\n\n\033[1mFindings:\033[0m\n"
            "  \033[33mwarning:\033[0m one two three\n");
  // Rows of a wide table stay below their heading.
  const std::string table = format_table(
      {{"name", "unit", "prior"}, {std::string(90, 'n'), "rad", "0 ± 1"}}, {false, false, false});
  EXPECT_EQ(format_for_terminal(table, TextTone::kPlain, 80, false), table);
  // Text from files cannot control the terminal.
  EXPECT_EQ(format_for_terminal("a\033[2Jb\n", TextTone::kPlain, 80, true).find('\033'),
            std::string::npos);
}

using Kinds = std::vector<estimator::JointKind>;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ErrorUnits, DependOnTheJointTypes) {
  EXPECT_EQ(error_unit_text({kRevolute, kRevolute}), "mrad");
  EXPECT_EQ(error_unit_text({kPrismatic}), "mm");
  EXPECT_EQ(error_unit_text({kPrismatic, kRevolute}), "mrad or mm");
  // In a pool, 0.1 m of a prismatic joint count as a radian.
  EXPECT_EQ(pooled_error_unit_text({kRevolute}), "mrad");
  EXPECT_EQ(pooled_error_unit_text({kPrismatic, kPrismatic}), "0.1 mm");
  EXPECT_EQ(pooled_error_unit_text({kRevolute, kPrismatic}), "mrad or 0.1 mm");
}

// Errors are pooled over all sensors, and both places that print them state the unit.
TEST(ErrorUnits, AreInTheHeadingOfAComparisonOfFrictionLaws) {
  for (const auto& [kinds, unit] : {std::pair<Kinds, std::string>{{kRevolute}, "mrad"},
                                    {{kPrismatic, kRevolute}, "mrad or 0.1 mm"}}) {
    estimator::FrictionLawComparison comparison;
    comparison.kinds = kinds;
    const std::string table = format_friction_comparison(comparison, 1.0);
    EXPECT_TRUE(holds(table, "held out [" + unit + "]")) << table;
    EXPECT_TRUE(holds(table, "fit [" + unit + "]")) << table;
    EXPECT_TRUE(
        holds(render_friction_comparison_page(comparison, {}), "was held out [" + unit + "]"));
  }
}

TEST(ErrorUnits, AreInTheHeadingOfACrossValidation) {
  estimator::CrossValidation validation;
  validation.joints = {"rail", "pivot"};
  validation.simulation = {Eigen::MatrixXd(0, 0), Eigen::MatrixXd(0, 0)};
  validation.kinds = {kPrismatic, kRevolute};
  const std::string table = format_cross_validation(validation, 1.0);
  EXPECT_TRUE(holds(table, "RMSE in mrad or mm")) << table;
  EXPECT_TRUE(holds(table, "states [mrad or 0.1 mm]")) << table;
  EXPECT_TRUE(holds(table, "open loop rail [mm]")) << table;
  EXPECT_TRUE(holds(table, "open loop pivot [mrad]")) << table;
  const std::string page = render_cross_validation_page(validation, {});
  EXPECT_TRUE(holds(page, "joint rail [mm]"));
  EXPECT_TRUE(holds(page, "joint pivot [mrad]"));
  validation.kinds = {kRevolute, kRevolute};
  const std::string of_turns = format_cross_validation(validation, 1.0);
  EXPECT_TRUE(holds(of_turns, "RMSE in mrad:")) << of_turns;
  EXPECT_FALSE(holds(of_turns, "[")) << of_turns;
}

TEST(ErrorUnits, ArePrintedBesideOpenLoopErrors) {
  estimator::Calibration calibration;
  calibration.simulation = {{"rail", 2e-3, kPrismatic}, {"pivot", 3e-3, kRevolute}};
  const std::string mixed = format_calibration(calibration, 1.0);
  EXPECT_TRUE(holds(mixed, "2.000  mm")) << mixed;
  EXPECT_TRUE(holds(mixed, "3.000  mrad")) << mixed;
}

// If a simulation fit was made, its estimates count. A joint estimation that stopped at its limit
// before is reported in the same sentence, so that later lines do not contradict it.
TEST(Ending, ReportsTheStageThatDidNotConverge) {
  estimator::Calibration calibration = prepared_calibration();
  EXPECT_EQ(describe_calibration_ending(calibration), "Converged");
  calibration.refined = true;
  calibration.refinement_termination = Termination::kCostTolerance;
  EXPECT_EQ(describe_calibration_ending(calibration), "Converged");
  calibration.termination = Termination::kMaxIterations;
  EXPECT_NE(describe_calibration_ending(calibration).find("Converged (the simulation fit"),
            std::string::npos);
  EXPECT_NE(describe_calibration_ending(calibration).find("iteration limit"), std::string::npos);
  calibration.refinement_termination = Termination::kMaxIterations;
  EXPECT_EQ(describe_calibration_ending(calibration), "NOT CONVERGED");
  calibration.refinement_termination = Termination::kCostTolerance;
  calibration.verdict.kind = estimator::VerdictKind::kNoFit;
  EXPECT_NE(describe_calibration_ending(calibration).find("NO RESULT"), std::string::npos);
}

// The reason for an interval of many ± standard deviations is given beside the table; not for two,
// nor if parts agree, nor for a parameter at its bound.
TEST(Intervals, AreExplainedIfWide) {
  estimator::Calibration calibration = prepared_calibration();
  estimator::ParameterEstimate& first = calibration.parameters[0];
  calibration.agreement = {412.0, 60.0, 1e-40};
  first.half_interval = 1.97 * first.standard_deviation;
  EXPECT_EQ(explain_wide_intervals(calibration), "");
  first.half_interval = 12.7 * first.standard_deviation;
  const std::string why = explain_wide_intervals(calibration);
  expect_parts(why, {"± 13 standard deviations", "(B.J_zz)", "parts of the recordings disagree"});
  calibration.agreement.p_value = 0.02;
  EXPECT_EQ(explain_wide_intervals(calibration), "");
  calibration.agreement.p_value = 1e-40;
  first.at_bound = true;
  EXPECT_EQ(explain_wide_intervals(calibration), "");
}

// The fixed values that the intervals assume to be exact are listed by their effect on the
// estimates, also in the page; in units if the estimate itself is smaller than its change.
TEST(Intervals, ListTheFixedValuesThatTheyAssumeExact) {
  estimator::Calibration calibration = prepared_calibration();
  estimator::ParameterEstimate& first = calibration.parameters[0];
  first.half_interval = 1.96 * first.standard_deviation;
  EXPECT_EQ(explain_exact_values(calibration), "") << "no effects";
  calibration.fixed_value_effects = {{"1.b_x", first.name, -0.012 * first.value, 9.0},
                                     {"A.m", first.name, 1.5 * first.value, 3.0}};
  const std::string list = "1.b_x changes " + first.name + " by 1.2 %, A.m changes " + first.name +
                           " by " + format_number(1.5 * first.value, 2) + " " + first.unit + ". To";
  expect_parts(explain_exact_values(calibration), {list, "cad_uncertainty_percent"});
  expect_parts(format_calibration(calibration, 1.0), {list});
  expect_parts(render_calibration_page(calibration, prepared_context()), {list});
  calibration.fixed_value_effects.resize(6, {"B.m", first.name, 0.01 * first.value, 2.0});
  expect_parts(explain_exact_values(calibration), {", and 2 more have smaller effects. To"});
  calibration.fixed_value_effects.resize(1);
  calibration.fixed_value_effects.push_back({"A.m", first.name, 0.006 * first.value, 3.0, 0.005});
  EXPECT_EQ(explain_exact_values(calibration)
                .find("The 95 % intervals include the tolerances of "
                      "fixed values: A.m ± 0.5 % changes " +
                      first.name +
                      " by 0.6 %. The 95 % intervals assume that "
                      "other fixed values are exact."),
            0U)
      << explain_exact_values(calibration);
  for (estimator::ParameterEstimate& each : calibration.parameters) each.at_bound = true;
  EXPECT_EQ(explain_exact_values(calibration), "") << "no intervals";
}

// All numbers of a row precede the unit, whose power of ten they have in common.
TEST(ParameterTable, EndsRowsWithTheUnitOfAllNumbers) {
  estimator::Calibration calibration = prepared_calibration();
  calibration.parameters[0].half_interval = 1.96 * calibration.parameters[0].standard_deviation;
  std::istringstream lines(format_calibration(calibration, 1.0));
  std::string line, row;
  while (std::getline(lines, line)) {
    if (line.starts_with("B.J_zz ")) row = line;
  }
  const std::regex numbers("B.J_zz +3\\.9601 +0\\.0023 +3\\.9555 … 3\\.9647 +10  +10⁻³ kg·m²");
  EXPECT_TRUE(std::regex_match(row, numbers)) << row;
}

// Another stage solves another problem, so a cost a thousand times higher is no setback. Only its
// first line says so.
TEST(EstimationProgress, MarksWhereCostsRestart) {
  const auto shown = [](const std::vector<EstimationStage>& stages) {
    testing::internal::CaptureStderr();
    {
      InterruptFlag interrupt;
      ProgressLine progress({.verbose = true});
      const estimator::CalibrationMonitor monitor = make_monitor(interrupt, progress, 1);
      for (const EstimationStage stage : stages) {
        monitor.on_stage({stage}, {});
        for (int k = 0; k < 2 && stage != EstimationStage::kPartComparison; ++k) {
          monitor.on_iteration({.iteration = k});
        }
      }
    }
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(shown({EstimationStage::kJointEstimation}).find("new cost function"),
            std::string::npos);
  // A stage that printed nothing leaves nothing to compare with.
  EXPECT_EQ(shown({EstimationStage::kPartComparison, EstimationStage::kJointEstimation})
                .find("new cost function"),
            std::string::npos);
  const std::string text =
      shown({EstimationStage::kJointEstimation, EstimationStage::kPartComparison,
             EstimationStage::kSimulationFit});
  const std::size_t said = text.find("new cost function");
  ASSERT_NE(said, std::string::npos) << text;
  EXPECT_EQ(text.find("new cost function", said + 1), std::string::npos);
  EXPECT_GT(said, text.find("simulation fit: iteration 0"));
  EXPECT_LT(said, text.find("simulation fit: iteration 1"));
}

}  // namespace
}  // namespace service
