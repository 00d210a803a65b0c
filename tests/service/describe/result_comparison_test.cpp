#include "service/result/result_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "service/report/comparison_report.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

estimator::ParameterEstimate make_estimate(const std::string& name, double value,
                                           double deviation) {
  estimator::ParameterEstimate estimate;
  estimate.name = name;
  estimate.unit = "N·m·s/rad";
  estimate.value = value;
  estimate.standard_deviation = deviation;
  estimate.half_interval = 2.0 * deviation;
  return estimate;
}

StoredResult make_result(std::vector<estimator::ParameterEstimate> estimates,
                         double correlation = 0.0) {
  StoredResult result;
  result.file = "r.json";
  const auto count = static_cast<Eigen::Index>(estimates.size());
  result.correlation = Eigen::MatrixXd::Constant(count, count, correlation);
  result.correlation.diagonal().setOnes();
  result.rig.estimates = std::move(estimates);
  return result;
}

StoredResult make_result(double value, double deviation, const std::string& recorded_at = "") {
  StoredResult result = make_result({make_estimate("1.b", value, deviation)});
  result.recorded_at = recorded_at;
  return result;
}

// The half interval of the difference is √(0.06² + 0.08²) = 0.1.
TEST(ResultComparison, DifferenceIsSignificantBeyondItsInterval) {
  const auto compare = [](double second) {
    return format_result_comparison(
        compare_results({make_result(1.0, 0.03), make_result(second, 0.04)}, false));
  };
  expect_parts(compare(1.101), {"1 of 1 estimates differ", "differs", "+0.101", "0.050"});
  expect_parts(compare(0.899), {"1 of 1 estimates differ"});
  expect_parts(compare(1.099), {"0 of 1 estimates differ"});
}

// Both parameters differ by d = 1 with C₁ = C₂ = [[1, ρ], [ρ, 1]], so that
// χ² = dᵀ (2 C)⁻¹ d = 1 / (1 + ρ). A test without correlations would give 1.
TEST(ResultComparison, JointTestHasCorrelations) {
  for (const double correlation : {-0.8, 0.0, 0.9}) {
    const auto make = [&](double value) {
      return make_result({make_estimate("1.b", value, 1.0), make_estimate("2.b", value, 1.0)},
                         correlation);
    };
    const ResultComparison comparison = compare_results({make(5.0), make(6.0)}, false);
    EXPECT_NEAR(comparison.chi_square, 1.0 / (1.0 + correlation), 1e-12);
    EXPECT_EQ(comparison.degrees_of_freedom, 2);
    EXPECT_NEAR(comparison.probability(), std::exp(-comparison.chi_square / 2.0), 1e-9);
  }
}

// Two estimates of one quantity carry one degree of freedom.
TEST(ResultComparison, JointTestCountsDependentEstimatesOnce) {
  const auto make = [](double value) {
    return make_result({make_estimate("1.b", value, 1.0), make_estimate("2.b", value, 1.0)}, 1.0);
  };
  const ResultComparison comparison = compare_results({make(5.0), make(7.0)}, false);
  EXPECT_EQ(comparison.degrees_of_freedom, 1);
  EXPECT_NEAR(comparison.chi_square, 2.0, 1e-9);  // 2² / (1 + 1)
}

// Of three results with weights 1, 1 and 1/4, the mean is (0 + 3 + 6/4) / 2.25 = 2, and
// χ² = 2² + 1² + (4 / 2)² = 9, however the test is ordered.
TEST(ResultComparison, TestsSeveralResultsAboutTheirMean) {
  const std::vector<StoredResult> results = {make_result(0.0, 1.0), make_result(3.0, 1.0),
                                             make_result(6.0, 2.0)};
  for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    std::vector<StoredResult> ordered;
    for (const int k : order) ordered.push_back(results[static_cast<std::size_t>(k)]);
    const ResultComparison comparison = compare_results(ordered, false);
    const ParameterComparison& parameter = comparison.parameters.at(0);
    EXPECT_NEAR(parameter.mean, 2.0, 1e-12);
    EXPECT_NEAR(parameter.mean_deviation, 2.0 / 3.0, 1e-12);
    EXPECT_NEAR(parameter.chi_square, 9.0, 1e-12);
    EXPECT_NEAR(comparison.chi_square, 9.0, 1e-9);
    EXPECT_EQ(comparison.degrees_of_freedom, 2);
  }
}

// A rig whose friction grows by 0.1 per day, with results in the wrong order of names: the results
// are sorted by time, and the slope has the standard deviation σ / √(Σ (t − t̄)²) = 0.01 / √5.
TEST(ResultComparison, FindsDriftOverTime) {
  const ResultComparison comparison =
      compare_results({make_result(1.3, 0.01, "2026-11-04T00:00:00Z"),
                       make_result(1.0, 0.01, "2026-11-01T00:00:00Z"),
                       make_result(1.1, 0.01, "2026-11-02T00:00:00Z"),
                       make_result(1.2, 0.01, "2026-11-03T00:00:00Z")},
                      true);
  EXPECT_TRUE(comparison.is_by_time);
  EXPECT_EQ(comparison.sources.front().recorded_at, "2026-11-01T00:00:00Z");
  const ParameterComparison& parameter = comparison.parameters.at(0);
  EXPECT_NEAR(parameter.drift_per_day, 0.1, 1e-12);
  EXPECT_NEAR(parameter.drift_deviation, 0.01 / std::sqrt(5.0), 1e-12);
  const std::string text = format_result_comparison(comparison);
  expect_parts(text, {"do NOT agree", "drifts", "limits: 1, 2, 3, 4", "+0.1000 ± "});
  expect_parts(render_control_charts(comparison), {"<svg", "1.b", "time since"});
}

TEST(ResultComparison, OneOutlierIsMarked) {
  std::vector<StoredResult> results(10, make_result(1.0, 0.1));
  results[6] = make_result(1.6, 0.1);
  const ResultComparison comparison = compare_results(results, false);
  const std::string text = format_result_comparison(comparison);
  expect_parts(text, {"beyond the limits: 7"});
  EXPECT_TRUE(std::isnan(comparison.parameters[0].drift_per_day)) << "no times";
  results[6] = make_result(1.1, 0.1);
  const std::string calm = format_result_comparison(compare_results(results, false));
  expect_parts(calm, {"10 results agree"});
  EXPECT_EQ(calm.find("beyond"), std::string::npos) << calm;
}

TEST(ResultComparison, ReportsWhatCannotBeCompared) {
  StoredResult bound = make_result(0.0, 0.1), other = make_result(1.0, 0.1);
  bound.rig.estimates[0].at_bound = true;
  const auto compare = [&] {
    return format_result_comparison(compare_results({bound, other}, false));
  };
  expect_parts(compare(), {"0 of 1", "at a bound", "no parameter that all of them identify"});
  bound = make_result(9.0, 0.1);
  other.rig.estimates[0].standard_deviation = HUGE_VAL;
  expect_parts(compare(), {"0 of 1", "not identifiable"});
  other.rig.estimates[0].unit = "N·s/m";
  const auto refused = [&] { return refusal([&] { (void)compare(); }); };
  expect_parts(refused(), {"no estimated parameter in common", "1.b is in N·m·s/rad"});
  other.rig.estimates[0].name = "2.b";
  expect_parts(refused(), {"estimates 1.b.", "estimates 2.b."});
}

TEST(ResultComparison, ListsChangesOfTheInput) {
  StoredResult before = make_result(1.0, 0.1), after = make_result(1.0, 0.1);
  before.rig_text = "name: 'rig' body { name: 'A' mass { value: 0.2 } } body { name: 'B' }";
  after.rig_text =
      "name: 'rig' body { name: 'B' } body { name: 'A' mass { value: 0.21 } }\n# moved";
  after.request.options.max_iterations = 7;
  after.request.edits.fix = {"A.m"};
  const std::string text = format_result_comparison(compare_results({before, after}, false));
  expect_parts(text, {"rig file: body \"A\" mass value: 0.2 -> 0.21", "default -> 7",
                      "--fix: not given -> A.m"});
  EXPECT_EQ(text.find("body \"B\""), std::string::npos) << "the order of bodies is no change";
}

}  // namespace
}  // namespace service
