#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "firmware_iface/sim/inertial_sensor.hpp"
#include "firmware_iface/sim/plants.hpp"

namespace {

using namespace firmware_iface::sim;

constexpr Vector3 kUp = {0.0, 1.0, 0.0};

/// Position of a sensor and its axes, computed by rotations alone, independently of the plants'
/// derivatives.
struct Pose {
  Vector3 at{};
  std::array<Vector3, 3> axes{};
};

Pose sensor_pose(std::array<Vector3, 3> body, Vector3 centre,
                 const InertialSensorSettings& sensor) {
  Pose pose{.at = centre};
  for (std::size_t k = 0; k < 3; ++k) {
    pose.at = sum(pose.at, scale_vector(sensor.point[k], body[k]));
    Vector3 unit{};
    unit[k] = 1.0;
    const Vector3 own = rotate_vector(unit, sensor.mounting);  // in the body's frame
    for (std::size_t j = 0; j < 3; ++j) {
      pose.axes[k] = sum(pose.axes[k], scale_vector(own[j], body[j]));
    }
  }
  return pose;
}

Pose furuta_pose(const FurutaParameters& p, const JointArray& q,
                 const InertialSensorSettings& sensor) {
  const Vector3 arm = rotate_vector({1.0, 0.0, 0.0}, scale_vector(q[0], kUp));
  if (sensor.joint == 0) {
    return sensor_pose({arm, cross(kUp, arm), kUp}, scale_vector(p.arm_center_distance, arm),
                       sensor);
  }
  const Vector3 rod = rotate_vector({0.0, -1.0, 0.0}, scale_vector(q[1], arm));
  return sensor_pose(
      {rod, arm, cross(rod, arm)},
      sum(scale_vector(p.arm_length, arm), scale_vector(p.pendulum_center_distance, rod)), sensor);
}

Pose pendulum_pose(const PendulumParameters& p, const JointArray& q,
                   const InertialSensorSettings& sensor) {
  const Vector3 joint = {0.0, 0.0, 1.0};
  const Vector3 rod = rotate_vector({0.0, -1.0, 0.0}, scale_vector(q[0], joint));
  return sensor_pose({rod, cross(joint, rod), joint}, scale_vector(p.center_distance, rod), sensor);
}

/// A sensor's reading from differences of its pose over time, along a motion of constant
/// accelerations.
template <typename PoseOf>
std::array<double, 6> by_differences(const PoseOf& pose_of, const JointState& state,
                                     const JointArray& acceleration, const Vector3& gravity) {
  const double h = 1e-4;  // truncation h², round-off 1e-16 / h²: 1e-7
  const auto pose_at = [&](double t) {
    JointArray q{};
    for (std::size_t k = 0; k < q.size(); ++k) {
      q[k] = state.angle_rad[k] + t * state.speed_rad_s[k] + 0.5 * t * t * acceleration[k];
    }
    return pose_of(q);
  };
  const Pose before = pose_at(-h), now = pose_at(0.0), after = pose_at(h);
  const Vector3 a = scale_vector(
      1.0 / (h * h), sum(subtract_vectors(after.at, now.at), subtract_vectors(before.at, now.at)));
  const Vector3 felt = subtract_vectors(a, gravity);
  std::array<double, 6> reading{};
  for (std::size_t k = 0; k < 3; ++k) {
    // ω · e_k from the rate at which e_{k+1} turns toward e_{k+2}.
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    reading[k] =
        dot(scale_vector(0.5 / h, subtract_vectors(after.axes[i], before.axes[i])), now.axes[j]);
    reading[k + 3] = dot(felt, now.axes[k]);
  }
  return reading;
}

InertialSensorSettings odd_sensor(int joint) {
  InertialSensorSettings sensor;
  sensor.joint = joint;
  sensor.point = {0.03, -0.05, 0.07};
  sensor.mounting = {0.4, -1.1, 0.6};
  return sensor;
}

void expect_reading(const std::array<double, 6>& expected, const std::array<double, 6>& actual) {
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(actual[k], expected[k], 2e-5) << k;
}

// Tests every term of a point's motion and the mounting: each body of each plant, all speeds and
// accelerations at once, gravity tilted.
TEST(InertialSensor, ReadsTheMotionOfItsPoint) {
  const JointState state{{0.7, 2.2}, {-3.0, 5.0}};
  const JointArray acceleration = {40.0, -25.0};
  FurutaParameters furuta;
  furuta.tilt = {0.05, 0.0, -0.03};
  const FurutaModel furuta_model(furuta);
  for (const int joint : {0, 1}) {
    SCOPED_TRACE(joint);
    const InertialSensorSettings sensor = odd_sensor(joint);
    expect_reading(
        by_differences([&](const JointArray& q) { return furuta_pose(furuta, q, sensor); }, state,
                       acceleration, tilted_gravity(furuta.gravity, furuta.tilt)),
        compute_exact_reading(sensor,
                              furuta_model.compute_body_motion(joint, state, acceleration)));
  }
  PendulumParameters pendulum;
  pendulum.tilt = {-0.02, 0.0, 0.04};
  const PendulumModel pendulum_model(pendulum);
  const InertialSensorSettings sensor = odd_sensor(0);
  expect_reading(
      by_differences([&](const JointArray& q) { return pendulum_pose(pendulum, q, sensor); }, state,
                     acceleration, tilted_gravity(pendulum.gravity, pendulum.tilt)),
      compute_exact_reading(sensor, pendulum_model.compute_body_motion(0, state, acceleration)));
}

// The reading of a free plant contains its acceleration, that of a held one does not.
TEST(InertialSensor, PlantAcceleratesUnlessHeld) {
  PendulumParameters p;
  p.gravity = 10.0;
  Plant plant(std::make_unique<PendulumModel>(p), {{std::numbers::pi / 2, 0.0}, {}});
  const InertialSensorSettings
      sensor;  // at the centre of mass: x along the rod, which is horizontal
  const double J = p.inertia + p.mass * p.center_distance * p.center_distance;
  const double fall = p.mass * p.center_distance * p.center_distance * 10.0 / J;
  std::array<double, 6> reading = compute_exact_reading(sensor, plant.compute_body_motion(0, 0.0));
  EXPECT_NEAR(reading[4], 10.0 - fall, 1e-12);
  plant.set_held_by_hand(true);
  reading = compute_exact_reading(sensor, plant.compute_body_motion(0, 0.0));
  EXPECT_NEAR(reading[4], 10.0, 1e-12);
  EXPECT_NEAR(reading[3], 0.0, 1e-12);
}

// Bias, rounding, both ends of the range, and the standard deviation of the noise.
TEST(InertialSensor, ReadingsAreCounts) {
  BodyMotion body{.axes = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                  .angular_velocity = {0.26, -9.0, 9.0},
                  .specific_force = {0.0, 9.8, -60.0}};
  InertialSensorSettings sensor;
  sensor.gyro_bias = {0.01, 0.0, 0.0};
  sensor.accel_bias = {0.0, 0.0, 1.0};
  sensor.gyro_counts = 10.0;
  sensor.accel_counts = 1000.0;
  sensor.gyro_range = 5.05;
  std::mt19937_64 random(1);
  const auto counts = read(sensor, body, random);
  const std::array<std::int16_t, 6> expected = {3, -50, 50, 0, 9800, -32767};
  EXPECT_EQ(counts, expected);

  sensor.gyro_noise = 2.0;
  sensor.gyro_range = 0.0;
  double squares = 0.0;
  constexpr int kReadings = 20'000;
  for (int k = 0; k < kReadings; ++k) {
    const double error = read(sensor, body, random)[0] / 10.0 - 0.27;
    squares += error * error;
  }
  // The standard deviation of an estimate from this many readings is 0.5 %.
  EXPECT_NEAR(std::sqrt(squares / kReadings), 2.0, 0.04);
}

}  // namespace
