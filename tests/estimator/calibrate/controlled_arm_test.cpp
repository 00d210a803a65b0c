#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "estimator/calibrate/calibrate.hpp"
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

Recording record_noisy_arm(const Mechanism& truth) {
  return test_support::record_arm(truth, {.duration = 5.0,
                                          .angle_noise = kAngleNoise,
                                          .torque_noise = {kTorqueNoise[0], kTorqueNoise[1]},
                                          .seed = 4});
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

}  // namespace
}  // namespace estimator
