#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "tests/support/mechanisms/controlled_arm.hpp"

namespace estimator {
namespace {

constexpr double kTorqueNoise[] = {0.05, 0.02};  // of the joints [N·m]
constexpr double kAngleNoise = 5e-5;             // [rad]

Mechanism arm_with_control_noise(const Mechanism& truth) {
  Mechanism given = test_support::free_arm(truth, 1.3);
  for (int j = 0; j < given.joint_count(); ++j) {
    given.joints[j].motor.control_noise = kTorqueNoise[std::min(j, 1)];
  }
  return given;
}

Recording record_noisy_arm(const Mechanism& truth, unsigned seed = 4) {
  return test_support::record_arm(truth, {.duration = 5.0,
                                          .angle_noise = kAngleNoise,
                                          .torque_noise = {kTorqueNoise[0], kTorqueNoise[1]},
                                          .seed = seed});
}

double largest_torque_ratio(const Calibration& result) {
  double largest = 0.0;
  for (const TorquePrediction& each : result.torque_predictions) {
    largest = std::max(largest, each.error / each.expected);
  }
  return largest;
}

// The estimates are within their uncertainty, and the states within the noise of the readings.
// Catches nodes so far apart that control noise counts as noise of the readings.
TEST(CalibrateArm, EstimatesParametersFromNoisyTorques) {
  const Mechanism truth = test_support::make_arm(2);
  const Calibration result = calibrate(arm_with_control_noise(truth), {record_noisy_arm(truth)});
  EXPECT_TRUE(is_converged(result.termination));
  EXPECT_FALSE(result.refined);
  EXPECT_LT(result.observation_rmse, 1.2 * kAngleNoise);
  for (const ParameterEstimate& estimate : result.parameters) {
    if (!std::isfinite(estimate.standard_deviation)) continue;
    const double value = truth.at(truth.find_parameter(estimate.name)).value;
    EXPECT_LT(std::abs(estimate.value - value),
              std::max(4.0 * estimate.standard_deviation, 0.02 * std::abs(value)))
        << estimate.name << " " << estimate.value << " instead of " << value << " +- "
        << estimate.standard_deviation;
  }
}

// Catches an expected error that is not the size of the error of a right model.
TEST(CalibrateArm, PredictsTorquesAndMotionsOfARightModelToTheirNoise) {
  const Mechanism truth = test_support::make_arm(2);
  const Calibration result = calibrate(arm_with_control_noise(truth), {record_noisy_arm(truth)});
  EXPECT_EQ(result.simulation_horizon, 1.0);
  ASSERT_EQ(result.torque_predictions.size(), 2U);
  for (const TorquePrediction& each : result.torque_predictions) {
    EXPECT_GT(each.error, 0.5 * each.expected) << each.joint;
    EXPECT_LT(each.error, 1.3 * each.expected) << each.joint;
    EXPECT_GT(each.torque, 20.0 * each.error) << each.joint;
  }
  ASSERT_EQ(result.motion_predictions.size(), 6U);
  EXPECT_TRUE(std::ranges::is_sorted(
      result.motion_predictions, {},
      [](const MotionPrediction& each) { return std::pair(each.encoder, each.horizon); }));
  for (const MotionPrediction& each : result.motion_predictions) {
    // Joints that stick in between are predicted better.
    EXPECT_GT(each.rmse, 0.1 * each.expected) << each.encoder << " " << each.horizon;
    EXPECT_LT(each.rmse, 1.5 * each.expected) << each.encoder << " " << each.horizon;
  }
  EXPECT_LE(judge_model(result).kind, VerdictKind::kDoubtful);
}

// Catches a judgement by predictions that accepts everything.
TEST(CalibrateArm, RejectsAnArmWithHalfOfItsFriction) {
  const Mechanism truth = test_support::make_arm(2);
  Mechanism given = arm_with_control_noise(truth);
  for (int j = 0; j < given.joint_count(); ++j) {
    Parameter& friction = given.joint_parameter(j, JointParameter::kCoulombTorque);
    friction.value = 0.5 * truth.joint_parameter(j, JointParameter::kCoulombTorque).value;
    friction.free = false;
  }
  const Calibration result = calibrate(given, {record_noisy_arm(truth)});
  EXPECT_GT(largest_torque_ratio(result), 3.0) << to_string(result.termination);
  EXPECT_GE(judge_model(result).kind, VerdictKind::kApproximate);
}

// Torques that a linear regression explains confirm the rig description without simulations; those
// of an inverted encoder do not.
TEST(CalibrateArm, FindsAnInvertedEncoder) {
  const Mechanism truth = test_support::make_arm(2);
  const Mechanism given = arm_with_control_noise(truth);
  Recording recording = test_support::record_arm(
      truth, {.duration = 2.0, .torque_noise = {kTorqueNoise[0], kTorqueNoise[1]}});
  const auto has_fault_in = [&](const Recording& examined) {
    return has_fault(examine_and_repair_input(given, {examined}, {}, {}, {}).findings);
  };
  EXPECT_FALSE(has_fault_in(recording));
  recording.segments[0].angles.col(1) *= -1.0;
  EXPECT_TRUE(has_fault_in(recording));
}

}  // namespace
}  // namespace estimator
