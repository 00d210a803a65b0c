#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "service/simulation/scenario.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

const std::string kConfigs = test_support::source_folder() + "/configs/";

Rig furuta() { return load_rig(kConfigs + "rig-furuta.textproto"); }

// Catches a scenario file that is out of date with the schema or names joints of another rig.
TEST(ScenarioFiles, LoadForTheirRig) {
  const Rig rig = furuta();
  for (const char* file :
       {"scenario-release.textproto", "scenario-swing-up.textproto", "scenario-pulse.textproto",
        "scenario-step.textproto", "scenario-chirp.textproto", "scenario-multisine.textproto",
        "scenario-replay.textproto"}) {
    SCOPED_TRACE(file);
    const Scenario scenario = load_scenario(kConfigs + file, rig);
    EXPECT_GT(scenario.excitation.duration_s(), 0.0);
    EXPECT_EQ(scenario.initial_angles.size(), 2);
    const bool driven = std::string(file) != "scenario-release.textproto";
    EXPECT_EQ(scenario.excitation.command_peak() > 0.0, driven);
  }
  const Rig pendulum = load_rig(kConfigs + "rig-pendulum.textproto");
  EXPECT_NO_THROW((void)load_scenario(kConfigs + "scenario-pendulum-release.textproto", pendulum));
}

TEST(ScenarioFiles, RefuseWithPlaceCauseAndRemedy) {
  const Rig rig = furuta();
  const auto refusal_of = [&](const std::string& text) {
    return refusal([&] { (void)parse_scenario("s.textproto", text, rig); });
  };
  expect_parts(refusal_of("duration_s: 1"), {"s.textproto", "has no excitation", "release"});
  expect_parts(refusal_of("release { }"), {"s.textproto", "duration_s", "positive"});
  expect_parts(refusal_of("duration_s: 1\nstep { moter: \"1\" }"),
               {"s.textproto:2:", "\"moter\"", "motor, command, start_s"});
  expect_parts(refusal_of("duration_s: 1\nstep { motor: \"3\" command: 1 }"),
               {"s.textproto:2:8", "\"3\" has no motor", "write motor: \"1\""});
  expect_parts(refusal_of("duration_s: 1\nstep { command: 1 }"),
               {"s.textproto:2:", "names no motor", "write motor: \"1\""});
  expect_parts(refusal_of("duration_s: 1\nstep { motor: \"2\" command: 1 }"),
               {"s.textproto:2:8", "no motor"});
  expect_parts(refusal_of("duration_s: 1\npulse { motor: \"1\" command: 1 width_s: 0 }"),
               {"s.textproto:2:", "width_s"});
  expect_parts(refusal_of("duration_s: 1\ninitial { joint: \"x\" }\nrelease { }"),
               {"s.textproto:2:", "no joint \"x\""});
  expect_parts(refusal_of("duration_s: 1\nmultisine { motor: \"1\" }"),
               {"s.textproto:2:1", "sine"});
  expect_parts(refusal_of("duration_s: 1\nswing_up { motor: \"1\" pendulum: \"3\" }"),
               {"s.textproto:2:", "\"3\"", "\"1\", \"2\""});
  expect_parts(refusal_of("duration_s: 1\nmultisine { motor: \"1\"\n sine { frequency_hz: 1 }\n"
                          " sine { amplitude: 1 } }"),
               {"s.textproto:4:2", "sine[1].frequency_hz must be positive"});
  expect_parts(refusal_of("duration_s: 1\nreplay { motor: \"1\" file: \"/nowhere.csv\" }"),
               {"/nowhere.csv", "cannot be opened"});
  expect_parts(refusal_of("duration_s: 1\nstep { motor: \"1\" command: nan }"),
               {"s.textproto:2:", "finite"});
}

// The rig's own limits hold if the scenario states none, and the scenario's if they are tighter.
TEST(ScenarioFiles, CommandIsLimitedByTheRigAndTheScenario) {
  const std::string step = "duration_s: 1 step { motor: \"1\" command: 2 } ";
  const auto limits = [&](const std::string& more) {
    return parse_scenario("s", step + more, furuta()).command_limits.at(0);
  };
  EXPECT_EQ(limits("").command_max, 10.0);
  EXPECT_EQ(limits("").command_slew_per_s_max, 10'000.0) << "the default: all of it in 1 ms";
  const daq::CommandLimits tight = limits("limits { command_max: 2 command_slew_max: 50 }");
  EXPECT_EQ(tight.command_max, 2.0);
  EXPECT_EQ(tight.command_slew_per_s_max, 50.0);
  EXPECT_EQ(limits("limits { command_max: 10 command_slew_max: 10000 }").command_max, 10.0);
  Rig rig = furuta();
  rig.joint_facts[0].safety->command_slew_per_s_max = 70.0;
  EXPECT_EQ(parse_scenario("s", step, rig).command_limits.at(0).command_slew_per_s_max, 70.0);
  rig.joint_facts[0].safety.reset();
  rig.joint_facts[0].control_max = 3.0;
  EXPECT_EQ(parse_scenario("s", step, rig).command_limits.at(0).command_max, 3.0);
  EXPECT_TRUE(
      std::isinf(parse_scenario("s", step, rig).command_limits.at(0).command_slew_per_s_max));
}

// A scenario that rigcal-daq refuses is not simulated with a modified command either.
TEST(ScenarioFiles, CommandBeyondTheLimitsIsRefused) {
  const auto refusal_of = [](const std::string& text) {
    return refusal([&] { (void)parse_scenario("s.textproto", text, furuta()); });
  };
  const std::string step = "duration_s: 1\nstep { motor: \"1\" command: 2 }\n";
  expect_parts(refusal_of(step + "limits { command_max: 10.1 }"),
               {"s.textproto:3:10", "command_max is 10.1, the rig file allows 10"});
  expect_parts(refusal_of(step + "limits { command_slew_max: 10001 }"),
               {"s.textproto:3:10", "command_slew_max is 10001, the rig file allows 10000"});
  expect_parts(refusal_of(step + "limits { command_max: 1.9 }"),
               {"commands up to 2 V, allowed are 1.9"});
  expect_parts(refusal_of("duration_s: 1 step { motor: \"1\" command: 99 }"),
               {"commands up to 99 V, allowed are 10"});
}

}  // namespace
}  // namespace service
