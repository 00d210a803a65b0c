#include "estimator/diagnostics/signal/channels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "service/messages/message_text.hpp"
#include "tests/estimator/diagnostics/made_up_motion.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kCount = 2.0 * M_PI / 4096.0;

std::vector<Finding> with_code(const SignalExamination& examination, MessageCode code) {
  std::vector<Finding> found;
  std::ranges::copy_if(examination.findings, std::back_inserter(found),
                       [&](const Finding& finding) { return finding.message.code == code; });
  return found;
}

/// Two joints of a Furuta rig with a random command.
Recording two_joints(const Eigen::VectorXd& one, const Eigen::VectorXd& other) {
  Eigen::MatrixXd angles(one.size(), 2);
  angles << one, other;
  Segment segment = segment_of(angles, 1000.0);
  segment.controls = Eigen::MatrixXd::Random(one.size(), 1);
  return {"run", {segment}};
}

Eigen::VectorXd motion(unsigned seed) {
  return as_read(MadeUpMotion{}.angles(1000.0, 3000, seed), 0.0, kCount, seed);
}

class Channels : public testing::Test {
 protected:
  const Mechanism rig_ = make_furuta();
};

// Two correct encoders of a moving rig: no check reports anything.
TEST_F(Channels, HaveNoFindingsIfCorrect) {
  const SignalExamination found =
      examine_signals(rig_, {two_joints(motion(1), motion(2))}, {{kCount, kCount}});
  EXPECT_TRUE(found.findings.empty())
      << (found.findings.empty() ? "" : service::format_message(found.findings.front().message));
  EXPECT_FALSE(found.needs_repair());
}

// A sensor whose range is exceeded by the motion at either end. Readings at that end are rejected.
TEST_F(Channels, AreReportedIfClippedAtEitherEnd) {
  for (const double side : {1.0, -1.0}) {
    MadeUpMotion swing;
    swing.push = 0.0;
    swing.dry = 0.5;
    swing.start = -1.5;  // so that the recording does not start with a plateau
    const Eigen::VectorXd whole = as_read(swing.angles(1000.0, 3000, 1), 0.0, kCount, 1);
    const double limit = 0.6 * whole.maxCoeff();
    Eigen::VectorXd clipped = whole.cwiseMin(limit) * side;
    const Eigen::Index lowest = std::min_element(whole.begin(), whole.end()) - whole.begin();
    clipped[lowest] = limit * side;  // a single reading at the end of the range
    const SignalExamination found = examine_signals(rig_, {two_joints(clipped, motion(2))});
    const std::vector<Finding> clips = with_code(found, MessageCode::kClippedReadings);
    ASSERT_EQ(clips.size(), 1U) << side;
    EXPECT_EQ(clips[0].channel, "1");
    EXPECT_NEAR(clips[0].size, side * limit, 1e-9);
    EXPECT_EQ(std::ranges::count_if(found.rejected,
                                    [&](const RejectedReading& rejected) {
                                      return std::abs(clipped[rejected.row] - side * limit) < 1e-9;
                                    }),
              (whole.array() >= limit).count() + 1);
    // Each plateau is marked, and the motion between two is not.
    double marked = 0.0;
    for (const TimeInterval& each : clips[0].intervals) marked += each.to - each.from;
    EXPECT_GT(clips[0].intervals.size(), 1U);
    EXPECT_NEAR(marked, 1e-3 * static_cast<double>((whole.array() >= limit).count()), 0.02);
    EXPECT_EQ(clips[0].from, clips[0].intervals.front().from);
    EXPECT_EQ(clips[0].to, clips[0].intervals.back().to);
  }
}

/// A sine of 1 Hz and 0.5 rad clipped at 0.3 rad on one side, from an instant on, or until one, at
/// which it is clipped.
Eigen::VectorXd clipped_at_end(double rate, double side, bool at_beginning, double noise) {
  const auto rows = static_cast<Eigen::Index>(2.2 * rate);
  Eigen::VectorXd angles(rows);
  for (Eigen::Index k = 0; k < rows; ++k) {
    const double time = static_cast<double>(k) / rate;
    angles[k] = 0.5 * std::sin(2.0 * M_PI * (time - 0.01));  // beyond the limit from 2.112 s on
  }
  Eigen::VectorXd read = side * as_read(angles, noise, kCount, 5).cwiseMin(0.3);
  if (at_beginning) read.reverseInPlace();
  return read;
}

// A plateau at the start or end of a recording has one side only: the motion there would have gone
// on.
TEST_F(Channels, AreReportedIfClippedAtTheStartOrEndOfARecording) {
  for (const bool at_beginning : {true, false}) {
    for (const double side : {1.0, -1.0}) {
      for (const auto& [rate, noise] : {std::pair(1000.0, 0.0), {1000.0, 2e-3}, {100.0, 0.0}}) {
        SCOPED_TRACE(testing::Message() << at_beginning << side << rate << noise);
        const Eigen::VectorXd read = clipped_at_end(rate, side, at_beginning, noise);
        const auto rows = static_cast<Eigen::Index>(0.6 * rate);
        const Eigen::VectorXd part = at_beginning ? read.head(rows) : read.tail(rows);
        const SignalExamination found =
            examine_signals(rig_, {two_joints(part, motion(2).head(rows))});
        ASSERT_EQ(with_code(found, MessageCode::kClippedReadings).size(), 1U);
        EXPECT_GT(static_cast<double>(found.rejected.size()), 0.07 * rate);
        EXPECT_LT(static_cast<double>(found.rejected.size()), 0.1 * rate);
      }
    }
  }
}

// A joint that dry friction brings to rest, or that is released, rests at a vertex of its motion,
// and one at its stop is held by it. None is clipped.
TEST_F(Channels, AreNotReportedIfAJointRests) {
  for (const bool at_beginning : {true, false}) {
    for (const double side : {1.0, -1.0}) {
      for (const auto& [rate, noise] : {std::pair(1000.0, 0.0), {1000.0, 2e-3}, {100.0, 0.0}}) {
        SCOPED_TRACE(testing::Message() << at_beginning << side << rate << noise);
        const auto rows = static_cast<Eigen::Index>(rate);
        Eigen::VectorXd angles(rows);
        for (Eigen::Index k = 0; k < rows; ++k) {
          const double left = std::max(0.0, 0.5 - static_cast<double>(k) / rate);
          angles[k] = -5.0 * left * left;
        }
        Eigen::VectorXd read = side * as_read(angles, 0.0, kCount, 5);
        if (at_beginning) read.reverseInPlace();
        EXPECT_TRUE(with_code(examine_signals(rig_, {two_joints(read, motion(2).head(rows))}),
                              MessageCode::kClippedReadings)
                        .empty());
      }
    }
  }
  Mechanism stopped = rig_;
  stopped.joints[0].stops.upper = true;
  const Eigen::VectorXd read = clipped_at_end(1000.0, 1.0, false, 0.0).tail(600);
  EXPECT_TRUE(with_code(examine_signals(stopped, {two_joints(read, motion(2).head(600))}),
                        MessageCode::kClippedReadings)
                  .empty());
}

/// A single pendulum whose encoder reads one constant angle for a second.
Recording one_angle(double angle, double command) {
  Segment segment = segment_of(Eigen::VectorXd::Constant(1000, angle), 1e3);
  segment.controls.setConstant(1000, 1, command);
  return {"run", {segment}};
}

/// @param friction  of the joint, relative to gravity's torque when it is horizontal
Mechanism lone_pendulum(double friction, bool is_free) {
  Mechanism pendulum = make_pendulum({.motorised = true});
  Parameter& coulomb = pendulum.joint_parameter(0, JointParameter::kCoulombTorque);
  coulomb.value = friction * 0.428 * 0.092 * 9.82;
  coulomb.free = is_free;
  return pendulum;
}

// Gravity moves a pendulum away from any rest unless it hangs or stands, or friction or a command
// holds it. Ten times the friction to be estimated is allowed.
TEST_F(Channels, AreReportedAsDeadIfTheJointCannotRest) {
  const auto is_told = [](const Mechanism& rig, double angle, double command = 0.0) {
    const SignalExamination found = examine_signals(rig, {one_angle(angle, command)});
    const std::vector<Finding> dead = with_code(found, MessageCode::kDeadChannel);
    if (dead.empty()) return false;
    EXPECT_EQ(dead[0].severity, Severity::kFault);
    EXPECT_NE(dead[0].message.find("position"), nullptr);
    const std::string text = service::format_message(dead[0].message);
    EXPECT_NE(text.find("cannot be in equilibrium at"), std::string::npos) << text;
    return true;
  };
  for (const double side : {1.0, -1.0}) {
    SCOPED_TRACE(side);
    EXPECT_TRUE(is_told(lone_pendulum(0.01, true), side * 0.8));
    EXPECT_FALSE(is_told(lone_pendulum(0.07, true), side * 0.8));  // sin 0.7 is 0.64
    EXPECT_TRUE(is_told(lone_pendulum(0.07, false), side * 0.8));
    EXPECT_FALSE(is_told(lone_pendulum(0.7, false), side * 0.8));
    EXPECT_FALSE(is_told(lone_pendulum(0.0, true), side * 0.8));  // friction is unknown
    EXPECT_TRUE(is_told(lone_pendulum(0.0, false), side * 0.8));
    EXPECT_FALSE(is_told(lone_pendulum(0.0, false), side * 0.09));
    EXPECT_FALSE(is_told(lone_pendulum(0.01, true), side * (M_PI - 0.09)));
    Mechanism rig = lone_pendulum(0.01, true);
    Parameter& gain = rig.joint_parameter(0, JointParameter::kMotorGain);
    gain.value = 1.0;
    const double torque = side * std::sin(0.8) * 0.428 * 0.092 * 9.82;
    EXPECT_FALSE(is_told(rig, side * 0.8, torque));
    EXPECT_TRUE(is_told(rig, side * 0.8, -torque));
    gain.free = true;
    EXPECT_FALSE(is_told(rig, side * 0.8, -torque));
    gain.free = false;
    rig.joints[0].stops.upper = rig.joints[0].stops.lower = true;
    rig.joint_parameter(0, JointParameter::kStopUpper).value = 0.85;
    rig.joint_parameter(0, JointParameter::kStopLower).value = -0.85;
    EXPECT_FALSE(is_told(rig, side * 0.8));
    EXPECT_TRUE(is_told(rig, side * 0.6));
  }
  Mechanism sprung = lone_pendulum(0.01, true);
  sprung.joint_parameter(0, JointParameter::kStiffness).free = true;
  EXPECT_FALSE(is_told(sprung, 0.8));
}

TEST_F(Channels, AreReportedAsDeadIfOtherChannelsChange) {
  const SignalExamination found =
      examine_signals(rig_, {two_joints(Eigen::VectorXd::Constant(3000, 0.2), motion(2))});
  const std::vector<Finding> dead = with_code(found, MessageCode::kDeadChannel);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].channel, "1");
  EXPECT_EQ(dead[0].severity, Severity::kWarning);
  EXPECT_EQ(service::format_message(dead[0].message),
            "encoder \"1\" never changes, although encoder \"2\" does");
}

// The same column twice, also with opposite sign and another zero.
TEST_F(Channels, AreReportedIfIdentical) {
  for (const double sign : {1.0, -1.0}) {
    const Eigen::VectorXd one = motion(1);
    const Eigen::VectorXd copy = (sign * one).array() + 0.5;
    const std::vector<Finding> copies =
        with_code(examine_signals(rig_, {two_joints(one, copy)}), MessageCode::kIdenticalChannels);
    ASSERT_EQ(copies.size(), 1U) << sign;
    EXPECT_EQ(copies[0].severity, Severity::kFault);
  }
}

TEST_F(Channels, AreReportedIfTheQuantizationStepDiffersFromTheDescription) {
  const Recording recording = two_joints(motion(1), motion(2));
  const std::vector<Finding> quanta = with_code(
      examine_signals(rig_, {recording}, {{kCount, 0.25 * kCount}}), MessageCode::kWrongQuantum);
  ASSERT_EQ(quanta.size(), 1U);
  EXPECT_EQ(quanta[0].channel, "2");
  EXPECT_NEAR(quanta[0].size, kCount, 1e-3 * kCount);
}

TEST_F(Channels, AreReportedIfTheCommandIsConstant) {
  Recording recording = two_joints(motion(1), motion(2));
  recording.segments[0].controls.setZero();
  const std::vector<Finding> constant =
      with_code(examine_signals(rig_, {recording}), MessageCode::kConstantCommand);
  ASSERT_EQ(constant.size(), 1U);
  EXPECT_EQ(constant[0].severity, Severity::kNote);
}

// The finding requests a recording with a varying command only if there is none.
TEST_F(Channels, RequireACommandInOneRecordingOnly) {
  Mechanism rig = rig_;
  for (Parameter& parameter : rig.parameters) {
    if (parameter.name == "1.K") parameter.free = true;
  }
  Recording still = two_joints(motion(1), motion(2));
  const Recording driven = still;
  still.segments[0].controls.setZero();
  const auto advice = [&](const std::vector<Recording>& recordings) {
    const auto found = with_code(examine_signals(rig, recordings), MessageCode::kConstantCommand);
    return found.size() == 1 ? service::describe_finding(found[0]).advice
                             : std::to_string(found.size()) + " findings";
  };
  EXPECT_NE(advice({still}).find("record such a run"), std::string::npos) << advice({still});
  EXPECT_EQ(advice({driven, still}).find("no action is needed"), 0U) << advice({driven, still});
}

// Cuts, rejected readings and freed offsets must be applied at the place of the finding. Readings
// after an encoder's failure are rejected to the end of the recording, also after a cut.
TEST_F(Channels, AreRepaired) {
  Recording recording = two_joints(motion(1), motion(2));
  SignalExamination examination;
  examination.rejected = {{0, 0, 1, 10}};
  examination.freed = {{0, 0, 1, 500, 0.01, 0}};
  examination.cuts = {{0, 0, 2000}, {0, 0, 1000}};
  const RepairedInput repaired = apply_repairs(rig_, {recording}, examination);
  const std::vector<Segment>& parts = repaired.recordings[0].segments;
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_TRUE(std::isnan(parts[0].angles(10, 1)));
  EXPECT_FALSE(std::isnan(parts[0].angles(10, 0)));
  EXPECT_DOUBLE_EQ(parts[1].start, 1.0);
  EXPECT_DOUBLE_EQ(parts[2].start, 2.0);
  EXPECT_EQ(parts[0].sample_count(), 1000);
  const auto parameter = static_cast<int>(rig_.parameters.size());
  ASSERT_EQ(repaired.mechanism.parameters.size(), rig_.parameters.size() + 1);
  EXPECT_EQ(repaired.mechanism.parameters.back().name, "2 slip at 0.5 s");
  EXPECT_TRUE(repaired.mechanism.parameters.back().free);
  for (std::size_t s = 0; s < 3; ++s) {
    ASSERT_EQ(parts[s].shifts.size(), 1U);
    EXPECT_EQ(parts[s].shifts[0].sensor, 1);
    EXPECT_EQ(parts[s].shifts[0].parameter, parameter);
    EXPECT_EQ(parts[s].shifts[0].sample, s == 0 ? 500 : 0);
  }
}

}  // namespace
}  // namespace estimator
