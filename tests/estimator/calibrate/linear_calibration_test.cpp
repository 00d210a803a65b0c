#include "estimator/calibrate/linear_calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/moments.hpp"
#include "service/messages/message_text.hpp"
#include "tests/estimator/diagnostics/made_up_motion.hpp"
#include "tests/support/mechanisms/controlled_arm.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kRegressedPeriod = 2e-3;  // sampling period [s]

CalibrationOptions linear() {
  CalibrationOptions options;
  options.linear = true;
  return options;
}

Mechanism with_control_noise(Mechanism arm) {
  for (Joint& joint : arm.joints) joint.motor.control_noise = 0.05;
  return arm;
}

void expect_near_truth(const Calibration& result, const Mechanism& truth, double share) {
  for (const ParameterEstimate& estimate : result.parameters) {
    const double value = truth.at(truth.find_parameter(estimate.name)).value;
    EXPECT_LT(std::abs(estimate.value - value),
              std::max(4.0 * estimate.standard_deviation, share * std::abs(value)))
        << estimate.name << " " << estimate.value << " instead of " << value << " +- "
        << estimate.standard_deviation;
  }
}

// An arm under feedback, which no open-loop simulation follows, from good and bad initial values.
TEST(LinearCalibration, EstimatesAControlledArmFromAnyInitialValues) {
  const Mechanism truth = make_arm(2);
  const Recording recording = record_arm(truth, {});
  for (const double factor : {1.3, 1e3}) {
    SCOPED_TRACE(factor);
    const Calibration result =
        calibrate(with_control_noise(free_arm(truth, factor)), {recording}, linear());
    EXPECT_TRUE(result.converged()) << to_string(result.termination) << result.iterations;
    EXPECT_EQ(result.first_stage, EstimationStage::kRegression);
    EXPECT_FALSE(result.refined);
    expect_near_truth(result, truth, 0.02);
    EXPECT_EQ(result.verdict.kind, VerdictKind::kAccepted)
        << service::format_verdict(result.verdict);
    ASSERT_EQ(result.torque_predictions.size(), 2U);
    for (const TorquePrediction& each : result.torque_predictions) {
      EXPECT_LT(each.error, 1.5 * each.expected) << each.joint;
      EXPECT_GT(each.error, 0.0) << each.joint;
    }
  }
}

// Masses, centres of mass and moments of the first moving link are not identifiable one by one:
// some deviations are infinite, and those of friction are not.
TEST(LinearCalibration, ReportsParametersThatItDoesNotIdentify) {
  const Mechanism truth = make_arm(2);
  const Calibration result =
      calibrate(with_control_noise(free_arm(truth, 1.3)), {record_arm(truth, {})}, linear());
  EXPECT_FALSE(result.null_directions.empty());
  for (const ParameterEstimate& estimate : result.parameters) {
    const bool is_friction = estimate.name.ends_with(".b") || estimate.name.ends_with(".tau_c");
    if (is_friction) {
      EXPECT_LT(estimate.standard_deviation, 0.1 * estimate.value) << estimate.name;
    }
  }
  EXPECT_TRUE(std::ranges::any_of(result.parameters, [](const ParameterEstimate& estimate) {
    return std::isinf(estimate.standard_deviation);
  }));
}

// A joint without motor has no torque; its error is relative to the inertial torque.
TEST(LinearCalibration, AssessesAJointWithoutMotor) {
  ReferencePendulum truth{.b = 2e-3};
  const auto calibrated = [&](const std::vector<std::string>& free, double drag) {
    Eigen::VectorXd angles = simulate(truth, {1.2, 0.0}, kRegressedPeriod, 4000).col(0);
    Mechanism described = freed(pendulum_of(truth), free);
    if (drag >= 0.0) described.joint_parameter(0, JointParameter::kViscous).value = drag;
    return calibrate(described,
                     {{"run", {segment_of(as_read(angles, 1e-4, 0.0, 3), 1.0 / kRegressedPeriod)}}},
                     linear());
  };
  const Calibration right = calibrated({"P.J_zz", "1.b"}, -1.0);
  expect_near_truth(right, pendulum_of(truth), 0.02);
  ASSERT_EQ(right.torque_predictions.size(), 1U);
  EXPECT_GT(right.torque_predictions[0].torque, 0.0);
  EXPECT_LE(right.verdict.kind, VerdictKind::kDoubtful) << service::format_verdict(right.verdict);
  const Calibration wrong = calibrated({"P.J_zz"}, 20.0 * truth.b);
  EXPECT_GE(wrong.verdict.kind, VerdictKind::kApproximate)
      << service::format_verdict(wrong.verdict);
  EXPECT_EQ(wrong.verdict.error.kind, PredictionKind::kTorque);
}

// Delays of encoders are no coefficients of inverse dynamics. They keep their given values.
TEST(LinearCalibration, LeavesOutOtherParameters) {
  const Mechanism truth = make_arm(2);
  Mechanism given = free_arm(truth, 1.3);
  const int delay = given.joint_parameter_index(1, JointParameter::kEncoderDelay);
  given.at(delay).free = true;
  const Calibration result = calibrate(given, {record_arm(truth, {})}, linear());
  EXPECT_EQ(result.mechanism.at(delay).value, truth.at(delay).value);
  EXPECT_EQ(std::ranges::count(result.parameters, given.at(delay).name, &ParameterEstimate::name),
            0);
  const auto note = std::ranges::find(result.notes, MessageCode::kLinearRegression, &Message::code);
  ASSERT_NE(note, result.notes.end());
  EXPECT_NE(service::format_message(*note).find(given.at(delay).name), std::string::npos)
      << service::format_message(*note);
}

TEST(LinearCalibration, NeedsAnEncoderOnEveryJoint) {
  const ReferenceFuruta rig = viscous_furuta();
  Mechanism given = free_furuta(rig, 1.0);
  Recording recording = record(rig, Eigen::Vector4d(0.0, 0.5, 0.0, 0.0),
                               three_sines(3000, kRegressedPeriod), kRegressedPeriod, 5e-4, 5);
  EXPECT_TRUE(calibrate(given, {recording}, linear()).converged());
  given.joints[0].measured = false;
  recording.segments[0].angles = recording.segments[0].angles.rightCols(1).eval();
  EXPECT_THROW(calibrate(given, {recording}, linear()), std::invalid_argument);
}

TEST(LinearCalibration, ExcludesParametersOfASimulator) {
  const Mechanism truth = make_arm(2);
  CalibrationOptions options = linear();
  options.kind = EstimateKind::kShadow;
  EXPECT_THROW(select_estimate_kind(truth, options), std::invalid_argument);
  options.kind.reset();
  options.compliance = 1e-6;
  EXPECT_THROW(select_estimate_kind(truth, options), std::invalid_argument);
}

}  // namespace
}  // namespace estimator
