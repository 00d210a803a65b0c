#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "service/convert/scenario_file.hpp"
#include "service/simulation/excitation.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

const std::string kConfigs = std::string(RIG_SOURCE_DIR) + "/configs/";

Rig furuta() { return load_rig(kConfigs + "rig-furuta.textproto"); }

// Catches a scenario file that the schema has left behind or that names hinges of another rig.
TEST(ScenarioFiles, LoadForTheirRig) {
  const Rig rig = furuta();
  for (const char* file :
       {"scenario-release.textproto", "scenario-swing-up.textproto", "scenario-pulse.textproto",
        "scenario-step.textproto", "scenario-chirp.textproto", "scenario-multisine.textproto",
        "scenario-replay.textproto"}) {
    SCOPED_TRACE(file);
    const Scenario scenario = load_scenario(kConfigs + file, rig);
    EXPECT_GT(scenario.duration, 0.0);
    EXPECT_EQ(scenario.initial_angles.size(), 2);
    const bool driven = std::string(file) != "scenario-release.textproto";
    EXPECT_EQ(scenario.motor, driven ? 0 : -1);
  }
  const Rig pendulum = load_rig(kConfigs + "rig-pendulum.textproto");
  EXPECT_NO_THROW((void)load_scenario(kConfigs + "scenario-pendulum-release.textproto", pendulum));
}

// The replayed commands are those of replay-staircase.csv, found beside the scenario file.
TEST(ScenarioFiles, ReplayHoldsEachRowUntilTheNext) {
  const Scenario scenario = load_scenario(kConfigs + "scenario-replay.textproto", furuta());
  const auto& replay = std::get<Replay>(scenario.excitation);
  EXPECT_EQ(replay.command({0.99, 0, 0}), 0.0);
  EXPECT_EQ(replay.command({1.0, 0, 0}), 1.0);
  EXPECT_EQ(replay.command({1.999, 0, 0}), 1.0);
  EXPECT_EQ(replay.command({5.7, 0, 0}), -2.0);
  EXPECT_EQ(replay.command({100.0, 0, 0}), 0.0);
}

TEST(ScenarioFiles, RefuseWithPlaceCauseAndRemedy) {
  const Rig rig = furuta();
  const auto refusal_of = [&](const std::string& text) {
    return refusal([&] { (void)parse_scenario("s.textproto", text, rig); });
  };
  expect_parts(refusal_of("duration_s: 1"), {"s.textproto", "no excitation", "release"});
  expect_parts(refusal_of("release { }"), {"s.textproto", "duration_s", "positive"});
  expect_parts(refusal_of("duration_s: 1\nstep { moter: \"1\" }"),
               {"s.textproto:2:", "'moter'", "motor, command, start_s"});
  expect_parts(refusal_of("duration_s: 1\nstep { motor: \"3\" command: 1 }"),
               {"s.textproto:2:8", "no hinge '3'", "1, 2"});
  expect_parts(refusal_of("duration_s: 1\nstep { motor: \"2\" command: 1 }"),
               {"s.textproto:2:8", "no motor"});
  expect_parts(refusal_of("duration_s: 1\npulse { motor: \"1\" command: 1 width_s: 0 }"),
               {"s.textproto:2:", "width_s"});
  expect_parts(refusal_of("duration_s: 1\ninitial { hinge: \"x\" }\nrelease { }"),
               {"s.textproto:2:", "no hinge 'x'"});
  expect_parts(refusal_of("duration_s: 1\nmultisine { motor: \"1\" }"),
               {"s.textproto:2:1", "sine"});
  expect_parts(refusal_of("duration_s: 1\nreplay { motor: \"1\" file: \"/nowhere.csv\" }"),
               {"/nowhere.csv", "cannot be opened"});
  expect_parts(refusal_of("duration_s: 1\nstep { motor: \"1\" command: nan }"),
               {"s.textproto:2:", "finite"});
}

// A rig's own limit holds even where the scenario states none or a larger one.
TEST(ScenarioFiles, CommandIsLimitedByTheRig) {
  const Scenario none =
      parse_scenario("s", "duration_s: 1 step { motor: \"1\" command: 99 }", furuta());
  EXPECT_EQ(none.command_max, 10.0);
  const Scenario larger = parse_scenario(
      "s", "duration_s: 1 step { motor: \"1\" command: 99 } limits { command_max: 50 }", furuta());
  EXPECT_EQ(larger.command_max, 10.0);
  const Scenario smaller = parse_scenario(
      "s", "duration_s: 1 step { motor: \"1\" command: 99 } limits { command_max: 2 }", furuta());
  EXPECT_EQ(smaller.command_max, 2.0);
}

// The instantaneous frequency of the sine is the slope of its phase: count turns from the start
// and compare with the mean of the two frequencies.
TEST(Excitation, ChirpSweepsLinearly) {
  const Chirp chirp{2.0, 1.0, 5.0, 1.0, 11.0};
  EXPECT_EQ(chirp.command({0.99, 0, 0}), 0.0);
  int rising_zeros = 0;
  double last = -1.0;
  for (double t = 1.0; t <= 11.0; t += 1e-3) {
    const double u = chirp.command({t, 0, 0});
    EXPECT_LE(std::abs(u), 2.0);
    if (last < 0.0 && u >= 0.0) ++rising_zeros;
    last = u;
  }
  EXPECT_NEAR(rising_zeros, 0.5 * (1.0 + 5.0) * 10.0, 1.0);
}

TEST(Excitation, PulseAndStepCoverTheirTimes) {
  const Pulse pulse{3.0, 0.5, 1.0};
  EXPECT_EQ(pulse.command({0.49, 0, 0}), 0.0);
  EXPECT_EQ(pulse.command({0.5, 0, 0}), 3.0);
  EXPECT_EQ(pulse.command({1.5, 0, 0}), 0.0);
  const Step step{-1.0, 0.5};
  EXPECT_EQ(step.command({0.4, 0, 0}), 0.0);
  EXPECT_EQ(step.command({99.0, 0, 0}), -1.0);
}

// Equal amplitudes with Schroeder's phases stay near a crest factor of 1.7; in phase they would
// reach √(2 n) = 4.2 for nine sines.
TEST(Excitation, SchroederPhasesKeepThePeakLow) {
  Multisine multisine;
  constexpr int kTones = 9;
  for (int i = 1; i <= kTones; ++i) {
    multisine.tones.push_back({0.1 * i, 1.0, schroeder_phase(i, kTones)});
  }
  double peak = 0.0;
  for (double t = 0.0; t < 10.0; t += 1e-3) {
    peak = std::max(peak, std::abs(multisine.command({t, 0, 0})));
  }
  EXPECT_LT(peak / std::sqrt(0.5 * kTones), 2.0);
}

// E = 1 at rest upright: nothing more to pump. Below, the command follows the sign of w cos θ.
TEST(Excitation, SwingUpPumpsTowardTheUprightEnergy) {
  const SwingUp swing_up{5.0, 2.0, 1.0, 0.1, 1.5, 0.2};
  EXPECT_EQ(swing_up.command({0.1, 0.0, 0.0}), 1.5);
  EXPECT_EQ(swing_up.command({1.0, 0.1, 1.0}), 2.0);
  EXPECT_EQ(swing_up.command({1.0, 0.1, -1.0}), -2.0);
  EXPECT_EQ(swing_up.command({1.0, std::numbers::pi - 0.05, 1.0}), 0.0);
  // Too much energy brakes: w = 3 w0 hanging is E = 4.5 − 1.
  const double fast = 3.0 * 2.0 * std::numbers::pi;
  EXPECT_EQ(swing_up.command({1.0, 0.0, fast}), -2.0);
}

}  // namespace
}  // namespace service
