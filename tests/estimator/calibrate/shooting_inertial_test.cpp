#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimator/fit/physical/shooting/sensor_sample_instants.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "tests/estimator/dense_problem.hpp"
#include "tests/estimator/inertial_sensor.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/not_a_number.hpp"

namespace estimator {
namespace {

constexpr double kSensedPeriod = 2e-3;
using namespace test_support;

/// Two nodes a tenth of a second apart.
const Eigen::MatrixXd kSensedStarts{{0.31, 0.32}, {1.02, 0.9}, {0.21, 0.5}, {0.1, -0.4}};

Mechanism furuta_with_sensors() {
  ReferenceFuruta rig{.b_1 = 2e-3, .b_2 = 2e-4, .tau_c1 = 2e-3, .K = 0.07};
  Mechanism mechanism = mechanism_of(rig);
  add_inertial_sensor(mechanism, "arm", 0,
                      {{SensorParameter::kPointX, 0.05},
                       {SensorParameter::kMountZ, 0.2},
                       {SensorParameter::kDelay, 3.3e-3}});
  add_inertial_sensor(mechanism, "pole", 1,
                      {{SensorParameter::kPointY, -0.04}, {SensorParameter::kMountX, -0.4}});
  free_parameters(mechanism, {"A.J_zz", "B.J_yy", "1.b", "1.tau_c", "1.K", "gravity.tilt_x"}, 0.9);
  set_free(mechanism, {"arm.p_x", "arm.mount_z", "arm.gyro_bias_z", "arm.accel_bias_x",
                       "arm.accel_scale_y", "arm.delay", "pole.p_y", "pole.mount_y",
                       "pole.gyro_scale_y", "pole.gyro_bias_y", "pole.accel_bias_z"});
  return mechanism;
}

/// Encoders and both sensors. Their readings need not be right, only the sensors' own rates matter.
Segment read_by_all() {
  ReferenceFuruta rig{.K = 0.07};
  Eigen::VectorXd u(300);
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = std::sin(0.05 * static_cast<double>(k));
  Segment segment =
      record(rig, Eigen::Vector4d(0.3, 1.0, 0.2, 0.0), u, kSensedPeriod, 1e-3, 5).segments.front();
  segment.inertial.setConstant(segment.sample_count(), 2 * Sensor::kAxes, kNaN);
  for (int sample = 0; sample < segment.sample_count(); sample += 3) {
    for (int axis = 0; axis < Sensor::kAxes; ++axis) {
      segment.inertial(sample, axis) = 0.1 * axis;
    }
  }
  for (int sample = 1; sample < segment.sample_count(); sample += 2) {
    segment.inertial(sample, Sensor::kAxes + 1) = 0.3;
    segment.inertial(sample, Sensor::kAxes + 3) = -0.1;
    segment.inertial(sample, Sensor::kAxes + 5) = 9.0;
  }
  return segment;
}

ShootingProblem problem_over(double interval) {
  const Mechanism mechanism = furuta_with_sensors();
  return ShootingProblem(mechanism, {read_by_all()}, {kSensedStarts}, {0.1},
                         {kSensedPeriod, interval},
                         {Eigen::Vector2d(1e-3, 2e-3), Eigen::Vector2d(0.3, 0.5),
                          Eigen::VectorXd::Constant(2 * Sensor::kAxes, 0.05)});
}

// Derivatives by states, motion parameters, points, mountings, biases, scales and a delay, for
// sensors of different rates and delays, in several intervals.
TEST(ShootingInertial, DerivativesMatchDifferences) { expect_derivatives(problem_over(0.2)); }

// One long interval is split at checkpoints, and the spans are chained.
TEST(ShootingInertial, DerivativesOfLongIntervalsAreChained) {
  expect_derivatives(problem_over(std::numeric_limits<double>::infinity()));
}

/// With an instrument beyond the second joint, a delayed current sensor at the motor, and a
/// six-axis force/torque sensor at the first joint.
Mechanism furuta_with_load_sensors() {
  using Kind = Sensor::Kind;
  ReferenceFuruta rig{.b_1 = 2e-3, .b_2 = 2e-4, .tau_c1 = 2e-3, .K = 0.07, .k_e = 0.05};
  Mechanism mechanism = mechanism_of(rig);
  add_sensor(mechanism, {.name = "strain", .body = 1, .kind = Kind::kJointTorque, .joint = 1},
             {{SensorParameter::kRateScaleX, 1.2}});
  add_sensor(mechanism, {.name = "current", .body = 0, .kind = Kind::kMotorTorque, .joint = 0},
             {{SensorParameter::kDelay, 3.3e-3}});
  add_sensor(mechanism, {.name = "wrist", .body = 0, .kind = Kind::kForceTorque, .joint = 0},
             {{SensorParameter::kMountY, 0.2}, {SensorParameter::kPointX, 0.01}});
  free_parameters(mechanism, {"A.J_zz", "B.J_yy", "B.m", "1.b", "1.tau_c", "1.K", "1.k_e"}, 0.9);
  set_free(mechanism, {"1.delay", "strain.scale", "strain.bias", "current.scale", "current.bias",
                       "wrist.p_x", "wrist.mount_y", "wrist.moment_bias_x", "wrist.moment_scale_z",
                       "wrist.force_bias_y", "wrist.force_scale_x", "A.m"});
  mechanism.joint_parameter(0, JointParameter::kInputDelay).value = 1.3e-3;
  return mechanism;
}

// The same for torques and forces: by masses without effect on the motion, and by the control's
// delay, which the motor's current follows.
TEST(ShootingInertial, DerivativesOfLoadsMatchDifferences) {
  Segment segment = read_by_all();
  Eigen::MatrixXd readings =
      Eigen::MatrixXd::Constant(segment.sample_count(), 3 * Sensor::kAxes, kNaN);
  for (int sample = 0; sample < segment.sample_count(); sample += 3) {
    readings(sample, 0) = 0.01;
    readings(sample, Sensor::kAxes) = -0.02;
    readings.row(sample).tail(Sensor::kAxes).setConstant(0.5);
  }
  segment.inertial = readings;

  ShootingProblem problem(furuta_with_load_sensors(), {segment}, {kSensedStarts}, {0.1},
                          {kSensedPeriod, 0.2},
                          {Eigen::Vector2d(1e-3, 2e-3), Eigen::Vector2d(0.3, 0.5),
                           Eigen::VectorXd::Constant(3 * Sensor::kAxes, 0.05)});
  ASSERT_EQ(problem.inertial_axes().size(), 8U);
  expect_derivatives(problem);
}

// The interval boundaries do not change any reading, if the states lie on one motion.
TEST(ShootingInertial, EveryReadingIsUsedOnce) {
  const ShootingProblem problem = problem_over(0.2);
  ASSERT_EQ(problem.inertial_axes().size(), 9u);
  for (std::size_t place = 0; place < problem.inertial_axes().size(); ++place) {
    const bool on_arm = problem.inertial_axes()[place] < Sensor::kAxes;
    // Of the arm's 100 readings, those of the first 50 ms may precede the start when the delay is
    // at its bound.
    EXPECT_EQ(problem.inertial_reading_count(static_cast<int>(place)), on_arm ? 91 : 150);
  }
}

}  // namespace
}  // namespace estimator
