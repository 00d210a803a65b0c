#include "estimator/calibrate/held_out_sensors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "service/messages/message_text.hpp"
#include "tests/estimator/calibrate/sensed_furuta.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kWithheldNoise = 1e-3;

Recording driven(unsigned seed, const std::string& name) {
  Eigen::VectorXd u(2000);
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = std::sin(0.02 * static_cast<double>(k));
  Recording recording =
      record(viscous_furuta(), Eigen::Vector4d(0.1, 1.0, 0.0, 0.0), u, 2e-3, kWithheldNoise, seed);
  recording.name = name;
  return recording;
}

Mechanism to_fit() {
  Mechanism mechanism = mechanism_of(viscous_furuta());
  free_parameters(mechanism, {"B.J_yy", "1.b", "2.b"}, 1.2);
  return mechanism;
}

Mechanism without(const std::string& name) {
  Mechanism mechanism = to_fit();
  mechanism.held_out = {name};
  return mechanism;
}

/// Largest ratio of the deviations of a calibration to those with more sensors, and its parameter.
std::pair<double, std::string> narrowing_of(const Calibration& some, const Calibration& all) {
  std::pair<double, std::string> largest{1.0, ""};
  for (std::size_t i = 0; i < all.parameters.size(); ++i) {
    const double ratio =
        some.parameters[i].standard_deviation / all.parameters[i].standard_deviation;
    EXPECT_GT(ratio, 0.95) << all.parameters[i].name;
    largest = std::max(largest, {ratio, all.parameters[i].name});
  }
  EXPECT_GT(largest.first, 1.2);
  return largest;
}

void expect_same_estimates(const Calibration& one, const Calibration& other) {
  for (std::size_t i = 0; i < one.parameters.size(); ++i) {
    EXPECT_EQ(other.parameters[i].value, one.parameters[i].value);
    EXPECT_EQ(other.parameters[i].standard_deviation, one.parameters[i].standard_deviation);
  }
}

// A held-out sensor may contain anything without affecting the estimate. Its reported cost is the
// difference of the two calibrations. If its readings are good, they are predicted to their noise.
TEST(HeldOutSensors, AreNotFittedAndReportTheLostPrecision) {
  const Recording recording = driven(3, "driven");
  const Calibration all = calibrate(to_fit(), {recording});
  const Calibration some = calibrate(without("1"), {recording});
  ASSERT_TRUE(all.converged() && some.converged());
  EXPECT_TRUE(all.held_out.empty());
  ASSERT_EQ(some.held_out.size(), 1U);
  const HeldOutSensor& sensor = some.held_out[0];
  EXPECT_EQ(sensor.name, "1");
  EXPECT_NEAR(sensor.noise, kWithheldNoise, 0.1 * kWithheldNoise);
  // The pendulum does not determine the arm's position, only its motion.
  const double scatter = std::sqrt(sensor.rmse * sensor.rmse - sensor.mean * sensor.mean);
  EXPECT_LT(scatter, 30.0 * kWithheldNoise);
  EXPECT_GT(scatter, 0.9 * kWithheldNoise);
  const auto [narrowing, narrowed] = narrowing_of(some, all);
  EXPECT_NEAR(sensor.precision_gain, narrowing, 0.1 * narrowing);
  EXPECT_EQ(sensor.most_improved_parameter, narrowed);
  EXPECT_NE(service::format_message(some.notes.back()).find("encoder \"1\" was held out"),
            std::string::npos);
  ASSERT_EQ(some.simulation.size(), 1U);
  EXPECT_EQ(some.simulation[0].joint, "2");
  EXPECT_EQ(some.trajectories[0].measured.cols(), 1);

  Recording spoilt = recording;
  spoilt.segments[0].angles.col(0).array() += 0.5;
  spoilt.segments[0].angles(7, 0) = std::numeric_limits<double>::quiet_NaN();
  const Calibration same = calibrate(without("1"), {spoilt});
  expect_same_estimates(some, same);
  EXPECT_NEAR(same.held_out[0].mean, sensor.mean - 0.5, 1e-3);
}

// Columns are assigned by their order, whichever sensor is held out.
TEST(HeldOutSensors, CanBeAnyEncoder) {
  const Recording recording = driven(4, "driven");
  const Calibration some = calibrate(without("2"), {recording});
  ASSERT_EQ(some.simulation.size(), 1U);
  EXPECT_EQ(some.simulation[0].joint, "1");
  EXPECT_EQ(some.trajectories[0].measured.col(0), recording.segments[0].angles.col(0));
  ASSERT_EQ(some.held_out.size(), 1U);
  EXPECT_LT(some.held_out[0].rmse, 20.0 * kWithheldNoise);
}

TEST(HeldOutSensors, AreNotFittedInACrossValidation) {
  const CrossValidation result = cross_validate(without("1"), {driven(5, "a"), driven(6, "b")});
  EXPECT_EQ(result.joints, std::vector<std::string>{"2"});
  ASSERT_EQ(result.folds.size(), 2U);
  EXPECT_LT(result.folds[0].evaluation.simulation[0].rmse, 3.0 * kWithheldNoise);
  const ParameterEvaluation evaluation = evaluate_parameters(without("1"), {driven(5, "a")});
  EXPECT_EQ(evaluation.simulation.size(), 1U);
}

TEST(HeldOutSensors, RequireTheColumnsOfAllEncoders) {
  Recording recording = driven(3, "short");
  recording.segments[0].angles = recording.segments[0].angles.col(0).eval();
  EXPECT_EQ(refusal<std::invalid_argument>([&] { calibrate(without("1"), {recording}); }),
            "short: needs 2 angle columns");
}

Segment sensed_piece() { return segment_rows(sensed_furuta(0.0, 8), 0, 700); }

Mechanism without_sensor(const std::string& name) {
  Mechanism mechanism = furuta_to_fit({});
  mechanism.held_out = {name};
  return mechanism;
}

// Each axis of a held-out sensor reports its error and cost, and does not affect the estimate.
TEST(HeldOutSensors, CanBeInertialSensors) {
  const Recording recording{"sensed", {sensed_piece()}};
  const Calibration all = calibrate(furuta_to_fit({}), {recording});
  const Calibration some = calibrate(without_sensor("imu"), {recording});
  ASSERT_TRUE(all.converged() && some.converged());
  EXPECT_TRUE(some.inertial.empty());
  ASSERT_EQ(some.held_out.size(), 6U);
  EXPECT_EQ(some.held_out[0].name, "imu.gyro_x");
  EXPECT_EQ(some.held_out[0].unit, "rad/s");
  EXPECT_EQ(some.held_out[5].name, "imu.accel_z");
  EXPECT_EQ(some.held_out[5].unit, "m/s²");
  const auto [narrowing, narrowed] = narrowing_of(some, all);
  for (std::size_t axis = 0; axis < some.held_out.size(); ++axis) {
    const HeldOutSensor& sensor = some.held_out[axis];
    const double noise = axis < 3 ? test_support::kRateNoise : test_support::kForceNoise;
    EXPECT_NEAR(sensor.noise, noise, 0.15 * noise) << sensor.name;  // of 700 differences
    EXPECT_NEAR(sensor.rmse, noise, 0.3 * noise) << sensor.name;    // predicted by the others
    EXPECT_NEAR(sensor.precision_gain, narrowing, 0.1 * narrowing);
    EXPECT_EQ(sensor.most_improved_parameter, narrowed);
  }

  Recording spoilt = recording;
  spoilt.segments[0].inertial.array() += 0.5;
  const Calibration same = calibrate(without_sensor("imu"), {spoilt});
  expect_same_estimates(some, same);
  EXPECT_NEAR(same.held_out[4].mean, some.held_out[4].mean - 0.5, 1e-6);
  EXPECT_NE(service::format_message(some.notes.back()).find("\"imu.accel_z\" was held out"),
            std::string::npos);
}

// For a sensor without effect no reduction "by a factor of 1" is reported.
TEST(HeldOutSensors, CanBeWithoutEffectOnThePrecision) {
  Segment segment = sensed_piece();
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0.0, 30.0);
  for (double& reading : segment.inertial.reshaped()) reading += normal(random);
  const Calibration some = calibrate(without_sensor("imu"), {{"noisy", {segment}}});
  ASSERT_EQ(some.held_out.size(), 6U);
  EXPECT_EQ(some.held_out[0].precision_gain, 1.0);
  EXPECT_EQ(some.held_out[0].most_improved_parameter, "");
  EXPECT_NE(service::format_message(some.notes.back())
                .find("using this sensor would not make any estimate more precise"),
            std::string::npos);
}

std::string text_of_sensor(const HeldOutSensor& sensor) {
  return service::format_message(describe_held_out_sensor(sensor));
}

TEST(HeldOutSensors, AreDescribedInWords) {
  HeldOutSensor sensor{.name = "2", .rmse = 2e-3, .noise = 1e-3};
  EXPECT_NE(text_of_sensor(sensor).find(
                "RMSE of 2 mrad (noise of the sensor: 1 mrad); using this sensor would not"),
            std::string::npos)
      << text_of_sensor(sensor);
  sensor.mean = 1.9e-3;
  EXPECT_NE(text_of_sensor(sensor).find("0.624 mrad without a constant offset of 1.9 mrad"),
            std::string::npos)
      << text_of_sensor(sensor);
  sensor.most_improved_parameter = "2.b";
  sensor.precision_gain = 3.0;
  EXPECT_NE(text_of_sensor(sensor).find("3 times smaller (2.b)"), std::string::npos);
  sensor.precision_gain = std::numeric_limits<double>::infinity();
  EXPECT_NE(text_of_sensor(sensor).find("2.b is not identifiable"), std::string::npos);
  sensor.kind = JointKind::kPrismatic;
  EXPECT_NE(text_of_sensor(sensor).find("RMSE of 2 mm"), std::string::npos);
  sensor = {.name = "imu.accel_x", .unit = "m/s²", .rmse = 0.03, .noise = 0.02};
  EXPECT_EQ(text_of_sensor(sensor),
            "\"imu.accel_x\" was held out: its readings are predicted with an RMSE of 0.03 m/s² "
            "(noise of the sensor: 0.02 m/s²); using this sensor would not make any estimate more "
            "precise");
}

}  // namespace
}  // namespace estimator
