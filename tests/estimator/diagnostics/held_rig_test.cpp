#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/diagnostics/signal/static_loads.hpp"
#include "service/messages/message_text.hpp"
#include "tests/estimator/body_encoder.hpp"
#include "tests/estimator/diagnostics/made_up_motion.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kHeldRate = 200.0;  // [Hz]
constexpr double kHeldQuantum = 2.0 * M_PI / 2000.0;
constexpr double kLargestTorque = 0.428 * 0.092 * 9.82;  // of gravity [N·m]
/// Of gravity, over the inertia about the joint [1/s²].
constexpr double kPendulumStiffness = kLargestTorque / (3.96e-3 + 0.428 * 0.092 * 0.092);

/// A swing of the pendulum that starts at rest.
Eigen::VectorXd swing_from(double angle, double seconds = 4.0,
                           double stiffness = kPendulumStiffness) {
  const MadeUpMotion motion{
      .stiffness = stiffness, .viscous = 0.2, .dry = 0.2, .push = 0.0, .start = angle};
  return motion.angles(kHeldRate, static_cast<int>(kHeldRate * seconds), 1);
}

Eigen::VectorXd still_angles(double angle, double seconds) {
  return Eigen::VectorXd::Constant(static_cast<Eigen::Index>(std::lround(kHeldRate * seconds)),
                                   angle);
}

Eigen::VectorXd joined_angles(const Eigen::VectorXd& first, const Eigen::VectorXd& second) {
  return (Eigen::VectorXd(first.size() + second.size()) << first, second).finished();
}

/// One encoder's quantized readings without a command.
Segment held_segment(const Eigen::VectorXd& angles) {
  Segment segment = segment_of(as_read(angles, 0.0, kHeldQuantum, 1), kHeldRate);
  segment.controls.setZero(angles.size(), 1);
  return segment;
}

/// A pendulum that is held at an angle and then released.
Segment held_then_released(double angle, double seconds) {
  return held_segment(joined_angles(still_angles(angle, seconds), swing_from(angle)));
}

/// A swinging pendulum that a hand stops at an angle of its swing.
Segment swing_then_caught(double angle, double seconds) {
  const Eigen::VectorXd swing = swing_from(1.9);
  Eigen::Index row = 200;
  while (std::abs(swing[row] - angle) > 0.05) ++row;
  return held_segment(joined_angles(swing.head(row), still_angles(angle, seconds)));
}

Mechanism motor_pendulum(double inertia = 3.96e-3) {
  return make_pendulum({.inertia_swing = inertia, .motorised = true});
}

std::vector<Finding> find_held(const Segment& segment, const Mechanism& rig = motor_pendulum()) {
  SignalExamination out;
  find_held_rig(rig, {"run", {segment}}, out);
  return out.findings;
}

double option_limit(const Finding& finding) {
  return std::get<double>(*finding.message.find("limit"));
}

// At both sides of the rest position, with the tremor of a hand.
TEST(HeldRig, IsReportedFromTheStartToTheRelease) {
  for (const double angle : {1.9, -1.9}) {
    Segment segment = held_then_released(angle, 1.3);
    for (int row = 0; row < 240; ++row) {
      segment.angles(row, 0) += kHeldQuantum * std::round(2.0 * std::sin(0.05 * row));
    }
    const std::vector<Finding> found = find_held(segment);
    ASSERT_EQ(found.size(), 1U) << angle;
    EXPECT_EQ(found[0].message.code, MessageCode::kHeldRig);
    EXPECT_EQ(found[0].severity, Severity::kWarning);
    EXPECT_EQ(found[0].channel, "1");
    EXPECT_FALSE(found[0].treated);
    EXPECT_EQ(found[0].from, 0.0);
    EXPECT_GE(found[0].to, 1.29);
    EXPECT_LE(found[0].to, 1.35);
    // The first row that is not left out.
    EXPECT_NEAR(option_limit(found[0]), found[0].to + 1.0 / kHeldRate, 1e-9);
    EXPECT_NEAR(std::get<Quantity>(*found[0].message.find("position")).value, angle, 0.02);
  }
}

TEST(HeldRig, IsReportedFromTheCatchToTheEnd) {
  for (const double angle : {0.8, -0.8}) {
    const Segment segment = swing_then_caught(angle, 0.7);
    const std::vector<Finding> found = find_held(segment);
    ASSERT_EQ(found.size(), 1U) << angle;
    EXPECT_NEAR(found[0].to, segment.duration(), 1e-9);
    EXPECT_NEAR(found[0].from, segment.duration() - 0.7, 0.02);
    EXPECT_NEAR(option_limit(found[0]), found[0].from - 1.0 / kHeldRate, 1e-9);
  }
}

TEST(HeldRig, IsReportedWithTheOptionThatLeavesItOut) {
  const service::FindingText start =
      service::describe_finding(find_held(held_then_released(1.9, 1.3)).at(0));
  EXPECT_EQ(start.kind, "held-rig");
  EXPECT_NE(start.what.find("the joint stands still until 1.3"), std::string::npos) << start.what;
  EXPECT_NE(start.advice.find("with --from 1.3"), std::string::npos) << start.advice;
  const service::FindingText end =
      service::describe_finding(find_held(swing_then_caught(0.8, 0.7)).at(0));
  EXPECT_NE(end.what.find("the joint stands still after "), std::string::npos) << end.what;
  EXPECT_NE(end.advice.find("with --to "), std::string::npos) << end.advice;
}

// Rows between two segments cannot be left out by a time at an end of the recording.
TEST(HeldRig, HasNoOptionBetweenTwoSegments) {
  SignalExamination out;
  Segment later = held_then_released(1.9, 1.3);
  later.start = 10.0;
  find_held_rig(motor_pendulum(), {"run", {held_segment(swing_from(1.0)), later}}, out);
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_NEAR(out.findings[0].from, 10.0, 1e-9);
  EXPECT_EQ(out.findings[0].message.find("limit"), nullptr);
}

// The duration must exceed 0.2 s and five times the time in which the released rig would move by
// 0.03 rad, which is 0.27 s with the large inertia.
TEST(HeldRig, IsNotReportedIfTheRestIsShort) {
  EXPECT_TRUE(find_held(held_segment(swing_from(1.9))).empty());
  EXPECT_TRUE(find_held(held_then_released(1.9, 0.1)).empty());
  EXPECT_EQ(find_held(held_then_released(1.9, 0.3)).size(), 1U);
  EXPECT_TRUE(find_held(swing_then_caught(0.8, 0.1)).empty());
  const Mechanism slow = motor_pendulum(0.4);
  const auto released_slowly = [](double seconds) {
    return held_segment(
        joined_angles(still_angles(1.9, seconds), swing_from(1.9, 4.0, kLargestTorque / 0.404)));
  };
  EXPECT_TRUE(find_held(released_slowly(0.8), slow).empty());
  EXPECT_EQ(find_held(released_slowly(2.0), slow).size(), 1U);
}

TEST(HeldRig, IsNotReportedAtACommand) {
  Segment segment = held_then_released(1.9, 1.3);
  segment.controls.topRows(260).setConstant(0.1);
  EXPECT_TRUE(find_held(segment).empty());
  segment = swing_then_caught(0.8, 0.7);
  segment.controls.setConstant(0.1);
  EXPECT_TRUE(find_held(segment).empty());
  // The motor starts the motion, so that the zero of the encoder may be wrong.
  segment = held_then_released(1.9, 1.3);
  segment.controls.bottomRows(segment.sample_count() - 260).setConstant(0.1);
  EXPECT_TRUE(find_held(segment).empty());
}

TEST(HeldRig, IsNotReportedAtAnEndStop) {
  Mechanism rig = motor_pendulum();
  rig.joints[0].stops.upper = true;
  rig.joint_parameter(0, JointParameter::kStopUpper).value = 1.95;
  EXPECT_TRUE(find_held(held_then_released(1.9, 1.3), rig).empty());
  rig.joint_parameter(0, JointParameter::kStopUpper).value = 2.2;
  EXPECT_EQ(find_held(held_then_released(1.9, 1.3), rig).size(), 1U);
}

TEST(HeldRig, IsNotReportedNearAnEquilibriumOrWithoutGravity) {
  Mechanism rig = motor_pendulum();
  EXPECT_TRUE(find_held(held_then_released(0.09, 1.3), rig).empty());
  EXPECT_TRUE(find_held(held_then_released(M_PI - 0.09, 1.3), rig).empty());
  EXPECT_EQ(find_held(held_then_released(0.3, 1.3), rig).size(), 1U);
  rig.parameter(GravityParameter::kGravity).value = 0.0;
  EXPECT_TRUE(find_held(held_then_released(1.9, 1.3), rig).empty());
}

// Ten times a free friction may hold the rig. The load is 0.64 of the largest at 0.7 rad.
TEST(HeldRig, IsNotReportedIfDryFrictionCanHold) {
  const auto is_reported = [](double friction, bool is_free) {
    Mechanism rig = motor_pendulum();
    Parameter& coulomb = rig.joint_parameter(0, JointParameter::kCoulombTorque);
    coulomb.value = friction * kLargestTorque;
    coulomb.free = is_free;
    const bool is_start = !find_held(held_then_released(0.8, 1.3), rig).empty();
    EXPECT_EQ(!find_held(swing_then_caught(0.8, 1.3), rig).empty(), is_start);
    return is_start;
  };
  EXPECT_TRUE(is_reported(0.01, true));
  EXPECT_FALSE(is_reported(0.07, true));
  EXPECT_TRUE(is_reported(0.07, false));
  EXPECT_FALSE(is_reported(0.7, false));
}

// With a wrong zero, a hanging pendulum seems to be held: a push moves it upward, and its decayed
// swing seems to be caught.
TEST(HeldRig, IsNotReportedIfOnlyTheZeroIsWrong) {
  const Eigen::VectorXd swing = swing_from(1.0);
  const Eigen::VectorXd up = 1.8 - swing.array();
  EXPECT_TRUE(find_held(held_segment(joined_angles(still_angles(0.8, 1.3), up))).empty());
  const MadeUpMotion decay{
      .stiffness = kPendulumStiffness, .viscous = 1.0, .dry = 1.0, .push = 0.0, .start = 1.0};
  const Eigen::VectorXd decayed = decay.angles(kHeldRate, 2400, 1);
  ASSERT_LT((decayed.tail(200).array() - decayed[2399]).abs().maxCoeff(), 1e-3);
  EXPECT_TRUE(find_held(held_segment(decayed.array() + 0.8)).empty());
}

// A link that hangs from a moving link may rest relative to it. Only a rest of all joints counts.
TEST(HeldRig, IsReportedIfAllJointsStandStill) {
  Mechanism rig = make_chain({.links = 2});
  const Eigen::VectorXd release = joined_angles(still_angles(1.3, 1.0), swing_from(1.3));
  Eigen::MatrixXd angles(release.size(), 2);
  angles << release, 0.3 * release;
  const std::vector<Finding> found = find_held(segment_of(angles, kHeldRate), rig);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(service::format_message(found[0].message).find("the joints stand still until 1"),
            std::string::npos);
  Eigen::MatrixXd moving = angles;
  moving.col(0) = swing_from(1.3, 5.0);
  EXPECT_TRUE(find_held(segment_of(moving, kHeldRate), rig).empty());
  // An encoder that reads the absolute angle of the second link.
  rig.joints[1].measured = false;
  add_body_encoder(rig, "absolute", Joint::kGround, 1, 0.0);
  angles.col(1) += angles.col(0);
  const std::vector<Finding> absolute = find_held(segment_of(angles, kHeldRate), rig);
  ASSERT_EQ(absolute.size(), 1U);
  for (const char* name : {"position", "load"}) {
    EXPECT_NEAR(std::get<Quantity>(*absolute[0].message.find(name)).value,
                std::get<Quantity>(*found[0].message.find(name)).value, 0.01);
  }
}

// The rest of a held rig needs an action, and the rest after the motion does not. An outlier does
// not end the time in which a hand holds the rig.
TEST(HeldRig, ChangesTheAdviceOfTheRestNote) {
  const auto rest_advice = [](const Segment& segment) {
    const SignalExamination found = examine_signals(motor_pendulum(), {{"run", {segment}}});
    const auto rest = std::ranges::find(found.findings, MessageCode::kRestIntervals,
                                        [](const Finding& each) { return each.message.code; });
    return rest == found.findings.end() ? "" : service::describe_finding(*rest).advice;
  };
  Segment segment = held_then_released(1.9, 2.0);
  segment.angles(100, 0) += 1.0;
  EXPECT_NE(rest_advice(segment).find("held-rig"), std::string::npos) << rest_advice(segment);
  segment = held_then_released(0.0, 2.0);
  segment.angles.bottomRows(400) = held_segment(swing_from(1.0)).angles.topRows(400);
  EXPECT_EQ(rest_advice(segment), "no action is needed");
}

}  // namespace
}  // namespace estimator
