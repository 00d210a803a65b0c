#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "tests/estimator/calibrate/sensed_furuta.hpp"
#include "tests/estimator/dense_problem.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/refusal.hpp"

// Delayed encoders, and dependent delays and offsets.

namespace estimator {
namespace {

using namespace test_support;
using test_support::kFine;
using test_support::kPeriod;

Parameter& at(Mechanism& mechanism, const std::string& name) {
  return parameter_of(mechanism, name);
}

void tie(Mechanism& mechanism, const std::string& name, const std::string& to, double factor = 1.0,
         double constant = 0.0) {
  at(mechanism, name).free = false;
  mechanism.dependencies.push_back(
      {mechanism.find_parameter(name), constant, {{mechanism.find_parameter(to), factor}}});
  apply_dependencies(mechanism);
}

/// The independent simulation with a delay for each encoder, in whole multiples of kFine.
Segment read_late(double first, double second, unsigned seed) {
  const Eigen::MatrixXd& motion = furuta_motion();
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, kAngleNoise);
  Segment segment = sensed_furuta(0.0, seed);
  for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
    for (const auto& [joint, delay] : {std::pair{0, first}, std::pair{1, second}}) {
      const Eigen::Index now = (k + test_support::kFirst) * kFines;
      segment.angles(k, joint) = motion(now - std::lround(delay / kFine), joint) + normal(random);
    }
  }
  return segment;
}

ShootingProblem delayed_problem(const Mechanism& mechanism, const Segment& segment,
                                double interval) {
  const Eigen::MatrixXd states{{0.31, 0.32}, {1.02, 0.9}, {0.21, 0.5}, {0.1, -0.4}};
  Eigen::VectorXd inertial = Eigen::VectorXd::Constant(6 * mechanism.sensor_count(), 0.05);
  return ShootingProblem(
      mechanism, {segment}, {states}, {0.1}, {kPeriod, interval},
      {Eigen::Vector2d(1e-3, 2e-3), Eigen::Vector2d(0.3, 0.5), std::move(inertial)});
}

Segment short_piece() { return segment_rows(read_late(0.0, 0.0, 3), 0, 300); }

/// Two motors, encoders and a sensor on the pendulum, all delayed.
Mechanism all_late() {
  Mechanism mechanism = furuta_to_fit({"imu.accel_bias_x", "imu.delay"});
  mechanism.joints[1].motor.present = true;
  at(mechanism, "2.K").value = 0.01;
  at(mechanism, "1.delay").value = 1.3e-3;
  at(mechanism, "1.encoder_delay").value = 3.3e-3;
  at(mechanism, "2.encoder_delay").value = -2.7e-3;
  at(mechanism, "imu.delay").value = 4.4e-3;
  at(mechanism, "2.offset").value = 0.1;
  set_free(mechanism,
           {"1.delay", "2.delay", "1.encoder_delay", "2.encoder_delay", "1.offset", "2.offset"});
  return mechanism;
}

Segment two_commands() {
  Segment segment = short_piece();
  segment.controls.conservativeResize(Eigen::NoChange, 2);
  segment.controls.col(1) = segment.controls.col(0).reverse();
  return segment;
}

// Derivatives by each encoder's own delay and offset, in several intervals and in one.
TEST(EncoderDelay, DerivativesMatchDifferences) {
  for (const double interval : {0.2, std::numeric_limits<double>::infinity()}) {
    expect_derivatives(delayed_problem(all_late(), two_commands(), interval));
  }
}

// Delays and offsets may depend on a delay of the same kind, of another kind, or a motion
// parameter, with factors.
TEST(EncoderDelay, DerivativesIncludeDependentParameters) {
  Mechanism mechanism = all_late();
  tie(mechanism, "2.delay", "1.delay", 0.5, 1.1e-3);
  tie(mechanism, "2.encoder_delay", "1.encoder_delay", -0.5);
  tie(mechanism, "1.offset", "2.offset", -2.0);
  for (const double interval : {0.2, std::numeric_limits<double>::infinity()}) {
    expect_derivatives(delayed_problem(mechanism, two_commands(), interval));
  }
  Mechanism others = all_late();
  tie(others, "1.encoder_delay", "1.delay");
  tie(others, "2.encoder_delay", "2.b", 10.0);
  tie(others, "B.J_zz", "2.offset", 1e-2);
  expect_derivatives(delayed_problem(others, two_commands(), 0.2));
}

// An inertial sensor's delay depends on an encoder's or a command's, or both depend on it.
TEST(EncoderDelay, DerivativesIncludeDependentDelaysOfInertialSensors) {
  Mechanism of_encoder = all_late();
  tie(of_encoder, "imu.delay", "1.encoder_delay", 0.5, 2.1e-3);
  Mechanism of_command = all_late();
  tie(of_command, "imu.delay", "1.delay", 2.0, 1.7e-3);
  Mechanism of_sensor = all_late();
  tie(of_sensor, "2.encoder_delay", "imu.delay", -0.5);
  tie(of_sensor, "1.delay", "imu.delay", 0.25, 0.3e-3);
  for (const Mechanism& mechanism : {of_encoder, of_command, of_sensor}) {
    expect_derivatives(delayed_problem(mechanism, two_commands(), 0.2));
  }
}

// If a command's delay is not a whole number of samples, a linear ramp replaces it within a step. A
// delayed accelerometer's reading and a motor's current follow this ramp.
TEST(EncoderDelay, ReadingsFollowTheCommandRamp) {
  Mechanism mechanism = furuta_to_fit({"imu.delay"});
  at(mechanism, "1.delay").value = 1.3e-3;  // fixed
  at(mechanism, "imu.delay").value = 4.4e-3;
  expect_derivatives(delayed_problem(mechanism, short_piece(), 0.2));
}

// An offset of an encoder without a delay uses another code path.
TEST(EncoderDelay, OffsetDerivativesIncludeDependentParametersWithoutADelay) {
  Mechanism mechanism = furuta_to_fit({});
  set_free(mechanism, {"2.offset"});
  tie(mechanism, "1.offset", "2.offset", -2.0, 0.3);
  expect_derivatives(delayed_problem(mechanism, short_piece(), 0.2));
}

// With zero delay, a delayed reading equals the reading at a sample, although it is computed
// differently.
TEST(EncoderDelay, ZeroDelayChangesNothing) {
  const Mechanism held = furuta_to_fit({});
  Mechanism free = held;
  set_free(free, {"1.encoder_delay", "2.encoder_delay"});
  const Segment segment = short_piece();
  const ShootingProblem samples = delayed_problem(held, segment, 0.2);
  const ShootingProblem looks = delayed_problem(free, segment, 0.2);
  const Eigen::Index out = 25;  // of 2 ms; rows that a free delay may move out of the recording
  const Eigen::Index in = segment.angles.rows() - 2 * out;
  EXPECT_LT((samples.predicted_angles(0) - looks.predicted_angles(0))
                .middleRows(out, in)
                .cwiseAbs()
                .maxCoeff(),
            1e-13);
  EXPECT_EQ(samples.reading_count(0), segment.angles.rows());
  EXPECT_EQ(looks.reading_count(0), in);
}

// A delay fixed at zero adds no computation: encoders are evaluated at samples.
TEST(EncoderDelay, DelayFixedAtZeroAddsNoComputation) {
  Mechanism mechanism = furuta_to_fit({});
  const std::vector<Segment> segments = {short_piece()};
  const std::size_t sensed = find_read_sensor_axes(mechanism, segments).size();
  EXPECT_EQ(find_sampled_axes(mechanism, segments).size(), sensed);
  at(mechanism, "2.encoder_delay").value = 1e-3;
  EXPECT_EQ(find_sampled_axes(mechanism, segments).size(), sensed + 1);
  set_free(mechanism, {"1.encoder_delay"});
  EXPECT_EQ(find_sampled_axes(mechanism, segments).size(), sensed + 2);
}

void expect_delayed(const Calibration& calibration, const std::string& name, double truth) {
  expect_within(calibration, name, truth, 3.0);
}

// Two encoders with different delays and a command without delay. Other parameters are estimated
// correctly too.
TEST(EncoderDelay, IsEstimatedForTwoEncoders) {
  Mechanism mechanism = furuta_to_fit({});
  mechanism.sensors.clear();
  set_free(mechanism, {"1.encoder_delay", "2.encoder_delay"});
  Segment segment = read_late(6.3e-3, 1.2e-3, 11);
  segment.inertial.resize(0, 0);
  const Calibration found = calibrate(mechanism, {{"late", {segment}}});
  ASSERT_TRUE(found.converged());
  expect_delayed(found, "1.encoder_delay", 6.3e-3);
  expect_delayed(found, "2.encoder_delay", 1.2e-3);
  EXPECT_LT(estimate_of(found, "2.encoder_delay").standard_deviation, 2e-4);
  expect_delayed(found, "B.J_yy", viscous_furuta().J_Byy);
  expect_delayed(found, "1.K", viscous_furuta().K);
  expect_delayed(found, "2.b", viscous_furuta().b_2);
}

// Known delays are compensated.
TEST(EncoderDelay, IsCompensatedIfFixed) {
  const std::vector<Recording> recordings = {{"late", {read_late(6.3e-3, 1.2e-3, 12)}}};
  Mechanism mechanism = furuta_to_fit({});
  const double truth = viscous_furuta().b_2;
  at(mechanism, "1.encoder_delay").value = 6.3e-3;
  at(mechanism, "2.encoder_delay").value = 1.2e-3;
  expect_delayed(calibrate(mechanism, recordings), "2.b", truth);
}

// Dependencies reduce standard deviations and never increase them.
TEST(EncoderDelay, EqualDelaysReduceStandardDeviations) {
  const std::vector<Recording> recordings = {{"late", {read_late(5e-3, 5e-3, 13)}}};
  Mechanism mechanism = furuta_to_fit({});
  at(mechanism, "imu.delay").value = 0.0;
  set_free(mechanism, {"1.encoder_delay", "2.encoder_delay", "1.offset", "2.offset"});
  const Calibration apart = calibrate(mechanism, recordings);
  tie(mechanism, "2.encoder_delay", "1.encoder_delay");
  tie(mechanism, "2.offset", "1.offset");
  const Calibration tied = calibrate(mechanism, recordings);
  ASSERT_TRUE(apart.converged() && tied.converged());
  for (const ParameterEstimate& each : tied.parameters) {
    EXPECT_LT(each.standard_deviation, 1.02 * estimate_of(apart, each.name).standard_deviation)
        << each.name;  // noise levels are estimated again, to 1 %
  }
  EXPECT_LT(estimate_of(tied, "1.encoder_delay").standard_deviation,
            0.99 * estimate_of(apart, "1.encoder_delay").standard_deviation);
  expect_delayed(tied, "1.encoder_delay", 5e-3);
}

// SPOOK simulators have no encoder delay.
TEST(EncoderDelay, IsRejectedForShadowParameters) {
  Mechanism mechanism = mechanism_of(viscous_furuta());
  free_parameters(mechanism, {"B.J_yy"}, 1.2);
  at(mechanism, "2.encoder_delay").value = 1e-3;
  Segment segment = short_piece();
  segment.inertial.resize(0, 0);
  CalibrationOptions options;
  options.kind = EstimateKind::kShadow;
  expect_parts(refusal<std::invalid_argument>([&] {
                 calibrate(mechanism, {{"late", {segment}}}, options);
               }),
               {"\"2\" has a delayed encoder"});
}

}  // namespace
}  // namespace estimator
