#include "estimator/fit/physical/noise_update.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using estimator::GroupStatistics;
using estimator::process_noise_change;
using estimator::ProcessNoiseChange;
using estimator::sensor_noise_factor;

GroupStatistics group(int rows, double effective_parameters, double cost) {
  return {.rows = rows, .cost = cost, .effective_parameters = effective_parameters};
}

// The variance is what is left per row that no parameter pays for: not per row, which would make
// noise look smaller the more parameters there are.
TEST(SensorNoise, FollowsTheResidualsPerRowThatIsLeft) {
  EXPECT_DOUBLE_EQ(sensor_noise_factor(group(100, 20.0, 80.0)), 1.0);
  EXPECT_DOUBLE_EQ(sensor_noise_factor(group(100, 20.0, 320.0)), 2.0);
  EXPECT_DOUBLE_EQ(sensor_noise_factor(group(100, 20.0, 20.0)), 0.5);
}

// Where parameters use up all rows the residuals say nothing.
TEST(SensorNoise, StaysWhereNoRowIsLeft) {
  EXPECT_EQ(sensor_noise_factor(group(20, 19.5, 1e-3)), 1.0);
  EXPECT_EQ(sensor_noise_factor(group(20, 20.3, 1e-3)), 1.0);
  EXPECT_DOUBLE_EQ(sensor_noise_factor(group(20, 19.0, 4.0)), 2.0);
}

// A variance from 200 rows scatters by √(2/200) = 0.1: three deviations end at 1.3.
TEST(ProcessNoise, IsSeenThreeDeviationsAboveItsModel) {
  ProcessNoiseChange change = process_noise_change(group(210, 10.0, 200.0 * 1.29), false);
  EXPECT_FALSE(change.seen);
  EXPECT_EQ(change.factor, estimator::kProcessDrop);
  change = process_noise_change(group(210, 10.0, 200.0 * 1.31), false);
  EXPECT_TRUE(change.seen);
  EXPECT_DOUBLE_EQ(change.factor, std::sqrt(1.31));
}

// Once seen it follows the residuals down too: without this it would drop, be seen, rise and drop.
TEST(ProcessNoise, OnceSeenFollowsTheResidualsBothWays) {
  const ProcessNoiseChange change = process_noise_change(group(210, 10.0, 200.0 * 0.25), true);
  EXPECT_TRUE(change.seen);
  EXPECT_DOUBLE_EQ(change.factor, 0.5);
}

// Where the states pay for all defects the noise is neither lowered nor, at a cost below four
// deviations of one row, seen.
TEST(ProcessNoise, StaysWhereStatesUseUpTheDefects) {
  ProcessNoiseChange change = process_noise_change(group(200, 199.5, 1.0), false);
  EXPECT_FALSE(change.seen);
  EXPECT_EQ(change.factor, 1.0);
  change = process_noise_change(group(200, 198.5, 1.0), false);
  EXPECT_EQ(change.factor, estimator::kProcessDrop);
  change = process_noise_change(group(200, 199.5, 1.0 + 3.1 * std::sqrt(2.0)), false);
  EXPECT_TRUE(change.seen);
}

}  // namespace
