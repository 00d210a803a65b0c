#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <string>

#include "daq/config/scenario_config.hpp"
#include "proto/text/files.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

// Every field of the files that rigcal-daq reads gets its own value and is checked where it acts.

namespace daq {
namespace {

constexpr double kPi = std::numbers::pi;

RigConfig full_rig(const std::string& unit = "", const std::string& safety = "",
                   const std::string& more = "") {
  return parse_rig_config("r.textproto", R"(name: "small"
joint { name: "arm" motor { control_unit: "A" control_max: 9 } encoder { counts_per_turn: 4096 } }
joint { name: "rod" encoder { counts_per_turn: 2048 } }
unit { url: "pty:///x" channel { joint: "arm" offset_rad: 0.5 }
       channel { joint: "rod" inverted: true offset_rad: -0.25 } )" +
                                             unit + R"( }
safety { command_max: 8
  joint { joint: "arm" angle_rad_min: -2 angle_rad_max: 3 speed_rad_per_s_max: 30 jump_rad_max: 0.7
          missing_ms_max: 40 }
  joint { joint: "rod" angle_rad_min: -9 angle_rad_max: 8 speed_rad_per_s_max: 50 } )" +
                                             safety + " }\n" + more);
}

TEST(RigFields, ReachTheLoop) {
  const RigConfig rig = full_rig("ttl_ms: 33 divider: 2 compact: true host_paced: true",
                                 "command_slew_per_s_max: 70 staleness_ms_max: 15",
                                 "real_time { priority: 7 cpu: 1 lock_memory: false }");
  EXPECT_EQ(rig.name, "small");
  EXPECT_EQ(rig.unit_url, "pty:///x");
  EXPECT_EQ(rig.motor.at(0).command_unit, "A");
  EXPECT_EQ(rig.motor.at(0).joint, "arm");
  ASSERT_EQ(rig.channel.size(), 2U);
  EXPECT_EQ(rig.channel[0].counts_per_turn, 4096.0);
  EXPECT_EQ(rig.channel[0].offset_rad, 0.5);
  EXPECT_FALSE(rig.channel[0].inverted);
  EXPECT_EQ(rig.channel[1].counts_per_turn, 2048.0);
  EXPECT_EQ(rig.channel[1].offset_rad, -0.25);
  EXPECT_TRUE(rig.channel[1].inverted);
  EXPECT_EQ(rig.ttl_ms, 33);
  EXPECT_EQ(rig.divider, 2);
  EXPECT_TRUE(rig.compact);
  EXPECT_TRUE(rig.host_paced);
  EXPECT_EQ(rig.limits.motor.at(0).command_max, 8.0);
  EXPECT_EQ(rig.limits.motor.at(0).command_slew_per_s_max, 70.0);
  EXPECT_DOUBLE_EQ(rig.limits.staleness_s_max, 0.015);
  ASSERT_EQ(rig.limits.joint.size(), 2U);
  const JointLimits& arm = rig.limits.joint[0];
  EXPECT_EQ(arm.angle_rad_min, -2.0);
  EXPECT_EQ(arm.angle_rad_max, 3.0);
  EXPECT_EQ(arm.speed_rad_per_s_max, 30.0);
  EXPECT_EQ(arm.jump_rad_max, 0.7);
  EXPECT_DOUBLE_EQ(arm.missing_s_max, 0.04);
  EXPECT_EQ(rig.real_time.priority, 7);
  EXPECT_EQ(rig.real_time.cpu, 1);
  EXPECT_FALSE(rig.real_time.lock_memory);
}

// Omitted fields take the defaults of the schema.
TEST(RigFields, HaveTheirDefaults) {
  const RigConfig rig = full_rig();
  EXPECT_EQ(rig.ttl_ms, 100);
  EXPECT_EQ(rig.divider, 1);
  EXPECT_FALSE(rig.compact || rig.host_paced);
  EXPECT_DOUBLE_EQ(rig.limits.motor.at(0).command_slew_per_s_max, 8000.0);
  EXPECT_DOUBLE_EQ(rig.limits.staleness_s_max, 0.05);
  EXPECT_DOUBLE_EQ(rig.limits.joint[1].jump_rad_max, 0.5);  // 50 rad/s over ten periods
  EXPECT_DOUBLE_EQ(rig.limits.joint[1].missing_s_max, 0.01);
  EXPECT_EQ(rig.real_time.priority, 80);
  EXPECT_TRUE(rig.real_time.lock_memory);
}

// How joints are driven and where they stop, for the encoder checks.
TEST(RigFields, OfMotion) {
  const RigConfig rig = full_rig();
  ASSERT_EQ(rig.limits.motion.size(), 2U);
  const JointDrive& arm = rig.limits.motion[0];
  const JointDrive& rod = rig.limits.motion[1];
  EXPECT_DOUBLE_EQ(arm.rad_per_count, 2.0 * std::numbers::pi / 4096);
  EXPECT_DOUBLE_EQ(rod.rad_per_count, -2.0 * std::numbers::pi / 2048);
  EXPECT_EQ(arm.motor, 0);
  EXPECT_EQ(rod.motor, -1);
  EXPECT_EQ(arm.gain_sign, 1.0);
  EXPECT_DOUBLE_EQ(arm.stall_command, 0.05 * 8.0);
  EXPECT_EQ(arm.stall_time_s, kStallTimeDefault_s);
  EXPECT_TRUE(std::isinf(arm.stop_rad_min) && std::isinf(arm.stop_rad_max));
  EXPECT_FALSE(arm.is_unaffected || rod.is_unaffected);
  // Limits of the rig, and limits of one motor.
  const RigConfig common = full_rig("", "stall { command: 1 time_s: 0.3 }");
  EXPECT_EQ(common.limits.motion[0].stall_command, 1.0);
  EXPECT_EQ(common.limits.motion[0].stall_time_s, 0.3);
  const RigConfig own = full_rig(
      "", "stall { command: 1 time_s: 0.3 } motor { joint: \"arm\" stall { command: 2 } }");
  EXPECT_EQ(own.limits.motion[0].stall_command, 2.0);
  EXPECT_EQ(own.limits.motion[0].stall_time_s, 0.3);
}

TEST(RigFields, OfMotionFromTheMechanism) {
  using test_support::replaced;
  std::string text =
      proto::read_file(test_support::source_folder() + "/configs/rig-furuta.textproto");
  text = replaced(text, "gain { value: 0.05", "gain { value: -0.05");
  text = replaced(text, "encoder { counts_per_turn: 4096 }",
                  "encoder { counts_per_turn: 4096 } stops { lower { value: -2 } "
                  "upper { value: 3 } restitution { value: 0 } }");
  text = replaced(text, "missing_ms_max: 20", "missing_ms_max: 20 may_stand_still: true");
  const RigConfig rig = parse_rig_config("r.textproto", text);
  EXPECT_EQ(rig.limits.motion[0].gain_sign, -1.0);
  EXPECT_EQ(rig.limits.motion[0].stop_rad_min, -2.0);
  EXPECT_EQ(rig.limits.motion[0].stop_rad_max, 3.0);
  EXPECT_FALSE(rig.limits.motion[0].is_unaffected);
  EXPECT_TRUE(rig.limits.motion[1].is_unaffected);
}

// One excitation of a file, evaluated at instants of the test's choice.
class Excited {
 public:
  explicit Excited(const std::string& excitation, double duration_s = 10.0,
                   const std::string& path = "s.textproto")
      : scenario_(
            parse_scenario_config(
                path, "duration_s: " + std::to_string(duration_s) + " " + excitation, full_rig())
                .scenario) {}

  double at(double time_s, JointState arm = {0.0, 0.0, true}, JointState rod = {0.0, 0.0, true}) {
    Observation now;
    now.time_s = time_s;
    now.joint[0] = arm;
    now.joint[1] = rod;
    return scenario_.compute_command(now);
  }
  ScenarioPhase phase() const { return scenario_.phase(); }

 private:
  Scenario scenario_;
};

TEST(ScenarioFields, OfAPulse) {
  Excited pulse("pulse { motor: \"arm\" command: -2.5 start_s: 1 width_s: 0.25 }");
  EXPECT_EQ(pulse.at(0.999), 0.0);
  EXPECT_EQ(pulse.at(1.0), -2.5);
  EXPECT_EQ(pulse.at(1.249), -2.5);
  EXPECT_EQ(pulse.at(1.25), 0.0);
}

TEST(ScenarioFields, OfAStep) {
  Excited step("step { motor: \"arm\" command: 1.5 start_s: 2 }");
  EXPECT_EQ(step.at(0.0), 0.0);
  EXPECT_EQ(step.at(1.999), 0.0);
  EXPECT_EQ(step.at(2.0), 1.5);
  EXPECT_EQ(step.at(9.999), 1.5);
  EXPECT_EQ(step.phase(), ScenarioPhase::kRunning);
  EXPECT_EQ(step.at(10.0), 0.0);
  EXPECT_EQ(step.phase(), ScenarioPhase::kFinished);
}

// Overlapping pulses add up, and the sum is the peak.
TEST(ScenarioFields, OfAPulseTrain) {
  Excited train(
      "pulse_train { motor: \"arm\" pulse { command: 2 start_s: 1 width_s: 2 }"
      " pulse { command: -3 start_s: 2 width_s: 4 } }");
  EXPECT_EQ(train.at(0.999), 0.0);
  EXPECT_EQ(train.at(1.0), 2.0);
  EXPECT_EQ(train.at(2.5), -1.0);
  EXPECT_EQ(train.at(5.999), -3.0);
  EXPECT_EQ(train.at(6.0), 0.0);
}

// A linear sweep: phase 2π (f₀ t + (f₁ − f₀) t²/(2 T)) at time t after the start, with duration T.
TEST(ScenarioFields, OfAChirp) {
  Excited chirp(
      "chirp { motor: \"arm\" amplitude: 2 frequency_start_hz: 1 frequency_end_hz: 5 start_s: 2 }");
  EXPECT_EQ(chirp.at(1.999), 0.0);
  for (const double t : {0.1, 1.0, 3.7, 7.9}) {
    const double phase = 2.0 * kPi * (t + 4.0 * t * t / (2.0 * 8.0));
    EXPECT_NEAR(chirp.at(2.0 + t), 2.0 * std::sin(phase), 1e-9) << t;
  }
}

TEST(ScenarioFields, OfAMultisine) {
  Excited plain(
      "multisine { motor: \"arm\" sine { frequency_hz: 0.5 amplitude: 2 phase_rad: 0.3 }"
      " sine { frequency_hz: 1.5 amplitude: 0.5 phase_rad: -1 } }");
  const auto signal = [](double t) {
    return 2.0 * std::sin(kPi * t + 0.3) + 0.5 * std::sin(3.0 * kPi * t - 1.0);
  };
  for (const double t : {0.0, 0.37, 5.21}) EXPECT_NEAR(plain.at(t), signal(t), 1e-9) << t;
  Excited ramped(
      "multisine { motor: \"arm\" ramp_s: 2 sine { frequency_hz: 0.5 amplitude: 2 phase_rad: 0.3 }"
      " sine { frequency_hz: 1.5 amplitude: 0.5 phase_rad: -1 } }");
  for (const double t : {0.0, 0.37, 1.0, 1.9}) EXPECT_NEAR(ramped.at(t), signal(t) * t / 2.0, 1e-9);
  for (const double t : {2.0, 9.5}) EXPECT_NEAR(ramped.at(t), signal(t), 1e-9);
}

// Each value holds until the next row, from the first row's time on.
TEST(ScenarioFields, OfAReplay) {
  const test_support::TemporaryFolder folder;
  std::ofstream(folder.file("u.csv")) << "u,other,t\n1,7,3\n-3,7,5\n2,7,7\n";
  Excited replay(
      "replay { motor: \"arm\" file: \"u.csv\" time_column: \"t\" command_column: \"u\" "
      "scale: 2 }",
      10.0, folder.file("s.textproto"));
  EXPECT_EQ(replay.at(0.0), 2.0);
  EXPECT_EQ(replay.at(1.999), 2.0);
  EXPECT_EQ(replay.at(2.0), -6.0);
  EXPECT_EQ(replay.at(3.999), -6.0);
  EXPECT_EQ(replay.at(4.0), 0.0);
  std::ofstream(folder.file("u.csv")) << "u,other,t\n1,7,3\n,7,5\n";
  Excited open_ended("replay { motor: \"arm\" file: \"u.csv\" time_column: \"t\" "
                     "command_column: \"u\" }",
                     10.0, folder.file("s.textproto"));
  EXPECT_EQ(open_ended.at(1.999), 1.0) << "the last row needs no command";
  EXPECT_EQ(open_ended.at(2.0), 0.0);
}

// An error of a repeated field is reported at its line.
TEST(ScenarioFields, AreReportedAtTheirLine) {
  const auto line_of = [](const std::string& excitation) {
    const std::string text = test_support::refusal([&] { Excited wrong(excitation); });
    EXPECT_TRUE(text.starts_with("s.textproto:")) << text;
    return std::atoi(text.c_str() + std::string("s.textproto:").size());
  };
  EXPECT_EQ(line_of("multisine { motor: \"arm\"\nsine { frequency_hz: 1 amplitude: 1 }\n"
                    "sine {\namplitude: 1\nfrequency_hz: -1 } }"),
            5);
  EXPECT_EQ(line_of("pulse_train { motor: \"arm\"\npulse {\ncommand: 1 width_s: 1 }\n"
                    "pulse {\nwidth_s: -1 command: 1 } }"),
            5);
  EXPECT_EQ(line_of("\nchirp { motor: \"arm\" amplitude: 1\nfrequency_start_hz: -1 }"), 3);
}

// The command grows until a joint moves, and the opposite command then brakes the driven joint.
TEST(ScenarioFields, OfTestPushes) {
  Excited push(
      "test_push { motor: \"arm\" command: 4 rise_s: 2 motion_rad: 0.1 rest_s: 0.5 count: 2 }");
  const auto arm = [](double angle) { return JointState{angle, 0.0, true}; };
  EXPECT_EQ(push.at(0.0), 0.0);
  EXPECT_EQ(push.at(0.5, arm(0.099)), 1.0);
  EXPECT_EQ(push.at(0.75, arm(0.101)), -1.0);
  EXPECT_EQ(push.at(0.8, arm(0.101)), -1.0);
  EXPECT_EQ(push.at(0.85, arm(0.101)), 0.0);
  EXPECT_EQ(push.at(1.349, arm(0.101)), 0.0);
  EXPECT_EQ(push.at(1.351, arm(0.101)), 0.0);
  EXPECT_EQ(push.at(1.4, arm(0.101)), 0.0);
  EXPECT_EQ(push.at(1.9, arm(0.101)), -1.0) << "the second push";
  EXPECT_NEAR(push.at(3.39, arm(0.101)), -3.98, 1e-12);
  EXPECT_EQ(push.at(3.41, arm(0.101)), 0.0) << "no motion within rise_s";
  EXPECT_EQ(push.phase(), ScenarioPhase::kRunning);
  push.at(3.92, arm(0.101));
  EXPECT_EQ(push.phase(), ScenarioPhase::kFinished);
  Excited once("test_push { motor: \"arm\" command: 4 rise_s: 1 motion_rad: 0.1 }");
  once.at(0.0);
  EXPECT_EQ(once.at(0.75), 3.0);
  once.at(1.01);
  once.at(2.0);
  EXPECT_EQ(once.phase(), ScenarioPhase::kFinished) << "one push by default";
  EXPECT_NE(test_support::refusal([] {
              Excited("test_push { motor: \"arm\" command: 4 rise_s: 2 }");
            }).find("motion_rad"),
            std::string::npos);
}

// command = clamp(gain (1 − E) sign(ω cos θ)), E = (ω/ω₀)²/2 − cos θ, with θ and ω of the
// pendulum's joint. A kick comes first, and the command is zero near the top.
TEST(ScenarioFields, OfASwingUp) {
  const std::string fields =
      "swing_up { motor: \"arm\" pendulum: \"rod\" energy_gain: 3 command_max: 5 "
      "natural_frequency_hz: 1.25 stop_angle_rad: 0.4 kick_command: -1.5 kick_time_s: 0.3 }";
  Excited swing(fields);
  const JointState arm{99.0, 99.0, true};
  EXPECT_EQ(swing.at(0.299, arm), -1.5);
  const double w_0 = 2.0 * kPi * 1.25;
  for (const double theta : {0.2, -0.2, 2.0}) {
    for (const double w : {6.0, -6.0}) {
      const double E = 0.5 * (w / w_0) * (w / w_0) - std::cos(theta);
      const double raw = 3.0 * (1.0 - E) * (w * std::cos(theta) > 0.0 ? 1.0 : -1.0);
      EXPECT_NEAR(swing.at(0.3, arm, {theta, w, true}), std::clamp(raw, -5.0, 5.0), 1e-12);
    }
  }
  EXPECT_EQ(swing.at(1.0, arm, {0.1, 0.1, true}), 5.0) << "the largest command";
  EXPECT_EQ(swing.at(1.0, arm, {-0.1, -0.1, true}), -5.0);
  for (const double side : {1.0, -1.0}) {
    EXPECT_EQ(swing.at(1.0, arm, {side * kPi + 0.39, 1.0, true}), 0.0);
    EXPECT_EQ(swing.at(1.0, arm, {side * kPi - 0.39, 1.0, true}), 0.0);
    EXPECT_NE(swing.at(1.0, arm, {side * kPi + 0.41, 1.0, true}), 0.0);
    EXPECT_NE(swing.at(1.0, arm, {side * kPi - 0.41, 1.0, true}), 0.0);
  }
  EXPECT_EQ(swing.at(1.0, arm, {0.1, 0.1, false}), 0.0) << "blind";
}

TEST(ScenarioFields, OfAPositionFeedback) {
  Excited feedback(
      "step { motor: \"arm\" command: 3 } position_feedback { motor: \"arm\" angle_rad: 0.5 "
      "proportional_gain: 4 derivative_gain: 0.25 command_max: 2 }");
  EXPECT_DOUBLE_EQ(feedback.at(0.0, {0.2, 2.0, true}), 3.0 + 4.0 * 0.3 - 0.25 * 2.0);
  EXPECT_DOUBLE_EQ(feedback.at(0.1, {9.0, 0.0, true}), 1.0) << "the largest command";
  EXPECT_DOUBLE_EQ(feedback.at(0.2, {9.0, 0.0, false}), 3.0) << "blind";
}

// Held within the tolerance on either side for half a second, released, then at rest on all joints
// for a while: each step is tested at its bound.
TEST(ScenarioFields, OfARelease) {
  const std::string fields =
      "release { joint: \"rod\" held_angle_rad: 1.0 held_tolerance_rad: 0.1 "
      "rest_speed_rad_per_s: 0.2 rest_time_s: 1.5 }";
  const JointState arm{50.0, 0.0, true};
  for (const double side : {1.0, -1.0}) {
    Excited release(fields, 100.0);
    const JointState held{1.0 + side * 0.099, 0.0, true};
    const JointState away{1.0 + side * 0.101, 0.0, true};
    release.at(0.0, arm, away);
    release.at(9.0, arm, away);
    EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForHold);
    release.at(10.0, arm, held);
    release.at(10.499, arm, held);
    EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForHold);
    release.at(10.5, arm, held);
    EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForRelease);
    release.at(11.0, arm, {1.0 + side * 0.101, 0.0, false});
    EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForRelease)
        << "a missing angle is no release";
    release.at(12.0, arm, away);
    EXPECT_EQ(release.phase(), ScenarioPhase::kRunning);
    release.at(13.0, {0.0, side * 0.21, true}, {0.0, 0.0, true});
    release.at(15.0, {0.0, side * 0.21, true}, {0.0, 0.0, true});
    EXPECT_EQ(release.phase(), ScenarioPhase::kRunning) << "the arm still moves";
    release.at(16.0, {0.0, side * 0.19, true}, {0.0, -side * 0.19, true});
    release.at(17.499, {0.0, side * 0.19, true}, {0.0, -side * 0.19, true});
    EXPECT_EQ(release.phase(), ScenarioPhase::kRunning);
    release.at(17.5, {0.0, side * 0.19, true}, {0.0, -side * 0.19, true});
    EXPECT_EQ(release.phase(), ScenarioPhase::kFinished);
  }
}

// A hand that moves, or holds for less than half a second in all, does not count as holding.
TEST(ScenarioFields, OfAReleaseRequireAHandAtRest) {
  Excited release("release { joint: \"rod\" held_angle_rad: 1.0 held_tolerance_rad: 0.1 }", 100.0);
  const JointState arm{0.0, 0.0, true};
  for (int k = 0; k < 10; ++k) release.at(0.2 * k, arm, {1.0, 0.51, true});
  EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForHold);
  release.at(10.0, arm, {1.0, 0.0, true});
  release.at(10.4, arm, {1.0, 0.0, true});
  release.at(10.45, arm, {1.2, 0.0, true});
  release.at(10.6, arm, {1.0, 0.0, true});
  EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForHold) << "it begins anew";
  release.at(11.1, arm, {1.0 + 2.0 * kPi, -0.49, true});
  EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForRelease) << "a turn on is the same place";
}

// Readings that are missing for less than 50 ms do not interrupt a hold or a rest.
TEST(ScenarioFields, OfAReleaseOutlastMissingReadings) {
  const JointState arm{0.0, 0.0, true}, rod{1.0, 0.0, true}, missing{0.0, 0.0, false};
  for (const double missing_s : {0.049, 0.051}) {
    SCOPED_TRACE(missing_s);
    Excited release(
        "release { joint: \"rod\" held_angle_rad: 1.0 held_tolerance_rad: 0.1 "
        "rest_speed_rad_per_s: 0.2 rest_time_s: 0.5 }",
        100.0);
    release.at(10.0, arm, rod);
    release.at(10.0 + missing_s, arm, missing);
    release.at(10.5, arm, rod);
    const bool outlasts = missing_s < 0.05;
    EXPECT_EQ(release.phase(),
              outlasts ? ScenarioPhase::kWaitingForRelease : ScenarioPhase::kWaitingForHold);
    release.at(11.0, arm, rod);
    release.at(20.0, arm, {2.0, 1.0, true});
    ASSERT_EQ(release.phase(), ScenarioPhase::kRunning);
    release.at(30.0, arm, {0.0, 0.0, true});
    release.at(30.0 + missing_s, missing, {0.0, 0.0, true});
    release.at(30.5, arm, {0.0, 0.0, true});
    EXPECT_EQ(release.phase(), outlasts ? ScenarioPhase::kFinished : ScenarioPhase::kRunning);
  }
}

}  // namespace
}  // namespace daq
