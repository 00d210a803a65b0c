#include "estimator/fit/physical/noise_update.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace estimator {
namespace {

NoiseGroupStatistics group(double rows, double effective_parameters, double cost) {
  return {.rows = rows, .cost = cost, .effective_parameters = effective_parameters};
}

// The variance is the cost per degree of freedom. Per row, noise would appear smaller the more
// parameters there are.
TEST(SensorNoise, IsPerDegreeOfFreedom) {
  EXPECT_DOUBLE_EQ(compute_sensor_noise_factor(group(100, 20.0, 80.0)), 1.0);
  EXPECT_DOUBLE_EQ(compute_sensor_noise_factor(group(100, 20.0, 320.0)), 2.0);
  EXPECT_DOUBLE_EQ(compute_sensor_noise_factor(group(100, 20.0, 20.0)), 0.5);
}

// If parameters use up all rows, the residuals contain no information about the noise.
TEST(SensorNoise, KeepsItsValueWithoutDegreesOfFreedom) {
  EXPECT_EQ(compute_sensor_noise_factor(group(20, 19.5, 1e-3)), 1.0);
  EXPECT_EQ(compute_sensor_noise_factor(group(20, 20.3, 1e-3)), 1.0);
  EXPECT_DOUBLE_EQ(compute_sensor_noise_factor(group(20, 19.0, 4.0)), 2.0);
}

// A variance from 200 rows has a relative deviation of √(2/200) = 0.1, so three deviations end at
// 1.3.
TEST(ProcessNoise, IsDetectedThreeDeviationsAboveItsModel) {
  ProcessNoiseUpdate update;
  EXPECT_EQ(update.compute_noise_level_factor(group(210, 10.0, 200.0 * 1.29)), kProcessDrop);
  EXPECT_FALSE(update.is_significant());
  EXPECT_DOUBLE_EQ(update.compute_noise_level_factor(group(210, 10.0, 200.0 * 1.31)),
                   std::sqrt(1.31));
  EXPECT_TRUE(update.is_significant());
}

// Once process noise is detected, its level also follows the residuals down. Otherwise the level
// would oscillate.
TEST(ProcessNoise, FollowsTheResidualsInBothDirectionsOnceDetected) {
  ProcessNoiseUpdate update;
  EXPECT_EQ(update.compute_noise_level_factor(group(210, 10.0, 200.0 * 2.25), 1.75), 1.75);
  update = {};
  update.compute_noise_level_factor(group(210, 10.0, 200.0 * 4.0));
  update.compute_noise_level_factor(group(210, 10.0, 200.0 * 0.5), 1.0);
  EXPECT_DOUBLE_EQ(update.compute_noise_level_factor(group(210, 10.0, 200.0 * 0.25)), 0.5);
  EXPECT_TRUE(update.is_significant());
}

// If the states use up all defects, the noise is not lowered, and is detected only at a cost above
// four standard deviations of one row.
TEST(ProcessNoise, KeepsItsValueIfStatesAbsorbTheDefects) {
  ProcessNoiseUpdate update;
  EXPECT_EQ(update.compute_noise_level_factor(group(200, 199.5, 1.0)), 1.0);
  EXPECT_EQ(update.compute_noise_level_factor(group(200, 198.5, 1.0)), kProcessDrop);
  EXPECT_FALSE(update.is_significant());
  update.compute_noise_level_factor(group(200, 199.5, 1.0 + 3.1 * std::sqrt(2.0)));
  EXPECT_TRUE(update.is_significant());
}

// A model of the residuals of n accelerations with variance s², of which the readings determine
// each with the variance r². The residuals whitened by the level l have the expectation n times the
// redundancy l²/(l² + r²), times (s² + r²)/(l² + r²).
NoiseGroupStatistics absorbed(double level, double truth, double reading) {
  const double share = level * level / (level * level + reading * reading);
  const double excess = (truth * truth + reading * reading) / (level * level + reading * reading);
  return group(6000, 6000.0 * (1.0 - share), 6000.0 * share * excess);
}

// Of levels far below the reading noise, the ratio of residuals and expectation hardly depends on
// the level. Multiplying by its root needs dozens of rounds.
TEST(ProcessNoise, ReachesWeaklyDeterminedLevelsInFewRounds) {
  for (const double start : {0.05, 3.0}) {
    SCOPED_TRACE(start);
    constexpr double kTruth = 0.6, kReading = 1.0;
    ProcessNoiseUpdate update;
    double level = start;
    update.compute_noise_level_factor(group(210, 10.0, 200.0 * 4.0));  // significant
    update.compute_noise_level_factor(group(210, 10.0, 200.0 * 0.5), 1.0);
    int rounds = 0;
    for (; rounds < 9 && std::abs(level - kTruth) > 0.05 * kTruth; ++rounds) {
      level *= update.compute_noise_level_factor(absorbed(level, kTruth, kReading));
    }
    EXPECT_NEAR(level, kTruth, 0.05 * kTruth) << rounds << " rounds";
    EXPECT_LT(rounds, 9);
  }
}

// A level that is kept at its minimum does not start an extrapolation.
TEST(ProcessNoise, DoesNotExtrapolateFromAnUnchangedLevel) {
  ProcessNoiseUpdate update;
  update.compute_noise_level_factor(group(210, 10.0, 200.0 * 2.0));
  EXPECT_EQ(update.compute_noise_level_factor(group(210, 10.0, 200.0 * 0.5), 1.0), 1.0);
  EXPECT_DOUBLE_EQ(update.compute_noise_level_factor(group(210, 10.0, 200.0 * 1.21)), 1.1);
}

}  // namespace
}  // namespace estimator
