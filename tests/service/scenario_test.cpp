#include <gtest/gtest.h>

#include <string>

#include "service/convert/scenario_file.hpp"
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
    EXPECT_GT(scenario.excitation.duration_s(), 0.0);
    EXPECT_EQ(scenario.initial_angles.size(), 2);
    const bool driven = std::string(file) != "scenario-release.textproto";
    EXPECT_EQ(scenario.motor, driven ? 0 : -1);
  }
  const Rig pendulum = load_rig(kConfigs + "rig-pendulum.textproto");
  EXPECT_NO_THROW((void)load_scenario(kConfigs + "scenario-pendulum-release.textproto", pendulum));
}

TEST(ScenarioFiles, RefuseWithPlaceCauseAndRemedy) {
  const Rig rig = furuta();
  const auto refusal_of = [&](const std::string& text) {
    return refusal([&] { (void)parse_scenario("s.textproto", text, rig); });
  };
  expect_parts(refusal_of("duration_s: 1"), {"s.textproto", "names no excitation", "release"});
  expect_parts(refusal_of("release { }"), {"s.textproto", "duration_s", "positive"});
  expect_parts(refusal_of("duration_s: 1\nstep { moter: \"1\" }"),
               {"s.textproto:2:", "'moter'", "motor, command, start_s"});
  expect_parts(refusal_of("duration_s: 1\nstep { motor: \"3\" command: 1 }"),
               {"s.textproto:2:8", "\"3\" has no motor", "write motor: \"1\""});
  expect_parts(refusal_of("duration_s: 1\nstep { motor: \"2\" command: 1 }"),
               {"s.textproto:2:8", "no motor"});
  expect_parts(refusal_of("duration_s: 1\npulse { motor: \"1\" command: 1 width_s: 0 }"),
               {"s.textproto:2:", "width_s"});
  expect_parts(refusal_of("duration_s: 1\ninitial { hinge: \"x\" }\nrelease { }"),
               {"s.textproto:2:", "no hinge 'x'"});
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

}  // namespace
}  // namespace service
