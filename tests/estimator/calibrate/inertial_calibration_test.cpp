#include <gtest/gtest.h>

#include <cmath>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/estimator/calibrate/sensed_furuta.hpp"

namespace {

using estimator::Calibration;
using estimator::Mechanism;
using estimator::Segment;
using test_support::kAngleNoise;
using test_support::kDelay;
using test_support::kForceBias;
using test_support::kForceNoise;
using test_support::kMountX;
using test_support::kPeriod;
using test_support::kPointX;
using test_support::kPointZ;
using test_support::kRateBias;
using test_support::kRateNoise;
using test_support::ReferenceFuruta;
using test_support::without_second_encoder;

Segment recorded(double delay) { return test_support::sensed_furuta(delay, 7); }
Mechanism to_fit(const std::vector<std::string>& constants) {
  return test_support::furuta_to_fit(constants);
}
ReferenceFuruta rig() { return test_support::sensed_rig(); }

const estimator::ParameterEstimate& estimate_of(const Calibration& calibration,
                                                const std::string& name) {
  return *std::ranges::find(calibration.parameters, name, &estimator::ParameterEstimate::name);
}

void expect_found(const Calibration& calibration, const std::string& name, double truth) {
  const estimator::ParameterEstimate& found = estimate_of(calibration, name);
  EXPECT_GT(found.standard_deviation, 0.0) << name;
  EXPECT_NEAR(found.value, truth, 4.0 * found.standard_deviation) << name;
}

const std::vector<std::string> kConstants = {"imu.mount_x", "imu.p_x", "imu.p_z", "imu.gyro_bias_y",
                                             "imu.accel_bias_x"};

// The pendulum has no encoder. A sensor of unknown place, mounting and biases alone must recover
// its motion as its encoder would have read it.
TEST(InertialCalibration, IdentifiesAJointWithoutEncoder) {
  Mechanism mechanism = to_fit(kConstants);
  mechanism.held_out = {"2"};
  const Calibration found =
      estimator::calibrate(mechanism, {{"imu", {without_second_encoder(recorded(0.0))}}});
  ASSERT_TRUE(found.converged());
  ASSERT_EQ(found.held_out.size(), 1u);
  EXPECT_LT(found.held_out.front().rmse, 1.1 * kAngleNoise);
  const ReferenceFuruta truth = rig();
  expect_found(found, "B.J_yy", truth.J_Byy);
  expect_found(found, "1.b", truth.b_1);
  expect_found(found, "2.b", truth.b_2);
  expect_found(found, "1.K", truth.K);
  expect_found(found, "imu.mount_x", kMountX);
  expect_found(found, "imu.p_x", kPointX);
  expect_found(found, "imu.p_z", kPointZ);
  expect_found(found, "imu.gyro_bias_y", kRateBias);
  expect_found(found, "imu.accel_bias_x", kForceBias);
}

// Delayed readings must not appear as friction: the delay is estimated to a fraction of a sample,
// and the noise of every axis is estimated from the data.
TEST(InertialCalibration, FindsTheDelayAndTheNoise) {
  std::vector<std::string> constants = kConstants;
  constants.push_back("imu.delay");
  const Calibration found =
      estimator::calibrate(to_fit(constants), {{"imu", {recorded(kDelay + 0.5 * kPeriod)}}});
  ASSERT_TRUE(found.converged());
  expect_found(found, "imu.delay", kDelay + 0.5 * kPeriod);
  EXPECT_LT(estimate_of(found, "imu.delay").standard_deviation, 1e-4);
  expect_found(found, "2.b", rig().b_2);
  ASSERT_EQ(found.inertial.size(), 6u);
  for (std::size_t axis = 0; axis < 6; ++axis) {
    const double truth = axis < 3 ? kRateNoise : kForceNoise;
    // From 1900 readings a standard deviation is known to 1.6 %.
    EXPECT_NEAR(found.inertial[axis].noise, truth, 0.08 * truth) << found.inertial[axis].name;
  }
}

// An additional sensor can only reduce standard deviations.
TEST(InertialCalibration, ReducesDeviations) {
  Segment segment = recorded(0.0);
  const Calibration both = estimator::calibrate(to_fit(kConstants), {{"imu", {segment}}});
  segment.inertial.resize(0, 0);
  const Calibration alone = estimator::calibrate(to_fit({}), {{"encoders", {segment}}});
  ASSERT_TRUE(both.converged() && alone.converged());
  for (const char* name : {"B.J_yy", "1.b", "2.b", "1.K"}) {
    EXPECT_LT(estimate_of(both, name).noise_deviation,
              1.02 * estimate_of(alone, name).noise_deviation)
        << name;
  }
}

}  // namespace
