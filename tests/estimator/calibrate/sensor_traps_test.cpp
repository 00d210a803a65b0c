// Parameters that the sensors cannot identify must be reported by name, on simulated recordings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/estimator/calibrate/sensed_furuta.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/note_text.hpp"

namespace estimator {
namespace {

using namespace test_support;

/// Returns whether one note contains all of these texts.
bool is_told(const Calibration& found, const std::vector<std::string>& parts) {
  return std::ranges::any_of(found.notes, [&](const Message& note) {
    const std::string text = service::format_message(note);
    return std::ranges::all_of(
        parts, [&](const std::string& part) { return text.find(part) != std::string::npos; });
  });
}

std::string notes_of(const Calibration& found) { return text_of_notes(found.notes); }

/// The Furuta's arm, whose axis is fixed in space, with a sensor of its own.
Mechanism furuta_with_arm_sensor() {
  Mechanism mechanism = mechanism_of(viscous_furuta());
  add_inertial_sensor(mechanism, "imu", 0, {{SensorParameter::kPointX, 0.1}});
  return mechanism;
}

/// Its readings and those of the encoders, with noise.
Segment read_on_arm() {
  Segment segment = sensed_furuta(0.0, 3);
  const Eigen::MatrixXd& motion = furuta_motion();
  const Mechanism mechanism = furuta_with_arm_sensor();
  const double g = mechanism.parameter(GravityParameter::kGravity).value;
  const double radius = 0.1 + joint_point(mechanism, 0, true).x() * -1.0;  // from the axis
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
    const Eigen::Index at = (k + test_support::kFirst) * kFines;
    const double rate = motion(at, 2);
    const double acceleration = (motion(at + 1, 2) - rate) / test_support::kFine;
    segment.inertial.row(k) << 0.0, 0.0, rate, -radius * rate * rate, radius * acceleration, g;
    for (int axis = 0; axis < Sensor::kAxes; ++axis) {
      segment.inertial(k, axis) +=
          (axis < 3 ? test_support::kRateNoise : test_support::kForceNoise) * normal(random);
    }
  }
  return segment;
}

CalibrationOptions quick() {
  CalibrationOptions options;
  options.compare_parts = false;
  return options;
}

// The sensor's position along the arm's axis changes no reading.
TEST(SensorAmbiguities, ReportThePositionAlongAFixedRotationAxis) {
  Mechanism mechanism = furuta_with_arm_sensor();
  set_free(mechanism, {"1.b", "imu.p_x", "imu.p_y", "imu.p_z"});
  const Calibration found = calibrate(mechanism, {{"arm", {read_on_arm()}}}, quick());
  EXPECT_TRUE(is_told(found, {"imu.p_z", "axis", "fix"})) << notes_of(found);
  EXPECT_FALSE(is_told(found, {"imu.p_x", "rotation axis"})) << notes_of(found);
}

// A rotation of the whole rig about gravity changes no reading.
TEST(SensorAmbiguities, ReportTheHeadingAboutGravity) {
  Mechanism mechanism = furuta_with_arm_sensor();
  mechanism.held_out = {"1"};
  set_free(mechanism, {"1.b", "imu.gyro_bias_z"});
  Segment segment = read_on_arm();
  segment.held_out = segment.angles.col(0);
  segment.angles = segment.angles.col(1).eval();
  const Calibration found = calibrate(mechanism, {{"arm", {segment}}}, quick());
  EXPECT_TRUE(is_told(found, {"joint \"1\"", "about the vertical", "encoder"})) << notes_of(found);
  mechanism.held_out.clear();
  const Calibration with = calibrate(mechanism, {{"arm", {read_on_arm()}}}, quick());
  EXPECT_FALSE(is_told(with, {"about the vertical"})) << notes_of(with);
}

/// Two wheels with motors and encoders on vertical axes, side by side, and a gyroscope on the
/// second.
Mechanism two_wheels() {
  Mechanism mechanism;
  mechanism.bodies = {{.name = "A"}, {.name = "B"}};
  Eigen::Matrix3d upright;
  upright << 0, 0, 1, 1, 0, 0, 0, 1, 0;  // x of the joint is y of the world
  mechanism.joints = {{.name = "1",
                       .body_b = 0,
                       .frame_a = upright,
                       .frame_b = upright,
                       .motor = {.present = true}},
                      {.name = "2",
                       .body_b = 1,
                       .frame_a = upright,
                       .frame_b = upright,
                       .motor = {.present = true}}};
  make_parameters(mechanism);
  for (int j = 0; j < 2; ++j) {
    set_inertia(mechanism, j, {0.01, 0.01, 0.01});
    mechanism.joint_parameter(j, JointParameter::kViscous).value = 0.02;
    mechanism.joint_parameter(j, JointParameter::kMotorGain).value = 0.1;
  }
  add_inertial_sensor(mechanism, "gyro", 1, {});
  return mechanism;
}

/// Both wheels with the same command, by ω' = (K u − b ω)/J with held commands.
Segment driven_wheels(bool with_second_encoder) {
  constexpr int kWheelSamples = 1500;
  constexpr double kWheelPeriod = 2e-3, kDecay = 2.0, kGain = 10.0;  // b/J [1/s], K/J
  Segment segment;
  segment.period = kWheelPeriod;
  segment.angles.resize(kWheelSamples, with_second_encoder ? 2 : 1);
  segment.controls.resize(kWheelSamples, 2);
  segment.inertial.setConstant(kWheelSamples, Sensor::kAxes, std::nan(""));
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  double angle = 0.0, rate = 0.0;
  for (int k = 0; k < kWheelSamples; ++k) {
    const double u = std::sin(0.013 * k) + std::sin(0.031 * k);
    segment.controls.row(k).setConstant(u);
    for (Eigen::Index i = 0; i < segment.angles.cols(); ++i) {
      segment.angles(k, i) = angle + 1e-3 * normal(random);
    }
    segment.inertial(k, 1) = rate + 2e-3 * normal(random);
    const double limit = kGain * u / kDecay, decay = std::exp(-kDecay * kWheelPeriod);
    angle += limit * kWheelPeriod + (rate - limit) * (1.0 - decay) / kDecay;
    rate = limit + (rate - limit) * decay;
  }
  return segment;
}

// For a wheel without encoder, twice the gain has the effect of twice the scale.
TEST(SensorAmbiguities, ReportTheGyroscopeScaleWithoutAnEncoder) {
  for (const bool with_encoder : {false, true}) {
    Mechanism mechanism = two_wheels();
    mechanism.joints[1].measured = with_encoder;
    set_free(mechanism, {"1.b", "2.K", "2.b", "gyro.gyro_scale_y"});
    const Calibration found =
        calibrate(mechanism, {{"wheels", {driven_wheels(with_encoder)}}}, quick());
    EXPECT_EQ(is_told(found, {"gyro.gyro_scale_y", "encoder", "fix the scale"}), !with_encoder)
        << notes_of(found);
  }
}

// Only the sum of the delays of motor and sensor is identifiable without an encoder.
TEST(SensorAmbiguities, ReportThatOnlyDelayDifferencesAreIdentifiable) {
  for (const bool with_encoder : {false, true}) {
    Mechanism mechanism = two_wheels();
    mechanism.joints[1].measured = with_encoder;
    mechanism.joint_parameter(1, JointParameter::kInputDelay).value = 5e-3;
    mechanism.sensor_parameter(0, SensorParameter::kDelay).value = 5e-3;
    set_free(mechanism, {"1.b", "2.b", "2.delay", "gyro.delay"});
    const Calibration found =
        calibrate(mechanism, {{"wheels", {driven_wheels(with_encoder)}}}, quick());
    EXPECT_EQ(is_told(found, {"2.delay", "gyro.delay", "differences"}), !with_encoder)
        << notes_of(found);
  }
}

// An encoder with a fixed delay makes both delays identifiable, an encoder with a free delay does
// not.
TEST(SensorAmbiguities, ReportThatOnlyEncoderDelayDifferencesAreIdentifiable) {
  for (const bool is_fixed : {false, true}) {
    Mechanism mechanism = two_wheels();
    mechanism.held_out = {"gyro"};
    mechanism.joint_parameter(1, JointParameter::kInputDelay).value = 5e-3;
    set_free(mechanism, {"1.b", "2.b", "2.delay"});
    if (!is_fixed) set_free(mechanism, {"2.encoder_delay"});
    const Calibration found = calibrate(mechanism, {{"wheels", {driven_wheels(true)}}}, quick());
    EXPECT_EQ(is_told(found, {"2.delay, 2.encoder_delay", "differences"}), !is_fixed)
        << notes_of(found);
    EXPECT_FALSE(is_told(found, {"add an encoder"})) << notes_of(found);  // encoder 1's is fixed
  }
}

/// A pendulum with a sensor at its joint.
Mechanism pendulum_with_sensor() {
  Mechanism mechanism = pendulum_of({.b = 1e-3});
  add_inertial_sensor(mechanism, "imu", 0,
                      {{SensorParameter::kPointX, joint_point(mechanism, 0, true).x()}});
  return mechanism;
}

/// Readings of a swing from rest: x of the body points down when it hangs, z along the axis.
Segment read_swing(double angle) {
  constexpr int kSwingSamples = 1500;
  constexpr double kSwingPeriod = 2e-3;
  const ReferencePendulum rig{.b = 1e-3};
  const Eigen::MatrixXd motion =
      simulate(rig, Eigen::Vector2d(angle, 0.0), kSwingPeriod, kSwingSamples - 1);
  Segment segment;
  segment.period = kSwingPeriod;
  segment.angles = motion.col(0);
  segment.controls.resize(kSwingSamples, 0);
  segment.inertial.resize(kSwingSamples, Sensor::kAxes);
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (int k = 0; k < kSwingSamples; ++k) {
    segment.angles(k, 0) += 1e-4 * normal(random);
    segment.inertial.row(k) << 0.0, 0.0, motion(k, 1), -rig.g * std::cos(motion(k, 0)),
        rig.g * std::sin(motion(k, 0)), 0.0;
    for (int axis = 0; axis < Sensor::kAxes; ++axis) {
      segment.inertial(k, axis) += 2e-3 * normal(random);
    }
  }
  return segment;
}

// Without large rotations relative to gravity a sensor's bias acts like a tilt of its mounting.
TEST(SensorAmbiguities, ReportBiasAndMountingWithoutLargeRotations) {
  for (const double swing : {0.01, 1.0}) {
    Mechanism mechanism = pendulum_with_sensor();
    set_free(mechanism, {"1.b", "imu.accel_bias_y", "imu.mount_z"});
    const Calibration found = calibrate(mechanism, {{"swing", {read_swing(swing)}}}, quick());
    EXPECT_EQ(is_told(found, {"imu.accel_bias_y", "imu.mount_z", "gravity"}), swing < 0.1)
        << notes_of(found);
  }
}

}  // namespace
}  // namespace estimator
