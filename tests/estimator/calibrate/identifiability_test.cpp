#include "estimator/assessment/identifiability/identifiability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "estimator/fit/shadow/preparation.hpp"
#include "estimator/signal/noise_level.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/not_a_number.hpp"

namespace estimator {
namespace {

using test_support::kNaN;

Eigen::VectorXd series(std::initializer_list<double> values) {
  return Eigen::Map<const Eigen::VectorXd>(values.begin(),
                                           static_cast<Eigen::Index>(values.size()));
}

// 1 + 2 Σ_lag Σ_k r_k r_{k−lag} / Σ r², by hand, within each series and never across two.
TEST(AutocorrelationInflation, SumsTheAutocorrelation) {
  EXPECT_DOUBLE_EQ(compute_autocorrelation_inflation({series({1, 1, 1, 1})}),
                   1.0 + 2.0 * (3 + 2 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(compute_autocorrelation_inflation({series({1, 1}), series({1, 1})}),
                   1.0 + 2.0 * 2.0 / 4.0);
  EXPECT_EQ(compute_autocorrelation_inflation({series({1, -1, 1, -1})}), 1.0);
  EXPECT_EQ(compute_autocorrelation_inflation({series({0, 0, 0})}), 1.0);
}

// The sum ends at the first lag without correlation. Correlations at longer lags are chance, or due
// to the next swing. Lags without readings contribute nothing and do not end the sum.
TEST(AutocorrelationInflation, EndsAtTheFirstLagWithoutCorrelation) {
  EXPECT_DOUBLE_EQ(compute_autocorrelation_inflation({series({1, 1, -1, -1, 1, 1, -1, -1})}),
                   1.0 + 2.0 * 1.0 / 8.0);
  EXPECT_DOUBLE_EQ(compute_autocorrelation_inflation({series({1, kNaN, 1, kNaN, 1})}),
                   1.0 + 2.0 * (2 + 1) / 3.0);
}

// Each sensor is widened by its own residuals, with a note if the factor exceeds two.
TEST(InflateVariancesForAutocorrelation, InflatesEachSensorByItsOwnErrors) {
  Mechanism mechanism = make_furuta();
  std::vector<Message> notes;
  Eigen::VectorXd variances = Eigen::Vector3d(1.0, 1.0, 1.0);
  inflate_variances_for_autocorrelation(
      mechanism, {{series({1, -1, 1, -1})}, {series({1, 1, 1, 1})}}, variances, notes);
  EXPECT_EQ(variances, Eigen::Vector3d(1.0, 4.0, 1.0));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0],
            Message(MessageCode::kInflatedForCorrelation, {{"encoder", "2"}, {"factor", 2.0}}));
}

// Cost per row and degree of freedom; zero if less than half a row is left. Priors come last, and
// weigh as much as one angle.
TEST(NoiseGroupVariances, ArePerDegreeOfFreedom) {
  ParameterInformation information;
  information.valid = true;
  information.groups = {{.rows = 100, .cost = 40.0, .effective_parameters = 20.0},
                        {.rows = 10, .cost = 3.0, .effective_parameters = 9.4},
                        {.rows = 10, .cost = 3.0, .effective_parameters = 9.6},
                        {.rows = 2, .cost = 7.0, .effective_parameters = 0.0}};
  const Eigen::VectorXd variances = compute_noise_group_variances(information, 1e-2);
  EXPECT_DOUBLE_EQ(variances[0], 0.5);
  EXPECT_NEAR(variances[1], 5.0, 1e-12);
  EXPECT_EQ(variances[2], 0.0);
  EXPECT_DOUBLE_EQ(variances[3], 1e-4);
}

// After a numerical failure the result is empty.
TEST(NoiseGroupVariances, AreEmptyIfStatesAreNotIdentifiable) {
  EXPECT_EQ(compute_noise_group_variances({}, 1.0).size(), 0);
}

// White noise with standard deviation a gives fourth differences of √70 a; a cubic gives none.
TEST(NoiseLevel, UsesFourthDifferences) {
  Eigen::VectorXd alternating(50), cubic(50);
  for (Eigen::Index k = 0; k < 50; ++k) {
    alternating[k] = k % 2 == 0 ? 1e-3 : -1e-3;
    cubic[k] = 1e-3 * std::pow(static_cast<double>(k), 3);
  }
  EXPECT_DOUBLE_EQ(estimate_noise_level(alternating), 16e-3 / std::sqrt(70.0));
  EXPECT_NEAR(estimate_noise_level(cubic), 0.0, 1e-12);
  EXPECT_EQ(estimate_noise_level(alternating.head(4)), 0.0);
  EXPECT_GT(estimate_noise_level(alternating.head(5)), 0.0);
  alternating[20] = kNaN;
  EXPECT_DOUBLE_EQ(estimate_noise_level(alternating), 16e-3 / std::sqrt(70.0));
}

// A known encoder slip does not count as noise, with regular or irregular rows. An unknown slip
// does, and so does one of another sensor.
TEST(NoiseLevel, ExcludesKnownSlips) {
  Segment segment;
  segment.period = 1e-3;
  segment.angles.resize(50, 1);
  for (Eigen::Index k = 0; k < 50; ++k) segment.angles(k, 0) = k % 2 == 0 ? 1e-3 : -1e-3;
  const double level = estimate_noise_level(segment, 0);
  segment.angles.col(0).tail(20).array() += 1.0;
  for (const bool regular : {true, false}) {
    if (!regular) {
      for (int k = 0; k < 50; ++k) segment.times.push_back(1e-3 * k);
    }
    segment.shifts = {{.sensor = 1, .sample = 30}};
    EXPECT_GT(estimate_noise_level(segment, 0), 0.05) << regular;
    segment.shifts.push_back({.sensor = 0, .sample = 30});
    EXPECT_NEAR(estimate_noise_level(segment, 0), level, 1e-9 * level) << regular;
  }
}

double step_of(double period, double requested) {
  Segment segment;
  segment.period = period;
  segment.angles = Eigen::VectorXd::LinSpaced(400, 0.0, 1.0);
  segment.controls.resize(400, 0);
  CalibrationOptions options;
  options.step = requested;
  return prepare_shadow_input(make_pendulum(), {{"run", {segment}}}, options).step;
}

// Default: the longest whole multiple or fraction of the period up to 5 ms. A given step may differ
// from a multiple by one percent, since a unit's clock is never exact; others are refused.
TEST(Prepare, AlignsTheStepWithTheSamplingPeriod) {
  EXPECT_DOUBLE_EQ(step_of(1e-3, 0.0), 5e-3);
  EXPECT_DOUBLE_EQ(step_of(1.000035e-3, 0.0), 5.0 * 1.000035e-3);
  EXPECT_DOUBLE_EQ(step_of(2e-3, 0.0), 4e-3);
  EXPECT_DOUBLE_EQ(step_of(0.02, 0.0), 5e-3);
  EXPECT_DOUBLE_EQ(step_of(0.012, 0.0), 4e-3);
  EXPECT_DOUBLE_EQ(step_of(1.000035e-3, 5e-3), 5.0 * 1.000035e-3);
  EXPECT_DOUBLE_EQ(step_of(0.01, 5.02e-3), 5e-3);
  EXPECT_THROW(step_of(1.000035e-3, 5.4e-3), std::invalid_argument);
}

}  // namespace
}  // namespace estimator
