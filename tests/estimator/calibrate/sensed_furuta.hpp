#pragma once

#include <Eigen/Core>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "estimator/math/so3.hpp"
#include "estimator/model/placement.hpp"
#include "tests/estimator/inertial_sensor.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

// A Furuta pendulum with two encoders and an inertial sensor on the pendulum, from a simulator in
// minimal coordinates.

namespace test_support {

using estimator::Mechanism;
using estimator::Segment;
using estimator::Sensor;
using estimator::SensorParameter;

inline constexpr double kPeriod = 2e-3, kFine = 1e-4;  // [s]
inline constexpr int kFines = 20;                      // of a period
inline constexpr int kSamples = 2000, kFirst = 100;    // of the simulation; before the recording
inline constexpr double kAngleNoise = 1e-3, kRateNoise = 2e-3, kForceNoise = 0.02;
inline constexpr double kMountX = 0.12, kPointX = 0.04, kPointZ = -0.02, kRateBias = 0.03,
                        kForceBias = -0.2, kDelay = 6e-3;

/// Returns the rig as a mechanism with an inertial sensor on the pendulum at its true pose.
inline Mechanism sensed_mechanism() {
  Mechanism mechanism = mechanism_of(viscous_furuta());
  add_inertial_sensor(mechanism, "imu", 1,
                      {{SensorParameter::kPointX, kPointX},
                       {SensorParameter::kPointZ, kPointZ},
                       {SensorParameter::kMountX, kMountX},
                       {SensorParameter::kRateBiasY, kRateBias},
                       {SensorParameter::kForceBiasX, kForceBias}});
  return mechanism;
}

/// Returns the sensor's reading at a row of a finely sampled motion, by one-sided differences of
/// the sensor's pose, because controls jump at samples.
inline Eigen::Matrix<double, 6, 1> inertial_reading(const Mechanism& mechanism,
                                                    const Eigen::MatrixXd& motion,
                                                    Eigen::Index at) {
  Eigen::Vector3d places[4];
  Eigen::Matrix3d turns[4];
  for (int i = 0; i < 4; ++i) {
    const estimator::Pose pose =
        estimator::place_bodies(mechanism, motion.row(at + i).head(2).transpose())[1];
    places[i] = pose.r + pose.e * Eigen::Vector3d(kPointX, 0.0, kPointZ);
    turns[i] = pose.e.toRotationMatrix() *
               estimator::exp_so3(Eigen::Vector3d(kMountX, 0.0, 0.0)).toRotationMatrix();
  }
  const Eigen::Vector3d acceleration =
      (2.0 * places[0] - 5.0 * places[1] + 4.0 * places[2] - places[3]) / (kFine * kFine);
  const Eigen::Matrix3d turn =
      turns[0].transpose() * (-3.0 * turns[0] + 4.0 * turns[1] - turns[2]) / (2.0 * kFine);
  Eigen::Matrix<double, 6, 1> result;
  result << turn(2, 1), turn(0, 2), turn(1, 0),
      turns[0].transpose() * (acceleration - estimator::gravity_vector(mechanism));
  result[1] += kRateBias;
  result[3] += kForceBias;
  return result;
}

inline double furuta_control(Eigen::Index sample) {
  const auto k = static_cast<double>(sample);
  return std::sin(0.02 * k) + 0.5 * std::sin(0.071 * k);
}

/// Returns the finely sampled motion, a row (θ1, θ2, ω1, ω2) per time.
inline const Eigen::MatrixXd& furuta_motion() {
  static const Eigen::MatrixXd motion = [] {
    Eigen::VectorXd fine(kSamples * kFines);
    for (Eigen::Index k = 0; k < kSamples; ++k) {
      fine.segment(k * kFines, kFines).setConstant(furuta_control(k));
    }
    return simulate(viscous_furuta(), Eigen::Vector4d(0.1, 1.0, 0.0, 0.0), fine, kFine);
  }();
  return motion;
}

/// Returns readings of the encoders, and of the inertial sensor with `delay` [s].
inline Segment sensed_furuta(double delay, unsigned seed) {
  const Eigen::MatrixXd& motion = furuta_motion();
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const Mechanism mechanism = sensed_mechanism();
  const auto late = static_cast<Eigen::Index>(std::lround(delay / kFine));
  const Eigen::Index count = kSamples - kFirst;
  Segment segment;
  segment.period = kPeriod;
  segment.controls.resize(count, 1);
  segment.angles.resize(count, 2);
  segment.inertial.resize(count, Sensor::kAxes);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::Index at = (k + kFirst) * kFines;
    segment.controls(k, 0) = furuta_control(k + kFirst);
    for (int j = 0; j < 2; ++j) segment.angles(k, j) = motion(at, j) + kAngleNoise * normal(random);
    segment.inertial.row(k) = inertial_reading(mechanism, motion, at - late).transpose();
    for (int axis = 0; axis < Sensor::kAxes; ++axis) {
      segment.inertial(k, axis) += (axis < 3 ? kRateNoise : kForceNoise) * normal(random);
    }
  }
  return segment;
}

/// Returns a segment in which the pendulum's encoder is held out.
inline Segment without_second_encoder(Segment segment) {
  segment.held_out = segment.angles.col(1);
  segment.angles.conservativeResize(Eigen::NoChange, 1);
  return segment;
}

/// Returns the mechanism to estimate, with wrong initial values. The named sensor constants are
/// free and start at 0.
inline Mechanism furuta_to_fit(const std::vector<std::string>& sensor_constants) {
  Mechanism mechanism = sensed_mechanism();
  free_parameters(mechanism, {"B.J_yy", "1.b", "2.b", "1.K"}, 1.2);
  set_free(mechanism, sensor_constants);
  for (const std::string& name : sensor_constants) parameter_of(mechanism, name).value = 0.0;
  return mechanism;
}

}  // namespace test_support
