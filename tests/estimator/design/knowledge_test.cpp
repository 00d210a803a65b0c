#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "estimator/design/prior_information.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"

namespace estimator {
namespace {

Mechanism known_rig() { return test_support::furuta_with_free({"A.J_zz", "B.J_yy", "1.b", "1.K"}); }

/// Covariance of draws about the values.
Eigen::MatrixXd scatter(const Mechanism& mechanism, const PriorInformation& knowledge, int draws) {
  const FreeParameters free(mechanism);
  const Eigen::VectorXd values = free.parameter_values(mechanism);
  std::mt19937_64 random(3);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(values.size(), values.size());
  for (int k = 0; k < draws; ++k) {
    const Eigen::VectorXd off =
        free.parameter_values(draw_parameters(mechanism, knowledge, random)) - values;
    sum += off * off.transpose();
  }
  return sum / draws;
}

// Correlated parameters with scales orders of magnitude apart. The relative standard deviation of a
// variance from 4000 draws is 2 %.
TEST(PriorInformation, SamplesHaveTheCovarianceOfTheEstimate) {
  const Mechanism mechanism = known_rig();
  const Eigen::VectorXd deviations =
      0.02 * FreeParameters(mechanism).parameter_values(mechanism).cwiseAbs();
  Eigen::MatrixXd correlation = Eigen::MatrixXd::Identity(4, 4);
  correlation(0, 3) = correlation(3, 0) = 0.95;
  correlation(1, 2) = correlation(2, 1) = -0.6;
  const Eigen::MatrixXd covariance =
      deviations.asDiagonal() * correlation * deviations.asDiagonal();
  const PriorInformation knowledge = compute_estimate_information(mechanism, covariance);
  EXPECT_LT((knowledge.information * covariance - Eigen::MatrixXd::Identity(4, 4)).norm(), 1e-9);
  const Eigen::MatrixXd found = scatter(mechanism, knowledge, 4000);
  for (Eigen::Index i = 0; i < 4; ++i) {
    for (Eigen::Index k = 0; k < 4; ++k) {
      EXPECT_NEAR(found(i, k), covariance(i, k), 0.1 * deviations[i] * deviations[k]) << i << k;
    }
  }
}

// An unidentified parameter has a row of zeros in the covariance, which must not mean certainty.
TEST(PriorInformation, TreatsUnidentifiedParametersAsUnknown) {
  const Mechanism mechanism = known_rig();
  const Eigen::VectorXd values = FreeParameters(mechanism).parameter_values(mechanism);
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(4, 4);
  covariance(1, 1) = 1e-10;
  const PriorInformation knowledge = compute_estimate_information(mechanism, covariance);
  EXPECT_NEAR(knowledge.information(1, 1), 1e10, 1.0);
  EXPECT_EQ(knowledge.information(0, 0), 0.0);
  EXPECT_NEAR(knowledge.root.row(0).norm(), kUnknownRelativeDeviation * std::abs(values[0]),
              1e-9 * std::abs(values[0]));
}

TEST(PriorInformation, IsThePriorsInformationWithoutRecordings) {
  Mechanism mechanism = known_rig();
  const int index = mechanism.find_parameter("1.b");
  Parameter& b = mechanism.parameters[static_cast<std::size_t>(index)];
  b.prior_mean = b.value;
  b.prior_standard_deviation = 2e-5;
  const PriorInformation knowledge = compute_prior_information(mechanism);
  const int place = FreeParameters(mechanism).find_position(index);
  EXPECT_NEAR(knowledge.information(place, place), 1.0 / (2e-5 * 2e-5), 1.0);
  EXPECT_NEAR(knowledge.information.sum(), knowledge.information(place, place), 1.0);
}

// Draws from any covariance are within bounds, and their bodies are physically consistent.
TEST(PriorInformation, SamplesArePhysicallyConsistent) {
  const Mechanism mechanism = known_rig();
  const Eigen::VectorXd values = FreeParameters(mechanism).parameter_values(mechanism);
  const PriorInformation knowledge = compute_estimate_information(
      mechanism, Eigen::MatrixXd((3.0 * values).cwiseAbs2().asDiagonal()));
  std::mt19937_64 random(1);
  for (int k = 0; k < 200; ++k) {
    const Mechanism drawn = draw_parameters(mechanism, knowledge, random);
    EXPECT_TRUE(find_mechanism_errors(drawn, InertiaCheck::kFixed).empty());
  }
}

}  // namespace
}  // namespace estimator
