#include <gtest/gtest.h>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/estimator/calibrate/sensed_furuta.hpp"
#include "tests/support/estimates.hpp"

namespace estimator {
namespace {

using namespace test_support;

Segment recorded(double delay) { return sensed_furuta(delay, 7); }
ReferenceFuruta rig() { return viscous_furuta(); }

void expect_found(const Calibration& calibration, const std::string& name, double truth) {
  expect_within(calibration, name, truth, 4.0);
}

const std::vector<std::string> kConstants = {"imu.mount_x", "imu.p_x", "imu.p_z", "imu.gyro_bias_y",
                                             "imu.accel_bias_x"};

// The pendulum has no encoder. A sensor of unknown place, mounting and biases alone must recover
// its motion as its encoder would have read it.
TEST(InertialCalibration, IdentifiesAJointWithoutEncoder) {
  Mechanism mechanism = furuta_to_fit(kConstants);
  mechanism.held_out = {"2"};
  const Calibration found =
      calibrate(mechanism, {{"imu", {without_second_encoder(recorded(0.0))}}});
  ASSERT_TRUE(found.converged());
  ASSERT_EQ(found.held_out.size(), 1u);
  EXPECT_LT(found.held_out.front().rmse, 1.1 * kAngleNoise);
  const ReferenceFuruta truth = rig();
  expect_found(found, "B.J_yy", truth.J_Byy);
  expect_found(found, "1.b", truth.b_1);
  expect_found(found, "2.b", truth.b_2);
  expect_found(found, "1.K", truth.K);
  expect_found(found, "imu.mount_x", kMountX);
  expect_found(found, "imu.p_x", test_support::kPointX);
  expect_found(found, "imu.p_z", test_support::kPointZ);
  expect_found(found, "imu.gyro_bias_y", test_support::kRateBias);
  expect_found(found, "imu.accel_bias_x", test_support::kForceBias);
}

// Delayed readings must not appear as friction: the delay is estimated to a fraction of a sample,
// and the noise of every axis is estimated from the data.
TEST(InertialCalibration, EstimatesDelayAndNoise) {
  std::vector<std::string> constants = kConstants;
  constants.push_back("imu.delay");
  const Calibration found =
      calibrate(furuta_to_fit(constants),
                {{"imu", {recorded(test_support::kDelay + 0.5 * test_support::kPeriod)}}});
  ASSERT_TRUE(found.converged());
  expect_found(found, "imu.delay", test_support::kDelay + 0.5 * test_support::kPeriod);
  EXPECT_LT(estimate_of(found, "imu.delay").standard_deviation, 1e-4);
  expect_found(found, "2.b", rig().b_2);
  ASSERT_EQ(found.inertial.size(), 6u);
  for (std::size_t axis = 0; axis < 6; ++axis) {
    const double truth = axis < 3 ? test_support::kRateNoise : test_support::kForceNoise;
    // From 1900 readings a standard deviation is known to 1.6 %.
    EXPECT_NEAR(found.inertial[axis].noise, truth, 0.08 * truth) << found.inertial[axis].name;
  }
}

// An additional sensor can only reduce standard deviations.
TEST(InertialCalibration, ReducesStandardDeviations) {
  Segment segment = recorded(0.0);
  const Calibration both = calibrate(furuta_to_fit(kConstants), {{"imu", {segment}}});
  segment.inertial.resize(0, 0);
  const Calibration alone = calibrate(furuta_to_fit({}), {{"encoders", {segment}}});
  ASSERT_TRUE(both.converged() && alone.converged());
  for (const char* name : {"B.J_yy", "1.b", "2.b", "1.K"}) {
    EXPECT_LT(estimate_of(both, name).noise_deviation,
              1.02 * estimate_of(alone, name).noise_deviation)
        << name;
  }
}

}  // namespace
}  // namespace estimator
