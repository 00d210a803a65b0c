#include "estimator/fit/physical/noise_update.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace estimator {
namespace {

NoiseGroupStatistics group(int rows, double effective_parameters, double cost) {
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
  ProcessNoiseChange change = compute_process_noise_change(group(210, 10.0, 200.0 * 1.29), false);
  EXPECT_FALSE(change.significant);
  EXPECT_EQ(change.factor, kProcessDrop);
  change = compute_process_noise_change(group(210, 10.0, 200.0 * 1.31), false);
  EXPECT_TRUE(change.significant);
  EXPECT_DOUBLE_EQ(change.factor, std::sqrt(1.31));
}

// Once process noise is detected, its level also follows the residuals down. Otherwise the level
// would oscillate.
TEST(ProcessNoise, FollowsTheResidualsInBothDirectionsOnceDetected) {
  const ProcessNoiseChange change =
      compute_process_noise_change(group(210, 10.0, 200.0 * 0.25), true);
  EXPECT_TRUE(change.significant);
  EXPECT_DOUBLE_EQ(change.factor, 0.5);
}

// If the states use up all defects, the noise is not lowered, and is detected only at a cost above
// four standard deviations of one row.
TEST(ProcessNoise, KeepsItsValueIfStatesAbsorbTheDefects) {
  ProcessNoiseChange change = compute_process_noise_change(group(200, 199.5, 1.0), false);
  EXPECT_FALSE(change.significant);
  EXPECT_EQ(change.factor, 1.0);
  change = compute_process_noise_change(group(200, 198.5, 1.0), false);
  EXPECT_EQ(change.factor, kProcessDrop);
  change = compute_process_noise_change(group(200, 199.5, 1.0 + 3.1 * std::sqrt(2.0)), false);
  EXPECT_TRUE(change.significant);
}

}  // namespace
}  // namespace estimator
