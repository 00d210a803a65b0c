#include "estimator/model/parameter_dependencies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

using namespace test_support;

// A dependency to a dependent parameter is resolved to that one's terms, and terms of one parameter
// are merged.
TEST(ParameterDependencies, AreExpressedByIndependentParameters) {
  std::vector<ParameterDependency> ties = {
      {5, 1.0, {{6, 2.0}, {0, 1.0}}}, {6, 10.0, {{7, -1.0}, {0, 3.0}}}, {7, 0.5, {{1, 4.0}}}};
  EXPECT_EQ(resolve_dependencies(ties), -1);
  EXPECT_DOUBLE_EQ(ties[0].constant, 1.0 + 2.0 * (10.0 - 0.5));
  ASSERT_EQ(ties[0].terms.size(), 2U);
  for (const DependencyTerm& term : ties[0].terms) {
    EXPECT_DOUBLE_EQ(term.factor, term.parameter == 0 ? 1.0 + 2.0 * 3.0 : -2.0 * 4.0);
  }
}

TEST(ParameterDependencies, ReportACircularDependency) {
  std::vector<ParameterDependency> self = {{3, 0.0, {{3, 1.0}}}};
  EXPECT_EQ(resolve_dependencies(self), 3);
  std::vector<ParameterDependency> round = {
      {1, 0.0, {{0, 1.0}}}, {2, 0.0, {{4, 1.0}}}, {4, 1.0, {{2, 0.5}}}};
  EXPECT_GE(resolve_dependencies(round), 2);
}

TEST(ParameterDependencies, ChangeADependentParameterWithItsTerms) {
  Mechanism mechanism;
  mechanism.parameters.resize(4);
  mechanism.parameters[0].value = 2.0;
  mechanism.parameters[1].value = 3.0;
  mechanism.dependencies = {{2, 1.0, {{0, 2.0}, {1, -1.0}}}, {3, 7.0, {}}};
  apply_dependencies(mechanism);
  EXPECT_EQ(mechanism.parameters[2].value, 2.0);
  EXPECT_EQ(mechanism.parameters[3].value, 7.0);
  EXPECT_FALSE(is_changed_by_fit(mechanism, 2));
  mechanism.parameters[1].free = true;
  EXPECT_TRUE(is_changed_by_fit(mechanism, 2));
  EXPECT_TRUE(is_changed_by_fit(mechanism, 1));
  EXPECT_FALSE(is_changed_by_fit(mechanism, 0));
  EXPECT_FALSE(is_changed_by_fit(mechanism, 3));
  EXPECT_EQ(find_dependency(mechanism, 0), nullptr);
}

class DependentParameterCalibration : public testing::Test {
 protected:
  DependentParameterCalibration() {
    Eigen::VectorXd u(1000);
    for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = std::sin(0.03 * static_cast<double>(k));
    recording_ = record(rig_, {0.3, 1.0, 0.2, 0.0}, u, 2e-3, 1e-3, 5);
    free_ = mechanism_of(rig_);
    free_parameters(free_, {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b", "1.K"}, 0.9);
  }

  /// The mechanism with known relations: J_zz = J_yy plus a constant, b_2 = b_1/10.
  Mechanism tied() {
    Mechanism mechanism = free_;
    parameter_of(mechanism, "B.J_zz").free = parameter_of(mechanism, "2.b").free = false;
    mechanism.dependencies = {
        {mechanism.find_parameter("B.J_zz"),
         rig_.J_Bzz - rig_.J_Byy,
         {{mechanism.find_parameter("B.J_yy"), 1.0}}},
        {mechanism.find_parameter("2.b"), 0.0, {{mechanism.find_parameter("1.b"), 0.1}}}};
    apply_dependencies(mechanism);
    return mechanism;
  }

  const ReferenceFuruta rig_ = viscous_furuta();
  Recording recording_;
  Mechanism free_;
};

// Known relations reduce standard deviations and never increase them; the truth stays inside.
TEST_F(DependentParameterCalibration, ReducesStandardDeviations) {
  const Calibration loose = calibrate(free_, {recording_});
  const Calibration narrow = calibrate(tied(), {recording_});
  ASSERT_TRUE(narrow.converged());
  ASSERT_EQ(narrow.parameters.size(), 4U);
  const auto deviation = [](const Calibration& calibration, const std::string& name) {
    for (const auto* list : {&calibration.parameters, &calibration.dependent}) {
      for (const ParameterEstimate& each : *list) {
        if (each.name == name) return each.standard_deviation;
      }
    }
    ADD_FAILURE() << name;
    return 0.0;
  };
  const Mechanism truth = mechanism_of(rig_);
  for (const ParameterEstimate& each : loose.parameters) {
    const double own = deviation(narrow, each.name);
    EXPECT_LT(own, 1.02 * each.standard_deviation) << each.name;  // noise levels are estimated
    const auto index = static_cast<std::size_t>(truth.find_parameter(each.name));
    EXPECT_NEAR(narrow.mechanism.parameters[index].value, truth.parameters[index].value, 4.0 * own)
        << each.name;
  }
  EXPECT_LT(deviation(narrow, "B.J_zz"), 0.9 * deviation(loose, "B.J_zz"));
  EXPECT_LT(deviation(narrow, "2.b"), 0.9 * deviation(loose, "2.b"));
}

// A dependent parameter is reported with the standard deviation and interval that follow from its
// dependency.
TEST_F(DependentParameterCalibration, ReportsDependentParameters) {
  const Calibration result = calibrate(tied(), {recording_});
  ASSERT_EQ(result.dependent.size(), 2U);
  const ParameterEstimate &drag = result.dependent[1], source = estimate_of(result, "1.b");
  EXPECT_EQ(drag.name, "2.b");
  EXPECT_DOUBLE_EQ(drag.value, 0.1 * source.value);
  EXPECT_DOUBLE_EQ(drag.initial, 0.1 * source.initial);
  EXPECT_NEAR(drag.standard_deviation, 0.1 * source.standard_deviation,
              1e-12 * source.standard_deviation);
  EXPECT_DOUBLE_EQ(drag.half_interval, 0.1 * source.half_interval);
  EXPECT_EQ(result.dependent[0].name, "B.J_zz");
  EXPECT_DOUBLE_EQ(result.dependent[0].value,
                   estimate_of(result, "B.J_yy").value + rig_.J_Bzz - rig_.J_Byy);
}

// Two terms: their deviations combine by the covariance, not as if independent.
TEST_F(DependentParameterCalibration, PropagatesTheCovarianceToDependentParameters) {
  Mechanism mechanism = free_;
  parameter_of(mechanism, "2.b").free = false;
  mechanism.dependencies = {
      {mechanism.find_parameter("2.tau_c"),
       0.0,
       {{mechanism.find_parameter("1.b"), 0.2}, {mechanism.find_parameter("1.K"), 1e-3}}}};
  apply_dependencies(mechanism);
  const Calibration result = calibrate(mechanism, {recording_});
  ASSERT_EQ(result.dependent.size(), 1U);
  Eigen::VectorXd along = Eigen::VectorXd::Zero(result.covariance.rows());
  for (std::size_t i = 0; i < result.parameters.size(); ++i) {
    if (result.parameters[i].name == "1.b") along[static_cast<Eigen::Index>(i)] = 0.2;
    if (result.parameters[i].name == "1.K") along[static_cast<Eigen::Index>(i)] = 1e-3;
  }
  const double variance = along.dot(result.covariance * along);
  EXPECT_GT(variance, 0.0);
  EXPECT_DOUBLE_EQ(result.dependent[0].standard_deviation, std::sqrt(variance));
  EXPECT_DOUBLE_EQ(result.dependent[0].half_interval,
                   kNormalHalfWidth95 * result.dependent[0].standard_deviation);
}

TEST_F(DependentParameterCalibration, RejectsDependentParametersOfASimulator) {
  CalibrationOptions options;
  options.kind = EstimateKind::kShadow;
  expect_parts(refusal<std::invalid_argument>([&] { calibrate(tied(), {recording_}, options); }),
               {"\"B.J_zz\"", "SPOOK", "physical parameters"});
}

}  // namespace
}  // namespace estimator
