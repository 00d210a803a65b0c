#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "daq/config/scenario_config.hpp"
#include "daq/console/unit_connection.hpp"
#include "daq/loop/control_loop.hpp"
#include "daq/loop/supervisor.hpp"
#include "tests/daq/edited_rig.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/firmware_iface/core_board.hpp"
#include "tests/support/refusal.hpp"

namespace daq {
namespace {

using test_support::expect_parts;
using test_support::refusal;

// Two joints with a motor each. The unit lists them in reverse order.
const std::string kArm = R"(name: "two-link"
joint {
  name: "shoulder" motor { control_unit: "V" control_max: 12 } encoder { counts_per_turn: 4096 }
}
joint { name: "elbow" motor { control_unit: "duty" } encoder { counts_per_turn: 2048 } }
unit { url: "pty:///x" channel { joint: "shoulder" } channel { joint: "elbow" }
       motor { joint: "elbow" } motor { joint: "shoulder" } }
safety {
  command_max: 6 command_slew_per_s_max: 500
  motor { joint: "elbow" command_max: 0.5 command_slew_per_s_max: 20 }
  joint { joint: "shoulder" angle_rad_min: -99 angle_rad_max: 99 speed_rad_per_s_max: 90 }
  joint { joint: "elbow" angle_rad_min: -99 angle_rad_max: 99 speed_rad_per_s_max: 90 }
}
)";

std::string arm_with(const std::string& from, const std::string& to) {
  return test_support::replaced(kArm, from, to);
}

RigConfig arm() { return rig_of(kArm); }

// Commands are sent in the unit's order. In the file's order each motor would get the other's.
TEST(SeveralMotors, FollowTheUnitsOrder) {
  const RigConfig rig = arm();
  ASSERT_EQ(rig.motor.size(), 2U);
  EXPECT_EQ(rig.motor[0].joint, "elbow");
  EXPECT_EQ(rig.motor[0].command_unit, "duty");
  EXPECT_EQ(rig.motor[0].command_max, 1.0) << "a duty states no largest value";
  EXPECT_EQ(rig.motor[1].joint, "shoulder");
  EXPECT_EQ(rig.motor[1].command_max, 12.0);
  ASSERT_EQ(rig.limits.motor.size(), 2U);
  EXPECT_EQ(rig.limits.motor[0].joint, "elbow");
  EXPECT_EQ(rig.limits.motor[0].command_max, 0.5);
  EXPECT_EQ(rig.limits.motor[0].command_slew_per_s_max, 20.0);
  EXPECT_EQ(rig.limits.motor[1].command_max, 6.0);
  EXPECT_EQ(rig.limits.motor[1].command_slew_per_s_max, 500.0);
  const RigConfig unordered =
      rig_of(arm_with("motor { joint: \"elbow\" } motor { joint: \"shoulder\" }", ""));
  EXPECT_EQ(unordered.motor[0].joint, "shoulder") << "as the file lists them";
  EXPECT_EQ(unordered.limits.motor[1].command_max, 0.5);
}

// A motor's own limit replaces the rig's, also if the rig has none. Omitted limits are the rig's.
TEST(SeveralMotors, HaveLimitsOfTheirOwn) {
  const RigConfig slow =
      rig_of(arm_with("command_max: 0.5 command_slew_per_s_max: 20", "command_max: 0.5"));
  EXPECT_EQ(slow.limits.motor[0].command_slew_per_s_max, 500.0);
  const RigConfig steep = rig_of(arm_with("command_max: 6 command_slew_per_s_max: 500",
                                          "motor { joint: \"shoulder\" command_max: 2 }"));
  EXPECT_EQ(steep.limits.motor[1].command_max, 2.0);
  EXPECT_EQ(steep.limits.motor[1].command_slew_per_s_max, 2000.0) << "all of it in 1 ms";
  expect_refused(kArm,
                 {{"command_max: 6 ",
                   "",
                   {"r.textproto:8", "motor \"shoulder\": command_max must be a positive number"}},
                  {"command_max: 6",
                   "command_max: 13",
                   {"r.textproto:9:3", "control_max of motor \"shoulder\", 12 V"}},
                  {"command_max: 0.5",
                   "command_max: 1.01",
                   {"r.textproto:10:26", "control_max of motor \"elbow\", 1 duty"}},
                  {"\"elbow\" command_max",
                   "\"wrist\" command_max",
                   {"r.textproto:10", "\"wrist\" has no motor"}},
                  {"_max: 20 }",
                   "_max: 20 } motor { joint: \"elbow\" }",
                   {"r.textproto:10", "\"elbow\" has limits twice"}}});
}

TEST(SeveralMotors, AreEachListedOnce) {
  const std::string both = "motor { joint: \"elbow\" } motor { joint: \"shoulder\" }";
  expect_refused(
      kArm, {{both,
              "motor { joint: \"elbow\" }",
              {"r.textproto:7", "\"shoulder\" has a motor", "add motor { joint: \"shoulder\" }"}},
             {both,
              both + " motor { joint: \"elbow\" }",
              {"r.textproto:7:69", "\"elbow\" has no motor in this file, or is listed twice"}},
             {both, both + " motor { joint: \"wrist\" }", {"\"wrist\" has no motor"}}});
  std::string nine = "name: \"x\" unit { channel { joint: \"1\" } } safety { }\n";
  for (int k = 1; k <= 9; ++k) {
    nine += "joint { name: \"" + std::to_string(k) +
            "\" motor { control_unit: \"V\" } encoder { counts_per_turn: 100 } }\n";
  }
  expect_parts(rig_refusal(nine), {"9 motors", "at most 8"});
}

// A duty is a fraction of the supply: a limit above 1 is refused, and the default is 1.
TEST(SeveralMotors, TakeADutyUpToOne) {
  const std::string unit = "control_unit: \"duty\"";
  EXPECT_EQ(rig_of(arm_with(unit, unit + " control_max: 1")).motor[0].command_max, 1.0);
  expect_refused(kArm, {{unit,
                         unit + " control_max: 1.01",
                         {"r.textproto:5:52", "control_max is 1.01", "a duty is at most 1"}}});
  EXPECT_EQ(rig_of(arm_with(unit, "control_unit: \"1\" control_max: 7")).motor[0].command_max, 7.0);
}

ScenarioConfig arm_scenario(const std::string& text) {
  return parse_scenario_config("s.textproto", text, arm());
}

void expect_arm_refused(const std::string& text, const std::vector<std::string>& parts) {
  expect_parts(refusal([&] { arm_scenario(text); }), parts);
}

const std::string kBoth =
    "duration_s: 1\n"
    "step { motor: \"shoulder\" command: 3 }\n"
    "chirp { motor: \"elbow\" amplitude: 0.4 frequency_start_hz: 1 frequency_end_hz: 2 }\n";

// A scenario's motors are in the unit's order, whatever the order and kind of its excitations.
TEST(SeveralMotors, HaveAnExcitationEach) {
  const ScenarioConfig config = arm_scenario(kBoth);
  EXPECT_EQ(config.scenario.command_peak(0), 0.4);
  EXPECT_EQ(config.scenario.command_peak(1), 3.0);
  Scenario two_steps = arm_scenario(
                           "duration_s: 1 step { motor: \"shoulder\" command: 3 } "
                           "step { motor: \"elbow\" command: 0.2 start_s: 0.5 }")
                           .scenario;
  MotorCommands commands{};
  two_steps.compute_command({0.1, {}}, commands);
  EXPECT_EQ(commands, (MotorCommands{0.0, 3.0}));
  two_steps.compute_command({0.6, {}}, commands);
  EXPECT_EQ(commands, (MotorCommands{0.2, 3.0}));
  expect_arm_refused(kBoth + "pulse { motor: \"elbow\" command: 0.1 width_s: 1 }\n",
                     {"s.textproto:3", "\"elbow\" has two excitations"});
  expect_arm_refused(kBoth + "release { joint: \"elbow\" held_tolerance_rad: 1 }\n",
                     {"s.textproto:", "cannot be combined with another excitation", "release"});
  expect_arm_refused("duration_s: 1\nstep { motor: \"elbow\" }\nstep { }\n",
                     {"s.textproto:3", "names no motor", "\"elbow\", \"shoulder\""});
  expect_arm_refused(
      "duration_s: 1\nmultisine { motor: \"elbow\" sine { amplitude: 0.1 "
      "frequency_hz: 1 } }\nmultisine { motor: \"shoulder\"\n sine { "
      "amplitude: 1 } }",
      {"s.textproto:4", "sine[0].frequency_hz"});
}

// Everything about a motor is its own, in whichever order the unit lists the motors: its limits,
// the drive of its joint, and the bounds that a scenario must keep or may tighten.
TEST(SeveralMotors, KeepTheirOwnFieldsInEitherOrder) {
  const std::string order = "motor { joint: \"elbow\" } motor { joint: \"shoulder\" }";
  const std::string other = "motor { joint: \"shoulder\" } motor { joint: \"elbow\" }";
  for (const std::string& listed : {order, other}) {
    SCOPED_TRACE(listed);
    std::string text = arm_with(order, listed);
    text = test_support::replaced(text, "control_max: 12", "control_max: 12 gain { value: 2 }");
    text = test_support::replaced(text, "\"duty\"", "\"duty\" gain { value: -3 }");
    text = test_support::replaced(text, "_max: 20 }", "_max: 20 stall { time_s: 0.7 } }");
    const RigConfig rig = rig_of(text);
    const std::size_t elbow = listed == order ? 0 : 1, shoulder = 1 - elbow;
    ASSERT_EQ(rig.motor[elbow].joint, "elbow");
    const JointDrive& drive = rig.limits.motion[0];
    const JointDrive& elbow_drive = rig.limits.motion[1];
    EXPECT_EQ(drive.motor, static_cast<int>(shoulder));
    EXPECT_EQ(elbow_drive.motor, static_cast<int>(elbow));
    EXPECT_EQ(drive.gain_sign, 1.0);
    EXPECT_EQ(elbow_drive.gain_sign, -1.0);
    EXPECT_DOUBLE_EQ(drive.stall_command, 0.05 * 6.0);
    EXPECT_DOUBLE_EQ(elbow_drive.stall_command, 0.05 * 0.5);
    EXPECT_EQ(drive.stall_time_s, kStallTimeDefault_s);
    EXPECT_EQ(elbow_drive.stall_time_s, 0.7);

    const auto scenario = [&](const std::string& content) {
      return parse_scenario_config("s.textproto", content, rig);
    };
    const auto refused = [&](const std::string& content) {
      return refusal([&] { scenario(content); });
    };
    const ScenarioConfig both = scenario(kBoth);
    EXPECT_EQ(both.scenario.command_peak(elbow), 0.4);
    EXPECT_EQ(both.scenario.command_peak(shoulder), 3.0);
    const ScenarioConfig tight = scenario(kBoth + "limits { command_max: 4 command_slew_max: 30 }");
    EXPECT_EQ(tight.limits.motor[elbow].command_max, 0.5);
    EXPECT_EQ(tight.limits.motor[elbow].command_slew_per_s_max, 20.0);
    EXPECT_EQ(tight.limits.motor[shoulder].command_max, 4.0);
    EXPECT_EQ(tight.limits.motor[shoulder].command_slew_per_s_max, 30.0);
    expect_parts(refused(kBoth + "limits { command_max: 6.1 }"),
                 {"command_max is 6.1", "allows 6"});
    expect_parts(refused(kBoth + "limits { command_slew_max: 501 }"),
                 {"command_slew_max is 501", "allows 500"});
    expect_parts(refused(kBoth + "limits { command_max: 2 }"),
                 {"up to 3 V at motor \"shoulder\"", "allowed are 2"});
    expect_parts(refused("duration_s: 1 step { motor: \"elbow\" command: 0.6 }"),
                 {"up to 0.6 duty at motor \"elbow\"", "allowed are 0.5"});
    EXPECT_NO_THROW(scenario("duration_s: 1 step { motor: \"shoulder\" command: 6 }"));
  }
}

SafetyLimits two_motor_limits() {
  return {.motor = {{"elbow", 0.5, 20.0}, {"shoulder", 6.0, 500.0}},
          .staleness_s_max = 0.005,
          .joint = {{"shoulder", -2.0, 2.0, 20.0, 0.1, 0.0105}}};
}

Observation arm_at_rest(double time_s) {
  Observation now;
  now.time_s = time_s;
  now.joint[0] = {0.0, 0.0, true};
  return now;
}

// Magnitude and slew rate are limited from each motor's own last command, on both sides of zero.
TEST(SeveralMotors, AreClampedEachByItsOwnLimits) {
  SafetyMonitor monitor(two_motor_limits());
  double time_s = 0.0;
  const auto send = [&](double elbow, double shoulder) {
    time_s += 1e-3;
    MotorCommands requested;
    requested.fill(7.0);  // nothing is sent beyond the existing motors
    requested[0] = elbow;
    requested[1] = shoulder;
    return monitor.limit_commands(arm_at_rest(time_s), requested);
  };
  EXPECT_EQ(send(1.0, 1.0), MotorCommands{}) << "no time has passed";
  const MotorCommands first = send(1.0, -9.0);
  EXPECT_NEAR(first[0], 0.02, 1e-12);
  EXPECT_NEAR(first[1], -0.5, 1e-12);
  for (std::size_t m = 2; m < kMotorsMax; ++m) EXPECT_EQ(first[m], 0.0);
  for (int k = 0; k < 100; ++k) send(1.0, -9.0);
  EXPECT_EQ(send(1.0, -9.0), (MotorCommands{0.5, -6.0}));
  const MotorCommands back = send(-1.0, 9.0);
  EXPECT_NEAR(back[0], 0.48, 1e-12);
  EXPECT_NEAR(back[1], -5.5, 1e-12);
  EXPECT_FALSE(monitor.is_tripped());
}

// A NaN command or limit of one motor switches all motors off, and the trip names that motor.
TEST(SeveralMotors, AreAllOffAfterATrip) {
  for (std::size_t m = 0; m < 2; ++m) {
    SafetyMonitor monitor(two_motor_limits());
    monitor.limit_commands(arm_at_rest(0.001), {});
    MotorCommands requested{0.1, 0.1};
    requested[m] = std::nan("");
    EXPECT_EQ(monitor.limit_commands(arm_at_rest(0.002), requested), MotorCommands{});
    EXPECT_EQ(monitor.current_trip().cause, TripCause::kCommandNotFinite);
    EXPECT_EQ(find_trip_subject(monitor.current_trip(), two_motor_limits()),
              m == 0 ? "elbow" : "shoulder");
    EXPECT_EQ(monitor.limit_commands(arm_at_rest(0.003), {0.1, 0.1}), MotorCommands{});
    for (const auto field : {&MotorLimits::command_max, &MotorLimits::command_slew_per_s_max}) {
      SafetyLimits limits = two_motor_limits();
      limits.motor[m].*field = std::nan("");
      EXPECT_EQ(find_limit_errors(limits).size(), 1U);
      SafetyMonitor blind(limits);
      blind.limit_commands(arm_at_rest(0.001), {});
      EXPECT_EQ(blind.limit_commands(arm_at_rest(0.002), {0.1, 0.1}), MotorCommands{});
      EXPECT_TRUE(blind.is_tripped());
    }
  }
  SafetyLimits nine = two_motor_limits();
  nine.motor.resize(9, nine.motor[0]);
  EXPECT_EQ(find_limit_errors(nine).size(), 1U);
}

firmware_iface::UnitDescription arm_facts() {
  firmware_iface::UnitDescription facts;
  facts.tick_rate_Hz = 1000.0;
  facts.ttl_max_ms = 100;
  facts.encoder_count = 2;
  facts.encoder[0].counts_per_turn = 4096;
  facts.encoder[1].counts_per_turn = 2048;
  facts.motor_count = 2;
  facts.motor[0] = {MOTOR_DUTY, 1.0};
  facts.motor[1] = {MOTOR_VOLT, 12.0};
  return facts;
}

// A rig file written for another unit is refused before anything is driven.
TEST(SeveralMotors, MustMatchTheUnit) {
  const RigConfig rig = arm();
  EXPECT_EQ(find_rig_contradiction(rig, arm_facts()), "");
  firmware_iface::UnitDescription facts = arm_facts();
  facts.motor_count = 3;
  EXPECT_EQ(find_rig_contradiction(rig, facts), "") << "a motor that the rig does not use";
  facts.motor_count = 1;
  expect_parts(find_rig_contradiction(rig, facts), {"the unit drives 1 motor, r.textproto has 2"});
  facts = arm_facts();
  std::swap(facts.motor[0], facts.motor[1]);
  expect_parts(find_rig_contradiction(rig, facts),
               {"motor 0 is commanded in V", "gives duty for joint \"elbow\"", "the order"});
  facts = arm_facts();
  facts.motor[1].kind = MOTOR_AMPERE;
  expect_parts(find_rig_contradiction(rig, facts), {"motor 1 is commanded in A", "gives V"});
  facts = arm_facts();
  facts.motor[1].command_max = 5.99;
  expect_parts(find_rig_contradiction(rig, facts),
               {"motor 1 up to 5.99 V", "\"shoulder\" up to 6"});
  facts.motor[1].command_max = 6.0;
  EXPECT_EQ(find_rig_contradiction(rig, facts), "");
  const RigConfig plain = rig_of(arm_with("control_unit: \"V\"", "control_unit: \"1\""));
  EXPECT_EQ(find_rig_contradiction(plain, arm_facts()), "") << "1 stands for any number";
}

// Each motor drives a joint whose speed follows its command: speed' = gain · command - 2 speed.
struct TwoJoints {
  std::array<double, 2> angle_rad{}, speed{};  // of elbow and shoulder, by motor
  // Outputs of the motors at each tick with the output enabled, as fractions of their range.
  std::vector<std::array<double, 2>> driven;

  void move(const unit& core) {
    constexpr double kStep_s = 1e-3;
    constexpr std::array<double, 2> kGain = {40.0, 100.0};  // [rad/s²] at full range
    std::array<double, 2> share{};
    for (std::size_t m = 0; m < 2; ++m) {
      share[m] = core.output.is_enabled ? core.output.command_q15[m] / 32767.0 : 0.0;
      speed[m] += kStep_s * (kGain[m] * share[m] - 2.0 * speed[m]);
      angle_rad[m] += kStep_s * speed[m];
    }
    if (core.output.is_enabled) driven.push_back(share);
  }

  void read(unit_latch& latch) const {
    constexpr std::array<double, 2> kCounts = {4096.0, 2048.0};
    for (std::size_t e = 0; e < 2; ++e) {  // encoder 0 is on the shoulder, which motor 1 drives
      latch.encoder_counts[e] = static_cast<std::int32_t>(
          std::lround(kCounts[e] * angle_rad[1 - e] / (2.0 * std::numbers::pi)));
    }
  }
};

unit_description two_motor_unit() {
  unit_description board{
      .unit_id = 7, .tick_rate_Hz = 1000, .ttl_max_ms = 100, .encoder_count = 2, .motor_count = 2};
  board.encoder[0] = {ENCODER_COUNTER, 0, 4096, 0};
  board.encoder[1] = {ENCODER_COUNTER, 0, 2048, 0};
  board.motor[0] = {MOTOR_DUTY, 0, 1000, 0};
  board.motor[1] = {MOTOR_VOLT, 0, 12000, 0};
  return board;
}

struct TwoMotorRun {
  RigConfig rig = arm();
  ScenarioConfig scenario = arm_scenario(
      "name: \"both\" duration_s: 1 step { motor: \"shoulder\" command: 3 start_s: 0.25 } "
      "pulse { motor: \"elbow\" command: -0.25 start_s: 0.5 width_s: 0.25 }");
  TwoJoints joints;
  firmware_iface::CoreBoard board{two_motor_unit(),
                                  {.after_tick = [this](unit& core) { joints.move(core); },
                                   .on_latch = [this](unit_latch& latch) { joints.read(latch); }}};
  LyingLine line{board, {2, 2, false}};
  BlackBox black_box;
  firmware_iface::UnitLink link{line, &black_box};
  std::unique_ptr<ControlLoop> loop;
  MemorySink reported;

  void run() {
    ASSERT_TRUE(link.connect().ok());
    ASSERT_EQ(find_rig_contradiction(rig, link.facts()), "");
    ASSERT_TRUE(link.start_stream(make_stream_settings(rig, link.facts())).ok());
    LoopSettings settings;
    settings.joint_count = 2;
    settings.channel = compute_channel_scales(rig);
    settings.ttl_ms = rig.ttl_ms;
    loop = std::make_unique<ControlLoop>(link, black_box, scenario.scenario, scenario.limits,
                                         settings);
    Supervisor supervisor(*loop, black_box, scenario.limits, reported, nullptr,
                          [](const std::string&) {});
    for (int k = 0; k < 5000 && loop->tick(); ++k) supervisor.poll();
    supervisor.poll();
  }
};

// A reported output may differ by one percent of the range of its own motor, 0.12 V here.
TEST(SeveralMotors, ReportTheirOutputsEachWithinItsOwnRange) {
  for (const double off_by_V : {0.1, 0.14}) {
    TwoMotorRun run;
    run.line.on_sample = [off_by_V](sample_report& report) {
      if ((report.status & STATUS_DRIVING) == 0) return;
      report.command_q15[1] += static_cast<std::int16_t>(off_by_V / 12.0 * 32767.0);
    };
    run.run();
    ASSERT_EQ(run.loop->trip() != nullptr, off_by_V > 0.12);
    if (off_by_V < 0.12) continue;
    EXPECT_EQ(run.loop->trip()->cause, TripCause::kCommandMismatch);
    EXPECT_EQ(find_trip_subject(*run.loop->trip(), run.scenario.limits), "shoulder");
  }
}

// Rig file, scenario, loop, link, firmware and plant: each motor follows its own excitation within
// its own limits, and the recording holds both. Catches commands that are swapped anywhere on the
// way.
TEST(SeveralMotors, AreDrivenAndRecordedEachByItsOwnExcitation) {
  TwoMotorRun run;
  run.run();
  ASSERT_EQ(run.loop->trip(), nullptr) << describe_trip(*run.loop->trip(), run.scenario.limits);
  const MemorySink& reported = run.reported;

  double start_s = -1.0;
  int pulses = 0, steps = 0;
  for (const proto::Command& command : reported.commands) {
    ASSERT_EQ(command.motor_count, 2U);
    if (command.command_requested[1] == 3.0 && start_s < 0.0) {
      start_s = command.timestamp_s - 0.25;
    }
    const double since_s = command.timestamp_s - start_s;
    if (start_s < 0.0) {
      EXPECT_EQ(command.command, MotorCommands{});
      continue;
    }
    steps += command.command[1] == 3.0 ? 1 : 0;
    pulses += command.command[0] == -0.25 ? 1 : 0;
    EXPECT_LE(std::abs(command.command[1]), std::min(3.0, 0.5 + 500.0 * (since_s - 0.25)) + 1e-9);
    EXPECT_EQ(command.command[0] != 0.0 || command.command_requested[0] != 0.0,
              since_s > 0.4995 && since_s < 0.7615)  // 12.5 ms of slew at 20/s after the pulse
        << since_s;
  }
  EXPECT_NEAR(steps, 745, 3) << "three volts from 6 ms after the step on";
  EXPECT_NEAR(pulses, 238, 3);
  // The samples must report the unit's actual output, each in its own unit of measure.
  const auto largest = [&](std::size_t motor) {
    double most = 0.0;
    for (const auto& share : run.joints.driven) most = std::max(most, std::abs(share[motor]));
    return most;
  };
  EXPECT_NEAR(largest(0), 0.25, 1.0 / 32767.0);
  EXPECT_NEAR(largest(1), 3.0 / 12.0, 1.0 / 32767.0);
  double seen_V = 0.0, seen_duty = 0.0;
  for (const proto::Sample& sample : reported.samples) {
    ASSERT_EQ(sample.motor_count, 2U);
    seen_duty = std::min(seen_duty, sample.command[0]);
    seen_V = std::max(seen_V, sample.command[1]);
  }
  EXPECT_NEAR(seen_duty, -0.25, 1.0 / 32767.0);
  EXPECT_NEAR(seen_V, 3.0, 12.0 / 32767.0);
  // The shoulder's channel is first and moved forward, the elbow's is second.
  EXPECT_NEAR(reported.samples.back().angle_rad[0], run.joints.angle_rad[1], 0.05);
  EXPECT_GT(reported.samples.back().angle_rad[0], 1.0);
  EXPECT_LT(reported.samples.back().angle_rad[1], -0.5);
}

// A duty goes to the unit and back as a fraction of its range. Taken for volts, 0.4 would be 4 % of
// the range.
TEST(Duty, ReachesTheUnitAsAShareOfTheSupply) {
  auto simulation = simulation_settings();
  simulation.unit.motor[0] = {MOTOR_DUTY, 1.0};
  simulation.unit.command_bits = 0;
  SafetyLimits limits = furuta_limits();
  limits.motor = {{"arm", 0.5, 500.0}};
  SimulatedRig run(Scenario("pulse", Pulse{.amplitude = 0.4, .start_s = 0.05, .width_s = 0.1}, 0.3),
                   furuta_settings(), simulation, limits);
  double most = 0.0;
  run.run([&](SimulatedRig& now, int) { most = std::max(most, now.sim_unit().output_V()); });
  EXPECT_STREQ(firmware_iface::motor_command_unit(run.link().facts().motor[0].kind), "duty");
  EXPECT_NEAR(most, 0.4, 1.0 / 32767.0);
  double recorded = 0.0;
  for (const proto::Sample& sample : run.sink().samples) {
    recorded = std::max(recorded, sample.command[0]);
  }
  EXPECT_NEAR(recorded, 0.4, 1.0 / 32767.0);
}

}  // namespace
}  // namespace daq
