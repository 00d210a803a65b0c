#include "estimator/diagnostics/misfit/misfit_causes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "service/messages/message_text.hpp"
#include "tests/estimator/diagnostics/made_up_motion.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/mechanisms/varying_furuta.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kCauseNoise = 5e-4;   // [rad]
constexpr double kCausePeriod = 4e-3;  // [s]
constexpr double kCommand = 3.0;       // [V], largest

Eigen::VectorXd command() { return two_sines(1500, kCausePeriod); }

Recording recorded(const Eigen::VectorXd& u) {
  return record(viscous_furuta(), {0.2, 0.5, 0.0, 0.0}, u, kCausePeriod, kCauseNoise, 5);
}

Mechanism described() { return free_furuta(viscous_furuta(), 1.3); }

std::vector<Finding> explained(const Mechanism& mechanism, const Recording& recording) {
  return find_misfit_causes(calibrate(mechanism, {recording}), mechanism, {recording});
}

template <typename T>
T cause_argument(const Message& message, const std::string& name) {
  const Argument::Value* const value = message.find(name);
  return value == nullptr ? T() : std::get<T>(*value);
}

Message first_cause(const Finding& finding) {
  const auto causes = cause_argument<std::vector<Message>>(finding.message, "causes");
  return causes.empty() ? Message() : causes.front();
}

void expect_first(const std::vector<Finding>& findings, MessageCode cause) {
  ASSERT_FALSE(findings.empty());
  SCOPED_TRACE(service::format_message(findings[0].message));
  EXPECT_EQ(first_cause(findings[0]).code, cause);
}

TEST(MisfitCauses, AreNotTestedAtNoiseLevel) {
  EXPECT_TRUE(explained(described(), recorded(command())).empty());
}

// A pendulum that slowly passes the upright again and again, with a clipped command. Over 1.5 s no
// wrong model predicts anything, so a trial may lead anywhere.
TEST(MisfitCauses, AreFoundInPredictableExcerpts) {
  const Eigen::VectorXd u = 6.0 * command();
  const double level = 0.4 * u.cwiseAbs().maxCoeff();
  Recording recording = record(viscous_furuta(), {0.0, 3.0, 0.0, 0.0},
                               u.cwiseMax(-level).cwiseMin(level), kCausePeriod, kCauseNoise, 5);
  recording.segments[0].controls = u;
  const std::vector<Finding> findings = explained(described(), recording);
  expect_first(findings, MessageCode::kClippedCommand);
  EXPECT_NEAR(findings[0].size, level, 0.005 * level);
  EXPECT_EQ(cause_argument<double>(findings[0].message, "window"), 0.75);
}

// Rows of the control shifted relative to those of the angles, both ways.
TEST(MisfitCauses, IncludeADelayedCommand) {
  const Eigen::VectorXd u = command();
  const Eigen::Index rows = u.size(), n = 2;
  Recording late = recorded(u), early = recorded(u);
  late.segments[0].controls.topRows(rows - n) = u.tail(rows - n);
  early.segments[0].controls.bottomRows(rows - n) = u.head(rows - n);
  const double shift = static_cast<double>(n) * kCausePeriod;
  const std::vector<Finding> of_late = explained(described(), late);
  expect_first(of_late, MessageCode::kLateCommand);
  EXPECT_EQ(of_late[0].channel, "1");
  EXPECT_NEAR(of_late[0].size, shift, 2e-4);
  const std::vector<Finding> of_early = explained(described(), early);
  expect_first(of_early, MessageCode::kEarlyCommand);
  EXPECT_NEAR(of_early[0].size, -shift, 2e-4);
}

// With known gravity and lengths, a wrong clock changes the speed of everything.
TEST(MisfitCauses, IncludeAFastOrSlowClock) {
  for (const double error : {0.02, -0.02}) {
    Recording recording = recorded(command());
    recording.segments[0].period *= 1.0 + error;
    const std::vector<Finding> findings = explained(described(), recording);
    expect_first(findings, MessageCode::kClockRate);
    EXPECT_NEAR(findings[0].size, error, 2e-3);
  }
}

TEST(MisfitCauses, IncludeAClippedCommand) {
  const double level = 0.6 * kCommand;
  Recording recording = recorded(command().cwiseMax(-level).cwiseMin(level));
  recording.segments[0].controls = command();
  const std::vector<Finding> findings = explained(described(), recording);
  expect_first(findings, MessageCode::kClippedCommand);
  EXPECT_NEAR(findings[0].size, level, 0.03 * level);
}

// A motor's gain fixed at a wrong value, far off or of wrong sign. A delay at the end of its search
// range is not reported.
TEST(MisfitCauses, IncludeAWrongMotorGain) {
  for (const double factor : {0.3, 1.6}) {
    Mechanism mechanism = described();
    Parameter& gain = mechanism.joint_parameter(0, JointParameter::kMotorGain);
    gain.free = false;
    gain.value = factor * viscous_furuta().K;
    const std::vector<Finding> findings = explained(mechanism, recorded(command()));
    expect_first(findings, MessageCode::kWrongGain);
    EXPECT_EQ(findings[0].channel, gain.name);
    EXPECT_NEAR(findings[0].size, viscous_furuta().K - gain.value, 0.03 * viscous_furuta().K);
    for (const Finding& finding : findings) {
      const std::string text = service::format_message(finding.message);
      EXPECT_EQ(text.find("± -"), std::string::npos) << text;
    }
  }
}

// Moments of inertia fixed at wrong values, as in a robot's file with wrong inertias. They explain
// the motion better than a clock error or another gain.
TEST(MisfitCauses, IncludeWrongInertias) {
  for (const double factor : {1.5, 0.6}) {
    Mechanism mechanism = described();
    Parameter& moment = mechanism.parameter(0, BodyParameter::kJzz);
    moment.free = mechanism.joint_parameter(0, JointParameter::kMotorGain).free = false;
    mechanism.joint_parameter(0, JointParameter::kMotorGain).value = viscous_furuta().K;
    moment.value = factor * mechanism_of(viscous_furuta()).parameter(0, BodyParameter::kJzz).value;
    const std::vector<Finding> findings = explained(mechanism, recorded(command()));
    expect_first(findings, MessageCode::kWrongInertia);
    EXPECT_EQ(findings[0].channel, "A");
    EXPECT_NEAR(findings[0].size, 1.0 / factor, 0.05 / factor);
  }
}

// The inertia, the mass, the distance and the clock explain the motion of a free pendulum equally.
TEST(MisfitCauses, ListAWrongInertiaBeforeEqualCauses) {
  const ReferencePendulum truth{.b = 2e-3};
  const Eigen::MatrixXd motion = test_support::simulate(truth, {1.5, 0.0}, kCausePeriod, 1500);
  const Recording recording{"run",
                            {segment_of(as_read(motion.col(0), 1e-4, 0.0, 3), 1.0 / kCausePeriod)}};
  const Mechanism mechanism = freed(pendulum_of({.J = 1.3 * truth.J, .b = truth.b}), {"1.b"});
  const std::vector<Finding> findings = explained(mechanism, recording);
  expect_first(findings, MessageCode::kWrongInertia);
  EXPECT_EQ(findings[0].channel, "P");
  EXPECT_NEAR(findings[0].size, 1.0 / 1.3, 0.01);
  const std::string text = service::format_message(findings[0].message);
  EXPECT_NE(text.find("an equally likely cause:"), std::string::npos) << text;
}

// A rig that is level but described as tilted about one of the axes, both ways.
TEST(MisfitCauses, IncludeATilt) {
  for (const GravityParameter axis : {GravityParameter::kTiltX, GravityParameter::kTiltZ}) {
    for (const double tilt : {0.02, -0.02}) {
      Mechanism mechanism = described();
      mechanism.parameter(axis).value = tilt;
      const std::vector<Finding> findings = explained(mechanism, recorded(command()));
      expect_first(findings, MessageCode::kTilt);
      const auto terms = cause_argument<std::vector<Message>>(first_cause(findings[0]), "terms");
      const auto own = std::ranges::find_if(terms, [&](const Message& term) {
        return cause_argument<std::string>(term, "parameter") == mechanism.parameter(axis).name;
      });
      ASSERT_NE(own, terms.end());
      EXPECT_NEAR(cause_argument<Quantity>(*own, "value").value, 0.0, 1e-3);
    }
  }
}

// A tilt of the table resembles wrong values of the rig description. Only the tilt is reported.
TEST(MisfitCauses, ReplaceContradictedValues) {
  Mechanism mechanism = described();
  mechanism.parameter(GravityParameter::kTiltX).value = 0.02;
  const Recording recording = recorded(command());
  const auto accuses_a_value = [](const Calibration& calibration) {
    return std::ranges::find(calibration.verdict.reasons, MessageCode::kContradictedValue,
                             &Message::code) != calibration.verdict.reasons.end();
  };
  ASSERT_TRUE(accuses_a_value(calibrate(mechanism, {recording})));
  const Calibration diagnosed = calibrate_with_diagnostics(mechanism, {recording}, {}).calibration;
  EXPECT_FALSE(accuses_a_value(diagnosed));
  EXPECT_TRUE(diagnosed.contradictions.empty());
  EXPECT_EQ(std::ranges::count(diagnosed.verdict.reasons, MessageCode::kTilt, &Message::code), 1)
      << service::format_verdict(diagnosed.verdict);
  EXPECT_EQ(std::ranges::count(diagnosed.notes, MessageCode::kContradiction, &Message::code), 0);
  // A wrong length stays accused.
  mechanism = described();
  mechanism.joint_parameter(1, JointParameter::kPointAx).value *= 1.05;
  EXPECT_TRUE(accuses_a_value(calibrate_with_diagnostics(mechanism, {recording}, {}).calibration));
}

// Readings of a disc that is off centre, or tilted: errors once or twice per turn. The pendulum
// swings by more than half a turn, so that no other value of a parameter has the same effect.
TEST(MisfitCauses, IncludeAnEccentricDisc) {
  const ReferencePendulum truth{.b = 2e-3};
  const Eigen::MatrixXd motion = test_support::simulate(truth, {2.6, 0.0}, kCausePeriod, 1500);
  for (const int per_turn : {1, 2}) {
    constexpr double kSize = 0.01, kPhase = 0.7;
    Eigen::VectorXd angles = motion.col(0);
    for (double& angle : angles) angle += kSize * std::sin(per_turn * angle + kPhase);
    const Recording recording{"run",
                              {segment_of(as_read(angles, 1e-4, 0.0, 3), 1.0 / kCausePeriod)}};
    const std::vector<Finding> findings =
        explained(freed(pendulum_of(truth), {"P.J_zz", "1.b"}), recording);
    expect_first(findings, MessageCode::kEccentricDiscs);
    ASSERT_FALSE(findings.empty());
    EXPECT_NEAR(findings[0].size, kSize, 0.05 * kSize);
    const auto terms = cause_argument<std::vector<Message>>(first_cause(findings[0]), "terms");
    ASSERT_EQ(terms.size(), 1U);
    EXPECT_EQ(cause_argument<bool>(terms[0], "is_twice"), per_turn == 2);
  }
}

// A distance between two joints, fixed at a wrong value, too long or too short. It is 2.a_x
// − 1.b_x; the free inertia of the arm compensates for its centre of mass, so that either is found.
TEST(MisfitCauses, IncludeAWrongJointDistance) {
  for (const double factor : {1.05, 0.95}) {
    Mechanism mechanism = described();
    Parameter& distance = mechanism.joint_parameter(1, JointParameter::kPointAx);
    const double truth = distance.value;
    distance.value *= factor;
    const std::vector<Finding> findings = explained(mechanism, recorded(command()));
    expect_first(findings, MessageCode::kWrongLength);
    ASSERT_FALSE(findings.empty());
    EXPECT_TRUE(findings[0].channel == "2.a_x" || findings[0].channel == "1.b_x");
    const double change = findings[0].channel == "2.a_x" ? findings[0].size : -findings[0].size;
    EXPECT_NEAR(change, truth - distance.value, 0.1 * std::abs(truth - distance.value));
  }
}

// A pendulum's joint is described so far from its centre of mass that no inertia is left. Instead
// of a clock error, the largest possible distance, I / (m l), is reported.
TEST(MisfitCauses, IncludeADistanceThatRequiresNegativeInertia) {
  const ReferencePendulum truth{.b = 2e-3};
  Eigen::MatrixXd motion = test_support::simulate(truth, {1.5, 0.0}, kCausePeriod, 1500);
  const Recording recording{"run",
                            {segment_of(as_read(motion.col(0), 1e-4, 0.0, 3), 1.0 / kCausePeriod)}};
  const double farthest = (truth.J + truth.m * truth.l * truth.l) / (truth.m * truth.l);
  Mechanism mechanism = freed(pendulum_of({.l = 1.2 * farthest, .J = 1e-3}), {"P.J_zz", "1.b"});
  mechanism.parameter(0, BodyParameter::kJzz).lower = 1e-9;
  const std::vector<Finding> findings = explained(mechanism, recording);
  expect_first(findings, MessageCode::kNoRoomForInertia);
  EXPECT_NEAR(std::abs(findings[0].size), 0.2 * farthest, 0.01 * farthest);
  for (const Finding& finding : findings) {
    EXPECT_NE(first_cause(finding).code, MessageCode::kClockRate);
  }
}

// Dry friction that the description sets to zero, and its joint.
TEST(MisfitCauses, IncludeMissingFriction) {
  ReferenceFuruta dry = viscous_furuta();
  dry.tau_c1 = 0.02;
  dry.smoothing_speed = 1e-3;
  const Recording recording =
      record(dry, {0.2, 0.5, 0.0, 0.0}, command(), kCausePeriod, kCauseNoise, 5);
  const std::vector<Finding> findings = explained(described(), recording);
  expect_first(findings, MessageCode::kMissingFriction);
  const auto terms = cause_argument<std::vector<Message>>(first_cause(findings[0]), "terms");
  const auto value_of = [](const Message& term) {
    return cause_argument<Quantity>(term, "value").value;
  };
  const auto friction = std::ranges::find(terms, "1.tau_c", [](const Message& term) {
    return cause_argument<std::string>(term, "parameter");
  });
  ASSERT_NE(friction, terms.end());
  EXPECT_NEAR(value_of(*friction), 0.02, 0.0005);
  for (const Message& term : terms) EXPECT_GT(value_of(term), 0.0);
}

/// Checks that the first cause is a term that the rig file lacks, with this value.
void expect_missing_term(const VaryingFuruta& truth, MessageCode cause, double size,
                         double relative_tolerance) {
  const std::vector<Finding> findings = explained(
      described(), record(truth, {0.2, 0.5, 0.0, 0.0}, command(), kCausePeriod, kCauseNoise, 5));
  expect_first(findings, cause);
  ASSERT_FALSE(findings.empty());
  EXPECT_NEAR(findings[0].size, size, relative_tolerance * std::abs(size));
}

// The order of cogging is found, also one that does not divide a full turn evenly.
TEST(MisfitCauses, IncludeACoggingTorque) {
  for (const int order : {7, 24}) {
    const VaryingFuruta truth{.rig = viscous_furuta(),
                              .cogging_sine = 0.02,
                              .cogging_cosine = -0.015,
                              .cogging_order = order};
    expect_missing_term(truth, MessageCode::kCogging, 0.025, 0.05);
    const std::vector<Finding> findings = explained(
        described(), record(truth, {0.2, 0.5, 0.0, 0.0}, command(), kCausePeriod, kCauseNoise, 5));
    const auto terms = cause_argument<std::vector<Message>>(first_cause(findings[0]), "terms");
    ASSERT_EQ(terms.size(), 1U);
    EXPECT_EQ(cause_argument<int>(terms[0], "order"), order);
    EXPECT_NEAR(cause_argument<double>(terms[0], "sine"), 0.02, 1e-3);
  }
}

TEST(MisfitCauses, IncludeAGainThatDrifts) {
  expect_missing_term({.rig = viscous_furuta(), .gain_drift = -0.03}, MessageCode::kGainDrift,
                      -0.03, 0.05);
}

TEST(MisfitCauses, IncludeAGainThatSagsUnderLoad) {
  expect_missing_term({.rig = viscous_furuta(), .gain_sag = 0.06}, MessageCode::kGainSag, 0.06,
                      0.05);
}

// Friction that falls by half while the rig warms up.
TEST(MisfitCauses, IncludeAFrictionThatDrifts) {
  ReferenceFuruta rig = viscous_furuta();
  rig.b_1 *= 5.0;
  const std::vector<Finding> findings =
      explained(described(), record(VaryingFuruta{.rig = rig, .friction_drift = -0.08},
                                    {0.2, 0.5, 0.0, 0.0}, command(), kCausePeriod, kCauseNoise, 5));
  expect_first(findings, MessageCode::kFrictionDrift);
  const auto terms = cause_argument<std::vector<Message>>(first_cause(findings[0]), "terms");
  ASSERT_FALSE(terms.empty());
  EXPECT_EQ(cause_argument<std::string>(terms[0], "parameter"), "1.friction_drift");
  EXPECT_NEAR(cause_argument<Quantity>(terms[0], "value").value, -0.08, 0.01);
}

TEST(MisfitCauses, IncludeAVibrationOfTheGround) {
  expect_missing_term({.rig = viscous_furuta(), .vibration_sine = 2.0, .frequency = 5.3},
                      MessageCode::kVibration, 5.3, 1e-3);
}

/// Strong motion for the first third, then pulled in alternating directions with half of the static
/// friction.
Eigen::VectorXd busy_then_pulling(double held) {
  Eigen::VectorXd u = command();
  const Eigen::Index pulls = 2 * u.size() / 3;
  u.tail(pulls).setConstant(0.5 * held);
  u.tail(pulls / 2).setConstant(-0.5 * held);
  return u;
}

ReferenceFuruta dry_furuta(double smoothing_speed) {
  ReferenceFuruta dry = viscous_furuta();
  dry.tau_c1 = 0.05;
  dry.smoothing_speed = smoothing_speed;
  return dry;
}

std::vector<Finding> explained_as_holding(const ReferenceFuruta& truth) {
  Mechanism mechanism = described();
  free_parameters(mechanism, {"1.tau_c"}, 1.0);
  mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = 0.03;
  return explained(mechanism,
                   record(truth, {0.2, 0.5, 0.0, 0.0}, busy_then_pulling(truth.tau_c1 / truth.K),
                          kCausePeriod, kCauseNoise, 5));
}

// A joint that is described as sticking but creeps under load.
TEST(MisfitCauses, IncludeCreepingFriction) {
  const std::vector<Finding> findings = explained_as_holding(dry_furuta(0.01));
  expect_first(findings, MessageCode::kCreep);
  // Joint "2" has no dry friction.
  const auto joints = cause_argument<std::vector<Message>>(first_cause(findings[0]), "joints");
  ASSERT_EQ(joints.size(), 1U);
  EXPECT_EQ(service::format_message(joints[0]), "\"1\" at about 0.01 rad/s");
}

TEST(MisfitCauses, ExcludeCreepIfFrictionSticks) {
  EXPECT_TRUE(explained_as_holding(dry_furuta(1e-5)).empty());
}

// For a joint that is described as creeping, other causes are found as usual.
TEST(MisfitCauses, AreFoundForCreepingJoints) {
  Recording recording =
      record(dry_furuta(0.01), {0.2, 0.5, 0.0, 0.0}, command(), kCausePeriod, kCauseNoise, 5);
  recording.segments[0].period *= 1.02;
  Mechanism mechanism = described();
  free_parameters(mechanism, {"1.tau_c"}, 1.0);
  mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = 0.03;
  mechanism.joints[0].transition_speed = 0.01;
  const std::vector<Finding> findings = explained(mechanism, recording);
  ASSERT_FALSE(findings.empty());
  EXPECT_NE(
      service::format_message(findings[0].message).find("the clock of the time stamps is 1.9"),
      std::string::npos);
}

TEST(MisfitCauses, IgnoreSpookSimulators) {
  Calibration shadow;
  shadow.kind = EstimateKind::kShadow;
  EXPECT_TRUE(find_misfit_causes(shadow, described(), {recorded(command())}).empty());
}

}  // namespace
}  // namespace estimator
