#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "estimator/calibrate/calibration.hpp"
#include "estimator/calibrate/state_estimate.hpp"
#include "estimator/math/so3.hpp"
#include "estimator/model/placement.hpp"
#include "tests/estimator/calibrate/reference_recording.hpp"
#include "tests/estimator/inertial_sensor.hpp"

namespace {

using estimator::Calibration;
using estimator::InertialQuantity;
using estimator::InertialSensor;
using estimator::Mechanism;
using estimator::Segment;
using test_support::ReferenceFuruta;

constexpr double kPeriod = 2e-3, kFine = 1e-4;  // [s]
constexpr int kFines = 20;                      // of a period
constexpr int kSamples = 2000, kFirst = 100;    // of the simulation; before the recording
constexpr double kAngleNoise = 1e-3, kRateNoise = 2e-3, kForceNoise = 0.02;
constexpr double kMountX = 0.12, kPointX = 0.04, kPointZ = -0.02, kRateBias = 0.03,
                 kForceBias = -0.2, kDelay = 6e-3;

ReferenceFuruta rig() {
  ReferenceFuruta rig;
  rig.b_1 = 2e-3;
  rig.b_2 = 2e-4;
  rig.K = 0.07;
  return rig;
}

/// With a sensor on the pendulum as it truly is.
Mechanism true_mechanism() {
  Mechanism mechanism = test_support::mechanism_of(rig());
  test_support::add_inertial_sensor(mechanism, "imu", 1,
                                    {{InertialQuantity::kPointX, kPointX},
                                     {InertialQuantity::kPointZ, kPointZ},
                                     {InertialQuantity::kMountX, kMountX},
                                     {InertialQuantity::kRateBiasY, kRateBias},
                                     {InertialQuantity::kForceBiasX, kForceBias}});
  return mechanism;
}

/// What the sensor reads from a place of a finely sampled motion on, by one-sided differences of
/// where it is: controls jump at samples.
Eigen::Matrix<double, 6, 1> reading(const Mechanism& mechanism, const Eigen::MatrixXd& motion,
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
      turns[0].transpose() * (acceleration - estimator::gravity_of(mechanism));
  result[1] += kRateBias;
  result[3] += kForceBias;
  return result;
}

double control(Eigen::Index sample) {
  const auto k = static_cast<double>(sample);
  return std::sin(0.02 * k) + 0.5 * std::sin(0.071 * k);
}

/// (θ1, θ2, ω1, ω2), finely.
const Eigen::MatrixXd& true_motion() {
  static const Eigen::MatrixXd motion = [] {
    Eigen::VectorXd fine(kSamples * kFines);
    for (Eigen::Index k = 0; k < kSamples; ++k) {
      fine.segment(k * kFines, kFines).setConstant(control(k));
    }
    return simulate(rig(), Eigen::Vector4d(0.1, 1.0, 0.0, 0.0), fine, kFine);
  }();
  return motion;
}

/// Encoders and the sensor, whose readings come `delay` late.
Segment recorded(double delay, unsigned seed = 7) {
  const Eigen::MatrixXd& motion = true_motion();
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const Mechanism mechanism = true_mechanism();
  const auto late = static_cast<Eigen::Index>(std::lround(delay / kFine));
  const Eigen::Index count = kSamples - kFirst;
  Segment segment;
  segment.period = kPeriod;
  segment.controls.resize(count, 1);
  segment.angles.resize(count, 2);
  segment.inertial.resize(count, InertialSensor::kAxes);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::Index at = (k + kFirst) * kFines;
    segment.controls(k, 0) = control(k + kFirst);
    for (int j = 0; j < 2; ++j) segment.angles(k, j) = motion(at, j) + kAngleNoise * normal(random);
    segment.inertial.row(k) = reading(mechanism, motion, at - late).transpose();
    for (int axis = 0; axis < InertialSensor::kAxes; ++axis) {
      segment.inertial(k, axis) += (axis < 3 ? kRateNoise : kForceNoise) * normal(random);
    }
  }
  return segment;
}

/// As if the pendulum's encoder were not there.
Segment without_second_encoder(Segment segment) {
  segment.withheld = segment.angles.col(1);
  segment.angles.conservativeResize(Eigen::NoChange, 1);
  return segment;
}

/// To be estimated, from starts that are off; without sensor constants where the sensor is known.
Mechanism to_fit(const std::vector<std::string>& sensor_constants) {
  Mechanism mechanism = true_mechanism();
  test_support::free_parameters(mechanism, {"B.J_yy", "1.b", "2.b", "1.K"}, 1.2);
  for (const std::string& name : sensor_constants) {
    estimator::Parameter& parameter =
        mechanism.parameters[static_cast<std::size_t>(mechanism.find_parameter(name))];
    parameter.value = 0.0;
    parameter.free = true;
  }
  return mechanism;
}

const estimator::ParameterEstimate& estimate_of(const Calibration& calibration,
                                                const std::string& name) {
  return *std::ranges::find(calibration.parameters, name, &estimator::ParameterEstimate::name);
}

void expect_found(const Calibration& calibration, const std::string& name, double truth) {
  const estimator::ParameterEstimate& found = estimate_of(calibration, name);
  EXPECT_GT(found.standard_deviation, 0.0) << name;
  EXPECT_NEAR(found.value, truth, 4.0 * found.standard_deviation) << name;
}

const std::vector<std::string> kConstants = {"imu.mount_x", "imu.p_x", "imu.p_z",
                                             "imu.gyro_bias_y", "imu.accel_bias_x"};

// The pendulum has no encoder: what it does is told by a sensor of unknown place, mounting and
// biases alone, and comes out as its encoder would have read it.
TEST(InertialCalibration, TellsOfAHingeWithoutEncoder) {
  Mechanism mechanism = to_fit(kConstants);
  mechanism.withheld = {"2"};
  const Calibration found =
      estimator::calibrate(mechanism, {{"imu", {without_second_encoder(recorded(0.0))}}});
  ASSERT_TRUE(found.converged());
  ASSERT_EQ(found.withheld.size(), 1u);
  EXPECT_LT(found.withheld.front().rmse, 1.1 * kAngleNoise);
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

// Readings that are late are not taken for friction: the delay itself comes out, in fractions of a
// sample; and the noise of every axis comes from the data.
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
    // Of 1900 readings a standard deviation is known to 1.6 %.
    EXPECT_NEAR(found.inertial[axis].noise, truth, 0.08 * truth) << found.inertial[axis].name;
  }
}

// A sensor can only add to what encoders tell.
TEST(InertialCalibration, NarrowsWhatEncodersTell) {
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

// Angles, rates and accelerations of both joints, that without encoder as well: their errors are as
// large as their deviations say, neither larger nor smaller.
TEST(StateEstimate, DeviationsAreThoseOfTheErrors) {
  Mechanism mechanism = true_mechanism();
  mechanism.withheld = {"2"};
  const Eigen::MatrixXd& motion = true_motion();
  constexpr int kSeeds = 12;
  Eigen::Matrix<double, 3, 2> squares = Eigen::Matrix<double, 3, 2>::Zero();
  double count = 0.0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const Segment segment = without_second_encoder(recorded(0.0, seed));
    const auto estimates =
        estimator::estimate_states(mechanism, mechanism, {{"imu", {segment}}}, {}, {});
    ASSERT_EQ(estimates.size(), 1u);
    const estimator::StateEstimate& found = estimates.front();
    ASSERT_EQ(found.times.size(), static_cast<std::size_t>(segment.sample_count()));
    for (Eigen::Index k = 50; k < segment.sample_count(); k += 300) {
      const Eigen::Index at = (k + kFirst) * kFines;
      for (int j = 0; j < 2; ++j) {
        const double acceleration = (-3.0 * motion(at, 2 + j) + 4.0 * motion(at + 1, 2 + j) -
                                     motion(at + 2, 2 + j)) /
                                    (2.0 * kFine);
        const double errors[] = {found.angles(k, j) - motion(at, j),
                                 found.rates(k, j) - motion(at, 2 + j),
                                 found.accelerations(k, j) - acceleration};
        const double deviations[] = {found.angle_deviations(k, j), found.rate_deviations(k, j),
                                     found.acceleration_deviations(k, j)};
        for (int part = 0; part < 3; ++part) {
          EXPECT_LT(deviations[part], (part == 2 ? 30.0 : 1.0) * kAngleNoise);
          squares(part, j) += std::pow(errors[part] / deviations[part], 2);
        }
      }
      count += 1.0;
    }
  }
  // One motion follows from four numbers, so 12 recordings give each mean square some 12 to 48
  // degrees of freedom: 95 % of a root mean square lie within 1 ± 0.4 at 12.
  for (int part = 0; part < 3; ++part) {
    for (int j = 0; j < 2; ++j) {
      EXPECT_NEAR(std::sqrt(squares(part, j) / count), 1.0, 0.5) << "part " << part << ", joint " << j;
    }
  }
}

}  // namespace
