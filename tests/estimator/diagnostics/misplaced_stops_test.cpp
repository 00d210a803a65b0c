#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/diagnostics/description/description_errors.hpp"
#include "estimator/diagnostics/misfit/misfit_causes.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "estimator/diagnostics/signal/channels.hpp"
#include "service/messages/message_text.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/stopped_motion.hpp"

// End stops that the rig file gives at a wrong position.

namespace estimator {
namespace {

using namespace test_support;

using service::describe_finding;

constexpr double kStopNoise = 1e-3;   // [rad]
constexpr double kStopPeriod = 4e-3;  // [s]
constexpr double kStopRestitution = 0.6;

struct StoppedRig {
  Mechanism mechanism;
  std::vector<Recording> recordings;
};

std::vector<Recording> record_stopped(StoppedMotion motion, const Eigen::Vector2d& q,
                                      const Eigen::Vector2d& v, int joints) {
  motion.q = q;
  motion.v = v;
  const Eigen::MatrixXd angles = motion.sample(kStopPeriod, 1000).leftCols(joints);
  return {{"run", {undriven(with_noise(angles, kStopNoise, 3), kStopPeriod)}}};
}

/// A pendulum that swings against an upper stop at 1 rad.
StoppedRig pendulum_at_stop() {
  constexpr double kInertia = 3.96e-3, kMass = 0.428, kDistance = 0.092, kViscous = 3e-4;
  StoppedMotion motion =
      stopped_pendulum(kInertia + kMass * kDistance * kDistance, kMass * kDistance, kViscous);
  motion.stops = {{0, -1.0, 1.0, kStopRestitution}};
  StoppedRig rig{make_pendulum(), record_stopped(motion, {-1.6, 0.0}, {0.0, 0.0}, 1)};
  place_stop(rig.mechanism, 0, -1.0, 1.0, kStopRestitution);
  free_parameters(rig.mechanism, {"P.J_zz", "1.b"}, 1.3);
  return rig;
}

/// A Furuta pendulum whose arm, which no gravity moves, is between stops at ±0.9 rad, or hits an
/// upper stop only.
StoppedRig arm_at_stops(bool has_lower) {
  FurutaShape shape;
  shape.arm_inertia = 3e-3 + 0.238 * 0.128 * 0.128;
  StoppedMotion motion = stopped_furuta(shape);
  motion.stops = {{0, -1.0, 0.9, kStopRestitution}};
  if (has_lower) motion.stops.push_back({0, 1.0, -0.9, kStopRestitution});
  StoppedRig rig{make_furuta(), record_stopped(motion, {0.0, 0.4}, {4.0, 0.0}, 2)};
  rig.mechanism.joints[0].motor.present = false;
  rig.mechanism.joint_parameter(0, JointParameter::kViscous).value = shape.viscous[0];
  rig.mechanism.joint_parameter(1, JointParameter::kViscous).value = shape.viscous[1];
  place_stop(rig.mechanism, 0, -1.0, 0.9, kStopRestitution);
  if (has_lower) place_stop(rig.mechanism, 0, 1.0, -0.9, kStopRestitution);
  free_parameters(rig.mechanism, {"A.J_zz", "B.J_yy", "1.b", "2.b"}, 1.3);
  return rig;
}

const std::vector<Message>& causes_of(const Finding& finding) {
  return std::get<std::vector<Message>>(*finding.message.find("causes"));
}

double cause_size(const Message& cause) { return std::get<Quantity>(*cause.find("size")).value; }

// A stop that is off by 5 % is the first cause, not a shifted zero of the encoder, and its position
// is found.
TEST(MisplacedStops, PrecedeShiftedZeros) {
  for (const StoppedRig& rig : {pendulum_at_stop(), arm_at_stops(true)}) {
    EXPECT_TRUE(examine_description(rig.mechanism, rig.recordings).findings.empty());
    for (const double factor : {1.05, 0.95}) {
      SCOPED_TRACE(rig.mechanism.joint_count() * factor);
      Mechanism described = rig.mechanism;
      Parameter& stop = described.joint_parameter(0, JointParameter::kStopUpper);
      const double truth = stop.value;
      stop.value *= factor;
      const std::vector<Finding> findings = examine_description(described, rig.recordings).findings;
      ASSERT_EQ(findings.size(), 1U);
      EXPECT_EQ(describe_finding(findings[0]).kind, "misplaced-stop")
          << describe_finding(findings[0]).what;
      EXPECT_EQ(causes_of(findings[0]).size(), 1U) << describe_finding(findings[0]).what;
      EXPECT_NEAR(findings[0].size, truth, 0.1 * std::abs(truth - stop.value));
    }
  }
}

// Without gravity, and with one stop, a shifted zero has the same effect: both are reported, the
// stop first, each with its size.
TEST(MisplacedStops, AreReportedBesideEquivalentZeros) {
  StoppedRig rig = arm_at_stops(false);
  rig.mechanism.joint_parameter(0, JointParameter::kStopUpper).value = 0.945;
  const std::vector<Finding> findings = examine_description(rig.mechanism, rig.recordings).findings;
  ASSERT_EQ(findings.size(), 1U);
  const std::vector<Message>& causes = causes_of(findings[0]);
  ASSERT_EQ(causes.size(), 2U) << describe_finding(findings[0]).what;
  EXPECT_EQ(causes[0].code, MessageCode::kMisplacedStop);
  EXPECT_NEAR(cause_size(causes[0]), 0.9, 5e-3);
  EXPECT_EQ(causes[1].code, MessageCode::kShiftedZero);
  EXPECT_NEAR(cause_size(causes[1]), 0.045, 5e-3);
}

// An error of a stop that is too small to make the description fail is found in the residuals.
TEST(MisplacedStops, AreFoundInResiduals) {
  StoppedRig rig = pendulum_at_stop();
  rig.mechanism.joint_parameter(0, JointParameter::kStopUpper).value = 1.01;
  const std::vector<Finding> findings =
      find_misfit_causes(calibrate(rig.mechanism, rig.recordings), rig.mechanism, rig.recordings);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(causes_of(findings[0]).front().code, MessageCode::kMisplacedStop)
      << describe_finding(findings[0]).what;
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_NEAR(cause_size(causes_of(findings[0]).front()), 1.0, 1e-3);
}

constexpr double kStopCount = 2.0 * M_PI / 4096.0;  // [rad]
constexpr double kPressingTorque = 0.05;            // [N·m]

/// A Furuta pendulum whose motor moves the arm slowly against an upper stop at 0.5 rad and presses
/// it there. The described stop is free, and far beyond the readings.
StoppedRig arm_pressed_against_a_stop() {
  FurutaShape shape;
  shape.arm_inertia = 3e-3 + 0.238 * 0.128 * 0.128;
  shape.viscous = {0.1, 2e-4};
  StoppedMotion motion = stopped_furuta(shape);
  motion.force = [force = motion.force](const Eigen::Vector2d& q, const Eigen::Vector2d& v) {
    return Eigen::Vector2d(force(q, v) + Eigen::Vector2d(kPressingTorque, 0.0));
  };
  motion.stops = {{0, -1.0, 0.5, 0.15}};
  motion.q = {0.0, 0.3};
  Eigen::MatrixXd angles = motion.sample(kStopPeriod, 1000);
  for (double& angle : angles.reshaped()) angle = kStopCount * std::round(angle / kStopCount);
  Segment segment = undriven(angles, kStopPeriod);
  segment.controls = Eigen::MatrixXd::Ones(angles.rows(), 1);
  StoppedRig rig{make_furuta(), {{"run", {segment}}}};
  rig.mechanism.joint_parameter(0, JointParameter::kMotorGain).value = kPressingTorque;
  rig.mechanism.joint_parameter(0, JointParameter::kViscous).value = shape.viscous[0];
  rig.mechanism.joint_parameter(1, JointParameter::kViscous).value = shape.viscous[1];
  place_stop(rig.mechanism, 0, -1.0, 1.3, 0.15);
  free_parameters(rig.mechanism, {"A.J_zz", "B.J_yy", "1.b", "2.b"}, 1.3);
  parameter_of(rig.mechanism, "1.stop_upper").free = true;
  return rig;
}

// One slow impact far from the described position does not move the start of a free stop, as dry
// friction stops a joint in the same way. If the model is not accepted, the stop is tried there.
TEST(MisplacedStops, StartWhereAJointRestsIfTheModelIsNotAccepted) {
  const StoppedRig rig = arm_pressed_against_a_stop();
  SignalExamination stops;
  find_initial_stops(rig.mechanism, {kStopCount, kStopCount}, rig.recordings, stops);
  ASSERT_TRUE(stops.stop_starts.empty());
  ASSERT_NE(calibrate(rig.mechanism, rig.recordings).verdict.kind, VerdictKind::kAccepted);
  const DiagnosedCalibration found = calibrate_with_diagnostics(rig.mechanism, rig.recordings, {});
  EXPECT_EQ(found.calibration.verdict.kind, VerdictKind::kAccepted);
  EXPECT_NEAR(parameter_of(found.calibration.mechanism, "1.stop_upper").value, 0.5, kStopCount);
  EXPECT_EQ(std::ranges::count(found.calibration.findings, MessageCode::kMisplacedStop,
                               [](const Finding& each) { return each.message.code; }),
            1);
}

// The furthest reading must be a rest: at a turning point there is no stop. A fixed stop, and one
// that the readings reach, keep their values.
TEST(MisplacedStops, AreTriedAtRestsOnly) {
  const auto tried = [](const StoppedRig& rig) {
    SignalExamination stops;
    find_stops_where_joints_rest(rig.mechanism, {kStopCount, kStopCount}, rig.recordings, stops);
    return std::ssize(stops.stop_starts);
  };
  StoppedRig rig = arm_pressed_against_a_stop();
  EXPECT_EQ(tried(rig), 1);
  parameter_of(rig.mechanism, "1.stop_upper").value = 0.5;
  EXPECT_EQ(tried(rig), 0);
  parameter_of(rig.mechanism, "1.stop_upper").value = 1.3;
  parameter_of(rig.mechanism, "1.stop_upper").free = false;
  EXPECT_EQ(tried(rig), 0);
  parameter_of(rig.mechanism, "1.stop_upper").free = true;
  Eigen::MatrixXd& angles = rig.recordings[0].segments[0].angles;
  for (int k = 0; k < angles.rows(); ++k) {
    angles(k, 0) = kStopCount * std::round(0.5 * std::cos(8.0 * kStopPeriod * k) / kStopCount);
  }
  EXPECT_EQ(tried(rig), 0);
}

// A fit whose wrong start leads its simulation to a stop, far from all readings, would end there.
// Stops that no reading comes near therefore do not change a fit, and remain in its result.
TEST(DistantStops, DoNotChangeAFit) {
  StoppedRig rig = pendulum_at_stop();
  rig.mechanism.joints[0].stops = {};
  for (double& angle : rig.recordings[0].segments[0].angles.reshaped()) angle *= 0.2;
  const Calibration without = calibrate(rig.mechanism, rig.recordings);
  place_stop(rig.mechanism, 0, -1.0, 1.0, kStopRestitution);
  place_stop(rig.mechanism, 0, 1.0, -1.0, kStopRestitution);
  const Calibration with = calibrate(rig.mechanism, rig.recordings);
  EXPECT_TRUE(with.mechanism.joints[0].stops.lower && with.mechanism.joints[0].stops.upper);
  EXPECT_EQ(with.iterations, without.iterations);
  ASSERT_EQ(with.parameters.size(), without.parameters.size());
  for (std::size_t i = 0; i < with.parameters.size(); ++i) {
    EXPECT_EQ(with.parameters[i].value, without.parameters[i].value);
  }
  // Near the readings, a stop does change it.
  place_stop(rig.mechanism, 0, -1.0, 0.4, kStopRestitution);
  EXPECT_NE(calibrate(rig.mechanism, rig.recordings).iterations, without.iterations);
}

}  // namespace
}  // namespace estimator
