
#include <gtest/gtest.h>

#include "service/report/cross_validation_report.hpp"
#include "service/report/friction_comparison_report.hpp"
#include "service/report/sections/result_table.hpp"

namespace service {
namespace {

using enum estimator::JointKind;
using Kinds = std::vector<estimator::JointKind>;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ErrorUnits, DependOnTheJointTypes) {
  EXPECT_EQ(error_units({kRevolute, kRevolute}), "mrad");
  EXPECT_EQ(error_units({kPrismatic}), "mm");
  EXPECT_EQ(error_units({kPrismatic, kRevolute}), "mrad or mm");
  // In a pool, 0.1 m of a prismatic joint count as a radian.
  EXPECT_EQ(pooled_error_units({kRevolute}), "mrad");
  EXPECT_EQ(pooled_error_units({kPrismatic, kPrismatic}), "0.1 mm");
  EXPECT_EQ(pooled_error_units({kRevolute, kPrismatic}), "mrad or 0.1 mm");
}

// Errors are pooled over all sensors, and both places that print them state the unit.
TEST(ErrorUnits, HeadAComparisonOfFrictionLaws) {
  for (const auto& [kinds, unit] : {std::pair<Kinds, std::string>{{kRevolute}, "mrad"},
                                    {{kPrismatic, kRevolute}, "mrad or 0.1 mm"}}) {
    estimator::LawComparison comparison;
    comparison.kinds = kinds;
    const std::string table = format_friction_comparison(comparison, 1.0);
    EXPECT_TRUE(holds(table, "held out [" + unit + "]")) << table;
    EXPECT_TRUE(holds(table, "fit [" + unit + "]")) << table;
    EXPECT_TRUE(holds(friction_comparison_page(comparison, {}), "was held out [" + unit + "]"));
  }
}

TEST(ErrorUnits, HeadACrossValidation) {
  estimator::CrossValidation validation;
  validation.joints = {"rail", "pivot"};
  validation.simulation = {Eigen::MatrixXd(0, 0), Eigen::MatrixXd(0, 0)};
  validation.kinds = {kPrismatic, kRevolute};
  const std::string table = format_cross_validation(validation, 1.0);
  EXPECT_TRUE(holds(table, "RMSE in mrad or mm")) << table;
  EXPECT_TRUE(holds(table, "states [mrad or 0.1 mm]")) << table;
  EXPECT_TRUE(holds(table, "open loop rail [mm]")) << table;
  EXPECT_TRUE(holds(table, "open loop pivot [mrad]")) << table;
  const std::string page = cross_validation_page(validation, {});
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

}  // namespace
}  // namespace service
