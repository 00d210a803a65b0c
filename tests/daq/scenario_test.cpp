#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "daq/scenario/catalog.hpp"
#include "daq/scenario/plan.hpp"
#include "tests/support/alloc_counter.hpp"
#include "tests/support/refusal.hpp"

namespace daq {
namespace {

using std::numbers::pi;
using test_support::expect_parts;

Observation at(double time_s, double angle_rad = 0.0, double speed_rad_per_s = 0.0) {
  Observation observation{.time_s = time_s};
  for (JointState& joint : observation.joint) joint = {angle_rad, speed_rad_per_s, true};
  return observation;
}

Multisine ten_tones() {
  Multisine multisine{.duration_s = 10.0};
  for (int k = 1; k <= 10; ++k)
    multisine.tones.push_back({.frequency_Hz = 0.1 * k, .amplitude = 1});
  return multisine;
}

// One of each kind, so that the property tests cover every entry of the catalog.
std::vector<Scenario> one_of_each() {
  Multisine multisine = ten_tones();
  choose_multisine_phases(multisine);
  std::vector<Scenario> all;
  all.emplace_back("release", Release({.held_angle_rad = pi}), 5.0);
  all.emplace_back("swing_up",
                   SwingUp({.energy_gain = 3,
                            .command_max = 2,
                            .natural_frequency_Hz = 1.3,
                            .kick_command = 1,
                            .kick_time_s = 0.1}),
                   5.0);
  all.emplace_back("pulse", Pulse{.amplitude = 2, .start_s = 0.5, .width_s = 1}, 5.0);
  all.emplace_back("pulse_train",
                   PulseTrain{{{.amplitude = 2, .start_s = 0.5, .width_s = 1},
                               {.amplitude = -3, .start_s = 2, .width_s = 0.5},
                               {.amplitude = 1.5, .start_s = 1, .width_s = 2}}},
                   5.0);
  all.emplace_back("step", Step{.amplitude = -1.5, .start_s = 1}, 5.0);
  all.emplace_back("chirp",
                   Chirp{.amplitude = 1,
                         .frequency_start_Hz = 0.1,
                         .frequency_end_Hz = 5,
                         .start_s = 0,
                         .end_s = 5},
                   5.0);
  all.emplace_back("multisine", multisine, 5.0);
  all.emplace_back(
      "nudge",
      TestPush({.level = 0.5, .push_s_max = 0.2, .motion_rad = 0.1, .other_motion_rad = 0.1}), 5.0);
  all.emplace_back("replay", Replay({3.0, 3.5, 8.0}, {1.0, -2.0, 0.0}), 5.0);
  all.emplace_back(
      "position_feedback",
      PositionFeedback({.proportional_gain = 3, .derivative_gain = 0.5, .command_max = 2}), 5.0);
  return all;
}

// The catalog is the list that the command line offers. Catches an entry without a test.
TEST(Catalog, IsCoveredEntryByEntry) {
  EXPECT_EQ(one_of_each().size(), std::variant_size_v<Excitation>);
}

// The start-up check compares the declared peak with the rig's limit. Catches a scenario that
// commands more than it declares.
TEST(Scenario, NeverExceedsItsDeclaredPeak) {
  for (Scenario& scenario : one_of_each()) {
    SCOPED_TRACE(scenario.name());
    EXPECT_TRUE(scenario.validation_errors().empty());
    const double peak = scenario.command_peak();
    for (int k = 0; k < 6000; ++k) {
      const double t = 1e-3 * k;
      const double command =
          scenario.compute_command(at(t, 3.0 * std::sin(9 * t), 27.0 * std::cos(9 * t)));
      EXPECT_LE(std::abs(command), peak + 1e-12);
    }
  }
}

TEST(Scenario, CommandDoesNotAllocate) {
  if (!test_support::AllocCounter::works()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  for (Scenario& scenario : one_of_each()) {
    SCOPED_TRACE(scenario.name());
    const test_support::AllocCounter allocations;
    for (int k = 0; k < 6000; ++k) scenario.compute_command(at(1e-3 * k, 1.0, 1.0));
    EXPECT_EQ(allocations.count(), 0);
  }
}

double crest_factor(const Multisine& multisine) {
  double peak = 0.0, square = 0.0;
  constexpr int kCount = 20'000;
  for (int k = 0; k < kCount; ++k) {
    const double value = multisine.compute_command(at(multisine.duration_s * k / kCount));
    peak = std::max(peak, std::abs(value));
    square += value * value;
  }
  return peak / std::sqrt(square / kCount);
}

// Ten equal tones in phase have a crest factor of about √20, Schroeder's phases about 1.7. Phases
// that are not optimized stay above.
TEST(Multisine, ChosenPhasesBeatSchroedersPhases) {
  Multisine schroeder = ten_tones();
  for (std::size_t i = 0; i < schroeder.tones.size(); ++i) {
    const auto n = static_cast<double>(i + 1);
    schroeder.tones[i].phase_rad = -pi * n * (n - 1.0) / 10.0;
  }
  Multisine chosen = ten_tones();
  choose_multisine_phases(chosen);
  EXPECT_LT(crest_factor(chosen), 0.93 * crest_factor(schroeder));
  EXPECT_GE(crest_factor(chosen), std::sqrt(2.0));  // Guillaume's bound for a single tone
}

// A phase in the scenario file is fixed, and a rerun must give the same signal.
TEST(Multisine, KeepsStatedPhasesAndChoosesTheOthersRepeatably) {
  Multisine first = ten_tones();
  first.tones[3].phase_rad = 0.25;
  Multisine second = first;
  choose_multisine_phases(first);
  choose_multisine_phases(second);
  EXPECT_EQ(first.tones[3].phase_rad, 0.25);
  for (std::size_t i = 0; i < first.tones.size(); ++i) {
    EXPECT_EQ(first.tones[i].phase_rad, second.tones[i].phase_rad);
  }
}

// Faded in over 2 s, cos(2π 0.1 t) is t/2 cos(0.2π t), largest at t tan(0.2π t) = 1/(0.2π).
TEST(Multisine, PeakAccountsForTheFadeIn) {
  const Multisine multisine{.tones = {{0.1, 1.0, pi / 2.0}}, .ramp_s = 2.0, .duration_s = 2.5};
  double peak = 0.0;
  for (int k = 0; k < 2500; ++k) {
    peak = std::max(peak, std::abs(multisine.compute_command(at(1e-3 * k))));
  }
  EXPECT_NEAR(peak, 0.447, 1e-3);
  EXPECT_GE(multisine.command_peak(), peak);
  EXPECT_LT(multisine.command_peak(), 1.01 * peak);
  // Of t sin(t) / T, the largest value lies anywhere between two points of the grid.
  for (double end_s = 2.05; end_s < 2.6; end_s += 0.005) {
    const Multisine faded{.tones = {{0.5 / pi, 1.0, 0.0}}, .ramp_s = end_s, .duration_s = end_s};
    EXPECT_GE(faded.command_peak(), 1.8197057 / end_s) << end_s;
    EXPECT_LT(faded.command_peak(), 1.821 / end_s) << end_s;
  }
}

TEST(Replay, ReportsTheRowWhereTimeDoesNotIncrease) {
  const Replay replay({0.0, 1.0, 1.0}, {1.0, 1.0, 1.0});
  ASSERT_EQ(replay.validation_errors().size(), 1U);
  expect_parts(replay.validation_errors()[0], {"row 3"});
}

// Plays an operator: lift, hold, let go, swing, rest. The duration starts at the release, so a slow
// operator does not shorten the recording.
TEST(Release, FollowsTheOperator) {
  Scenario release("release",
                   Release({.held_angle_rad = pi,
                            .held_tolerance_rad = 0.1,
                            .rest_speed_rad_per_s = 0.05,
                            .rest_time_s = 1.0}),
                   60.0);
  double t = 0.0;
  const auto play = [&](double seconds, double angle_rad, double speed_rad_per_s) {
    for (const double end = t + seconds; t < end; t += 1e-3) {
      EXPECT_EQ(release.compute_command(at(t, angle_rad, speed_rad_per_s)), 0.0);
    }
  };
  play(1.0, 0.0, 0.0);
  EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForHold);
  play(0.1, -pi, 0.0);  // held on the other side, but not long enough yet
  EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForHold);
  play(100.0, -pi, 0.0);
  EXPECT_EQ(release.phase(), ScenarioPhase::kWaitingForRelease);
  play(5.0, -2.0, 3.0);
  EXPECT_EQ(release.phase(), ScenarioPhase::kRunning);
  play(0.9, 0.0, 0.01);
  EXPECT_EQ(release.phase(), ScenarioPhase::kRunning);
  play(0.2, 0.0, 0.01);
  EXPECT_EQ(release.phase(), ScenarioPhase::kFinished);
}

// A cart's position is not wrapped by a whole "turn", and its rest is judged by its own speed.
TEST(Release, DoesNotWrapAPrismaticJoint) {
  const ReleaseSettings settings{.slides = {true},
                                 .held_angle_rad = 0.2,
                                 .held_tolerance_rad = 0.01,
                                 .rest_speed_m_per_s = 0.02,
                                 .rest_time_s = 1.0};
  Release elsewhere(settings), held(settings), moving(settings);
  for (int k = 0; k < 1000; ++k) {
    elsewhere.compute_command(at(1e-3 * k, 0.2 + 2.0 * pi));
    held.compute_command(at(1e-3 * k, 0.2, 0.04));
    moving.compute_command(at(1e-3 * k, 0.2, 0.06));
  }
  EXPECT_EQ(elsewhere.phase(), ScenarioPhase::kWaitingForHold);
  EXPECT_EQ(moving.phase(), ScenarioPhase::kWaitingForHold);
  EXPECT_EQ(held.phase(), ScenarioPhase::kWaitingForRelease);
  held.compute_command(at(1.1, 0.3, 0.1));
  for (int k = 1200; k < 2500; ++k) held.compute_command(at(1e-3 * k, 0.3, 0.03));
  EXPECT_EQ(held.phase(), ScenarioPhase::kRunning);
  for (int k = 2500; k < 3600; ++k) held.compute_command(at(1e-3 * k, 0.3, 0.01));
  EXPECT_EQ(held.phase(), ScenarioPhase::kFinished);
}

// Every joint must be at rest: one that moves in either direction, or has no reading, keeps the run
// going.
TEST(Release, WaitsForEveryJointToRest) {
  for (const std::size_t moving : {0U, 1U}) {
    for (const JointState& state :
         {JointState{0.0, 0.2, true}, JointState{0.0, -0.2, true}, JointState{0.0, 0.0, false}}) {
      Release release({.has_operator = false,
                       .joint_count = 2,
                       .rest_speed_rad_per_s = 0.05,
                       .rest_time_s = 1.0});
      for (int k = 0; k < 3000; ++k) {
        Observation now = at(1e-3 * k);
        now.joint[moving] = state;
        release.compute_command(now);
      }
      EXPECT_EQ(release.phase(), ScenarioPhase::kRunning) << "joint " << moving;
      for (int k = 3000; k < 4100; ++k) release.compute_command(at(1e-3 * k));
      EXPECT_EQ(release.phase(), ScenarioPhase::kFinished) << "joint " << moving;
    }
  }
}

// Integrates a cart-driven pendulum θ'' = −w₀² (sin θ + a cos θ), with the arm's acceleration −a
// proportional to the command. The energy must reach that of the upright position. With a wrong
// sign of the energy error or of the pumping direction it never does.
TEST(SwingUp, BringsAHangingPendulumToTheTopAndThenStopsDriving) {
  constexpr double kFrequency_Hz = 1.2, kStep = 1e-3;
  const double w_0 = 2 * pi * kFrequency_Hz;
  Scenario scenario("swing-up",
                    SwingUp({.energy_gain = 2.0,
                             .command_max = 0.6,
                             .natural_frequency_Hz = kFrequency_Hz,
                             .stop_angle_rad = 0.3,
                             .kick_command = 0.3,
                             .kick_time_s = 0.2}),
                    60.0);
  double theta = 0.0, w = 0.0, highest = -1.0;
  for (int k = 0; k < 30'000; ++k) {
    const double u = scenario.compute_command(at(kStep * k, theta, w));
    EXPECT_LE(std::abs(u), 0.6);
    const bool near_upright = std::abs(std::remainder(theta - pi, 2 * pi)) < 0.3;
    EXPECT_TRUE(!near_upright || u == 0.0) << "theta = " << theta;
    w += kStep * w_0 * w_0 * (-std::sin(theta) + u * std::cos(theta));
    theta += kStep * w;
    highest = std::max(highest, -std::cos(theta));
  }
  EXPECT_GT(highest, 0.99);
}

// The command pulls toward the setpoint, brakes, ends at its limit, and is zero without a reading.
TEST(PositionFeedback, PullsTowardTheSetpointAndBrakes) {
  const PositionFeedback feedback({.joint = 1,
                                   .setpoint_rad = 0.5,
                                   .proportional_gain = 2.0,
                                   .derivative_gain = 0.1,
                                   .command_max = 1.5});
  const auto command = [&](double angle_rad, double speed_rad_per_s, bool valid = true) {
    Observation now = at(0.0, 9.0, 9.0);
    now.joint[1] = {angle_rad, speed_rad_per_s, valid};
    return feedback.compute_command(now);
  };
  EXPECT_DOUBLE_EQ(command(0.2, 0.0), 0.6);
  EXPECT_DOUBLE_EQ(command(0.8, 0.0), -0.6);
  EXPECT_DOUBLE_EQ(command(0.5, 4.0), -0.4);
  EXPECT_DOUBLE_EQ(command(-3.0, 0.0), 1.5);
  EXPECT_DOUBLE_EQ(command(3.0, 0.0), -1.5);
  EXPECT_EQ(command(0.2, 0.0, false), 0.0);
}

// Catches a feedback that replaces the other command or is replaced by it.
TEST(PositionFeedback, IsAddedToTheExcitationOfItsMotor) {
  Scenario scenario(
      "both",
      {{Step{.amplitude = 1.0}, 1},
       {Step{.amplitude = 0.25}, 0},
       {PositionFeedback({.joint = 1, .proportional_gain = 2.0, .command_max = 0.75}), 1}},
      1.0);
  EXPECT_FALSE(scenario.is_open_loop());
  EXPECT_EQ(scenario.command_peak(0), 0.25);
  EXPECT_EQ(scenario.command_peak(1), 1.75);
  MotorCommands commands;
  scenario.compute_command(at(0.0, 0.1), commands);
  EXPECT_DOUBLE_EQ(commands[0], 0.25);
  EXPECT_DOUBLE_EQ(commands[1], 0.8);
}

TEST(Plan, ListsTheCommandOfEverySample) {
  const CommandPlan plan = make_command_plan(
      Scenario("pulse", Pulse{.amplitude = 2, .start_s = 0.25, .width_s = 0.25}, 1.0), 0.25,
      {{"arm", "V"}});
  ASSERT_EQ(plan.motors.size(), 1U);
  EXPECT_EQ(plan.motors[0].command, (std::vector<double>{0, 2, 0, 0}));
  EXPECT_EQ(command_plan_csv(plan), "t_s,command\n0,0\n0.25,2\n0.5,0\n1,0\n");
}

// A plan has every sample before the end of the run, as the loop sends them: also one in the last,
// incomplete period, and no further one after a duration of whole periods.
TEST(Plan, HasEverySampleOfARun) {
  for (const double rate_Hz : {1000.0, 500.0, 333.0}) {
    for (int k = 1; k <= 400; ++k) {
      for (const double periods : {k + 0.0, k + 0.25, k + 0.75}) {
        const Scenario step("step", Step{.amplitude = 1.0}, periods / rate_Hz);
        Scenario run = step;
        std::size_t sent = 0;
        for (int tick = 0; tick < k + 2; ++tick) {
          sent += run.compute_command({tick / rate_Hz, {}}) != 0.0 ? 1U : 0U;
        }
        const CommandPlan plan = make_command_plan(step, 1.0 / rate_Hz, {{"arm", "V"}});
        ASSERT_EQ(std::ranges::count(plan.motors[0].command, 1.0), sent) << periods;
        ASSERT_EQ(plan.motors[0].command.size(), sent) << periods << " at " << rate_Hz;
      }
    }
  }
}

Scenario two_motors() {
  return {"both",
          {{Pulse{.amplitude = 2, .start_s = 0.25, .width_s = 0.25}, 2},
           {Step{.amplitude = -0.5, .start_s = 0.5}, 0}},
          1.0};
}

// Each excitation drives its own motor, and a motor without one stays at zero. Catches commands
// that are assigned by the order in the file.
TEST(ScenarioOfSeveralMotors, CommandsEachItsOwn) {
  Scenario scenario = two_motors();
  EXPECT_EQ(scenario.command_peak(), 2.0);
  EXPECT_EQ(scenario.command_peak(0), 0.5);
  EXPECT_EQ(scenario.command_peak(1), 0.0);
  EXPECT_EQ(scenario.command_peak(2), 2.0);
  EXPECT_TRUE(scenario.is_open_loop());
  MotorCommands commands;
  commands.fill(9.0);
  scenario.compute_command(at(0.3, 0.0, 0.0), commands);
  EXPECT_EQ(commands, (MotorCommands{0.0, 0.0, 2.0}));
  scenario.compute_command(at(0.7, 0.0, 0.0), commands);
  EXPECT_EQ(commands, (MotorCommands{-0.5}));
  commands.fill(9.0);
  scenario.compute_command(at(1.4, 0.0, 0.0), commands);
  EXPECT_EQ(commands, MotorCommands{}) << "finished";
  EXPECT_EQ(scenario.phase(), ScenarioPhase::kFinished);
}

// A peak that is not a number is not hidden by that of another motor.
TEST(ScenarioOfSeveralMotors, HasNoFinitePeakIfOneIsNotFinite) {
  const Step step{.amplitude = 1.0}, unknown{.amplitude = std::nan("")};
  for (const auto& [first, second] : {std::pair(step, unknown), std::pair(unknown, step)}) {
    EXPECT_FALSE(std::isfinite(Scenario("two", {{first, 0}, {second, 1}}, 1.0).command_peak()));
  }
}

// Test pushes of several motors end the run when the last of them is over, whichever it is, and a
// feedback beside them has no end of its own.
TEST(ScenarioOfSeveralMotors, EndsWithTheLastTestPush) {
  const auto push = [](std::size_t joint, double push_s_max) {
    return MotorExcitation{TestPush({.joint = joint,
                                     .joint_count = 2,
                                     .level = 1.0,
                                     .push_s_max = push_s_max,
                                     .motion_rad = 1.0,
                                     .other_motion_rad = 1.0,
                                     .rest_s = 0.25}),
                           joint};
  };
  const MotorExcitation feedback{
      PositionFeedback({.joint = 2, .proportional_gain = 1.0, .command_max = 1.0}), 2};
  for (const bool is_first_longer : {false, true}) {
    SCOPED_TRACE(is_first_longer);
    const double first_s = is_first_longer ? 2.0 : 1.0;
    Scenario scenario("both", {push(0, first_s), push(1, 3.0 - first_s), feedback}, 10.0);
    MotorCommands commands;
    for (double time_s = 0.0; time_s < 2.25; time_s += 0.125) {
      scenario.compute_command(at(time_s, 0.0, 0.0), commands);
      EXPECT_EQ(scenario.phase(), ScenarioPhase::kRunning) << time_s;
      EXPECT_EQ(commands[is_first_longer ? 0 : 1], time_s < 2.0 ? 1.0 : 0.0) << time_s;
    }
    scenario.compute_command(at(2.25, 0.0, 0.0), commands);
    EXPECT_EQ(scenario.phase(), ScenarioPhase::kFinished);
  }
}

// One excitation that depends on the motion makes the whole scenario depend on it.
TEST(ScenarioOfSeveralMotors, IsOpenLoopWhenEachExcitationIs) {
  const std::vector<Excitation> open = {Pulse{}, Step{}, Chirp{}, Multisine{}, PulseTrain{}};
  const std::vector<Excitation> closed = {Release(ReleaseSettings{}), SwingUp(SwingUpSettings{}),
                                          TestPush(TestPushSettings{}),
                                          PositionFeedback(PositionFeedbackSettings{})};
  for (const Excitation& each : open) {
    EXPECT_TRUE(Scenario("open", {{Step{}, 0}, {each, 1}}, 1.0).is_open_loop()) << each.index();
    for (const Excitation& other : closed) {
      EXPECT_FALSE(Scenario("mixed", {{each, 0}, {other, 1}}, 1.0).is_open_loop()) << other.index();
    }
  }
}

// Both motors must appear in the replay table and in the plot.
TEST(ScenarioOfSeveralMotors, IsPlannedMotorByMotor) {
  const CommandPlan plan =
      make_command_plan(two_motors(), 0.25, {{"arm", "V"}, {"elbow", "A"}, {"wrist", "duty"}});
  EXPECT_EQ(command_plan_csv(plan),
            "t_s,command_arm,command_elbow,command_wrist\n"
            "0,0,0,0\n0.25,0,0,2\n0.5,-0.5,0,0\n1,0,0,0\n");
  const std::string svg = command_plan_svg(plan, "both");
  expect_parts(svg, {">command of arm [V]<", ">command of elbow [A]<", ">command of wrist [duty]<",
                     "translate(0 680)", "height=\"1020\""});
}

// The plot must show the pulse at its place, on readable axes: 800 px for 1 s.
TEST(Plan, IsDrawnToScale) {
  const CommandPlan plan = make_command_plan(
      Scenario("pulse", Pulse{.amplitude = 2, .start_s = 0.25, .width_s = 0.25}, 1.0), 1e-3,
      {{"arm", "V"}});
  const std::string svg = command_plan_svg(plan, "pulse");
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  expect_parts(
      svg, {"M60.00 170.00H260.00V50.00H460.00V170.00H860.00", ">pulse<", ">time [s]<",
            ">command [V]<", ">0.2<", ">-2.0<", "<text x=\"450\" y=\"22\" text-anchor=\"middle\">",
            "M220.00 50.00L220.00 290.00", "M60.00 170.00L860.00 170.00"});
  expect_parts(command_plan_svg(plan, "a<b> & \x1b"), {">a&lt;b&gt; &amp; \\u001b</text>"});
  // Only changes are drawn: a minute at rest is one line.
  const Scenario rest("rest", Step{.amplitude = 0}, 60.0);
  EXPECT_LT(command_plan_svg(make_command_plan(rest, 1e-3, {{"arm", "V"}}), "").size(), 5000u);
}

}  // namespace
}  // namespace daq
