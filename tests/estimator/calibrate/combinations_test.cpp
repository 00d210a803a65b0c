#include "estimator/assessment/identifiability/combinations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace estimator {
namespace {

ParameterEstimate parameter(const std::string& name, const std::string& unit, double value,
                            double deviation) {
  return {.name = name, .unit = unit, .value = value, .standard_deviation = deviation};
}

/// Uncertainty of estimates whose relative errors are the sum of a common and an individual error.
ParameterUncertainty with_common_error(const std::vector<ParameterEstimate>& parameters,
                                       const std::vector<double>& common,
                                       const std::vector<double>& own) {
  const auto n = static_cast<Eigen::Index>(parameters.size());
  Eigen::VectorXd shared(n), separate(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    shared[i] = common[at] * parameters[at].value;
    separate[i] = own[at] * parameters[at].value;
  }
  ParameterUncertainty uncertainty;
  uncertainty.noise_covariance = shared * shared.transpose();
  uncertainty.noise_covariance.diagonal() += separate.cwiseAbs2();
  uncertainty.scatter = Eigen::MatrixXd::Zero(n, n);
  return uncertainty;
}

// Inertia and friction are known relative to the motor's gain, which is known to 7 %. Both ratios
// are precise, to the root of the sum of squares of the individual errors.
TEST(ParameterCombinations, AreRatiosForCommonErrors) {
  const std::vector<ParameterEstimate> parameters = {
      parameter("A.J_zz", "kg·m²", 18.7, 1.3), parameter("1.K", "N·m/V", 0.07, 0.005),
      parameter("1.b", "N·m·s/rad", 1e-3, 0.8e-4), parameter("2.b", "N·m·s/rad", 1e-4, 1e-5)};
  const ParameterUncertainty uncertainty =
      with_common_error(parameters, {0.07, 0.07, 0.07, 0.0}, {1e-3, 1e-3, 4e-3, 0.1});
  const std::vector<ParameterCombination> found =
      find_precise_combinations(parameters, uncertainty);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].description, "A.J_zz / 1.K");
  EXPECT_EQ(found[0].unit, "kg·m²/(N·m/V)");
  EXPECT_NEAR(found[0].value, 18.7 / 0.07, 1e-9);
  EXPECT_NEAR(found[0].standard_deviation / found[0].value, 1e-3 * std::sqrt(2.0), 1e-6);
  EXPECT_NE(found[1].description.find("1.b"), std::string::npos);
}

// Opposite errors make a product precise, or a sum of equal units. A fourfold gain is not reported.
TEST(ParameterCombinations, AreProductsAndSumsForOppositeErrors) {
  const std::vector<ParameterEstimate> unlike = {parameter("a", "N", 2.0, 0.2),
                                                 parameter("b", "m", 5.0, 0.5)};
  auto found =
      find_precise_combinations(unlike, with_common_error(unlike, {0.1, -0.1}, {1e-3, 1e-3}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].description, "a · b");
  EXPECT_EQ(found[0].unit, "N·m");
  EXPECT_EQ(found[0].value, 10.0);

  // 2 ± 0.4 and 8 ∓ 0.4: their sum, not their product, is constant.
  const std::vector<ParameterEstimate> alike = {parameter("a", "N", 2.0, 0.4),
                                                parameter("b", "N", 8.0, 0.4)};
  found = find_precise_combinations(alike, with_common_error(alike, {0.2, -0.05}, {1e-4, 1e-4}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].description, "a + b");
  EXPECT_NEAR(found[0].standard_deviation, std::hypot(2e-4, 8e-4), 1e-6);

  EXPECT_TRUE(
      find_precise_combinations(unlike, with_common_error(unlike, {0.1, -0.1}, {0.018, 0.018}))
          .empty());
}

// Neither parameter is identifiable, but their ratio is: it is constant along the null direction.
TEST(ParameterCombinations, FindTheRatioConstantAlongANullDirection) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<ParameterEstimate> parameters = {parameter("J", "kg·m²", 0.004, inf),
                                                     parameter("K", "N·m/V", 0.08, inf)};
  ParameterUncertainty uncertainty = with_common_error(parameters, {0.0, 0.0}, {1e-4, 1e-4});
  NullDirection unseen;
  unseen.coefficients = (Eigen::VectorXd(2) << 0.004, 0.08).finished();
  uncertainty.null_directions = {unseen};
  const auto found = find_precise_combinations(parameters, uncertainty);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].description, "J / K");
  EXPECT_TRUE(std::isfinite(found[0].standard_deviation));
  uncertainty.null_directions.front().coefficients = Eigen::VectorXd::Unit(2, 0);
  EXPECT_TRUE(find_precise_combinations(parameters, uncertainty).empty());
}

// If parts of the recordings disagree, their scatter along the combination is used.
TEST(ParameterCombinations, IncludeTheScatterBetweenPartsOfTheRecordings) {
  const std::vector<ParameterEstimate> parameters = {parameter("J", "kg·m²", 1.0, 0.1),
                                                     parameter("K", "N·m/V", 1.0, 0.1)};
  ParameterUncertainty uncertainty = with_common_error(parameters, {0.1, 0.1}, {1e-4, 1e-4});
  uncertainty.scatter = 1e-4 * Eigen::Matrix2d::Identity();
  const auto deviation = [&] {
    return find_precise_combinations(parameters, uncertainty).at(0).standard_deviation;
  };
  EXPECT_NEAR(deviation(), 1e-4 * std::sqrt(2.0), 1e-8);
  uncertainty.disagree = true;
  EXPECT_NEAR(deviation(), 1e-2 * std::sqrt(2.0), 1e-8);
}

// Two parameters at zero that only their priors determine: a relative error of zero is undefined.
TEST(ParameterCombinations, RequireCorrelatedErrors) {
  const std::vector<ParameterEstimate> parameters = {parameter("a", "-", 0.0, 0.02),
                                                     parameter("b", "-", 0.0, 0.02)};
  ParameterUncertainty uncertainty = with_common_error(parameters, {0.0, 0.0}, {0.0, 0.0});
  uncertainty.noise_covariance.diagonal().setConstant(0.02 * 0.02);
  EXPECT_TRUE(find_precise_combinations(parameters, uncertainty).empty());
}

// Parameters at a bound are not correlated, and parameters known to 0.1 % need no combination.
TEST(ParameterCombinations, OmitBoundsAndPreciseParameters) {
  std::vector<ParameterEstimate> parameters = {parameter("J", "kg·m²", 1.0, 0.1),
                                               parameter("K", "N·m/V", 1.0, 0.1)};
  const ParameterUncertainty uncertainty = with_common_error(parameters, {0.1, 0.1}, {1e-4, 1e-4});
  EXPECT_EQ(find_precise_combinations(parameters, uncertainty).size(), 1U);
  parameters[0].at_bound = true;
  EXPECT_TRUE(find_precise_combinations(parameters, uncertainty).empty());
  parameters[0].at_bound = false;
  parameters[0].standard_deviation = parameters[1].standard_deviation = 1e-3;
  EXPECT_TRUE(find_precise_combinations(parameters, uncertainty).empty());
}

}  // namespace
}  // namespace estimator
