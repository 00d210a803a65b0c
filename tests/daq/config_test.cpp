#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/config/scenario_config.hpp"
#include "tests/support/refusal.hpp"

namespace daq {
namespace {

using test_support::expect_parts;
using test_support::refusal;

const std::string kConfigs = std::string(RIG_SOURCE_DIR) + "/configs/";

RigConfig furuta() { return load_rig_config(kConfigs + "rig-furuta.textproto"); }

// A rig with everything the DAQ needs; each test of a refusal changes one place.
const std::string kRig = R"(name: "small"
hinge { name: "arm" motor { control_unit: "V" control_max: 5 } encoder { counts_per_turn: 4096 } }
hinge { name: "rod" encoder { counts_per_turn: 2048 } }
unit { url: "pty:///x" channel { hinge: "arm" } channel { hinge: "rod" inverted: true } }
safety {
  command_max: 5
  hinge { hinge: "rod" angle_rad_min: -9 angle_rad_max: 9 speed_rad_per_s_max: 50 }
  hinge { hinge: "arm" angle_rad_min: -2 angle_rad_max: 2 speed_rad_per_s_max: 30 }
}
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kRig;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string rig_refusal(const std::string& text) {
  return refusal([&] { parse_rig_config("r.textproto", text); });
}

// Limits are listed in any order in the file, channels in the unit's: mixing them up would guard
// one hinge with the other's limits.
TEST(RigConfig, OrdersLimitsByTheUnitsChannels) {
  const RigConfig rig = parse_rig_config("r.textproto", kRig);
  ASSERT_EQ(rig.limits.joint.size(), 2U);
  EXPECT_EQ(rig.limits.joint[0].hinge, "arm");
  EXPECT_EQ(rig.limits.joint[0].angle_rad_max, 2.0);
  EXPECT_EQ(rig.limits.joint[1].speed_rad_per_s_max, 50.0);
  EXPECT_EQ(rig.channel[1].counts_per_turn, 2048.0);
  EXPECT_TRUE(rig.channel[1].inverted);
  EXPECT_EQ(rig.motor_hinge, "arm");
  EXPECT_DOUBLE_EQ(rig.limits.joint[0].jump_rad_max, 0.3);  // 30 rad/s over ten periods
  EXPECT_DOUBLE_EQ(rig.limits.command_slew_per_s_max, 5000.0);
}

TEST(RigConfig, RefusesWithPlaceCauseAndRemedy) {
  expect_parts(rig_refusal(replaced("inverted", "invrted")), {"r.textproto:4", "invrted"});
  expect_parts(rig_refusal(replaced("hinge: \"rod\" inverted", "hinge: \"rad\" inverted")),
               {"r.textproto:4", "\"rad\""});
  expect_parts(rig_refusal(replaced("hinge: \"rod\" inverted", "hinge: \"arm\" inverted")),
               {"r.textproto:4", "already"});
  expect_parts(rig_refusal(replaced("counts_per_turn: 2048", "")), {"\"rod\"", "counts_per_turn"});
  expect_parts(rig_refusal(replaced("command_max: 5\n", "command_max: 6\n")),
               {"r.textproto:6", "control_max"});
  expect_parts(rig_refusal(replaced("angle_rad_max: 2 ", "angle_rad_max: -2 ")),
               {"\"arm\"", "angle_rad_min must be below"});
  expect_parts(rig_refusal(replaced("hinge { hinge: \"arm\" angle_rad_min: -2 angle_rad_max: 2 "
                                    "speed_rad_per_s_max: 30 }",
                                    "")),
               {"r.textproto:5", "no limits for hinge \"arm\""});
  expect_parts(rig_refusal("name: \"x\""), {"unit section"});
}

TEST(RigConfig, RefusesARigThatIsOnlyCalibrated) {
  expect_parts(refusal([] { load_rig_config(kConfigs + "rig-lund-furuta.textproto"); }),
               {"rig-lund-furuta.textproto", "unit section"});
}

std::string scenario_refusal(const std::string& text) {
  const RigConfig rig = parse_rig_config("r.textproto", kRig);
  return refusal([&] { parse_scenario_config("s.textproto", text, rig); });
}

TEST(ScenarioConfig, RefusesWithPlaceCauseAndRemedy) {
  expect_parts(scenario_refusal("duration_s: 5\npulse { motor: \"arm\" command: 7 width_s: 1 }"),
               {"s.textproto", "7", "5", "command_max"});
  expect_parts(scenario_refusal("duration_s: 5\npulse { motor: \"rod\" command: 1 width_s: 1 }"),
               {"s.textproto:2", "\"rod\"", "motor: \"arm\""});
  expect_parts(scenario_refusal("duration_s: 5\npulse { motor: \"arm\" command: 1 }"),
               {"pulse.width_s"});
  expect_parts(scenario_refusal("duration_s: 5\nrelease { hinge: \"leg\" held_tolerance_rad: 1 }"),
               {"s.textproto:2", "\"leg\""});
  expect_parts(scenario_refusal("duration_s: 5"), {"names no excitation"});
  expect_parts(scenario_refusal("pulse { motor: \"arm\" command: 1 width_s: 1 }"),
               {"duration_s must be positive"});
  expect_parts(scenario_refusal("duration_s: 1 pulse { motor: \"arm\" command: 1 width_s: nan }"),
               {"pulse.width_s"});
  expect_parts(scenario_refusal("duration_s: 1 step { motor: \"arm\" command: nan }"),
               {"s.textproto", "nan"});
  expect_parts(scenario_refusal("duration_s: 1 replay { motor: \"arm\" file: \"no.csv\" }"),
               {"no.csv"});
}

std::string limited(const std::string& limits) {
  return "duration_s: 5 step { motor: \"arm\" command: 1 } limits { " + limits + " }";
}

// A scenario may tighten each limit, up to the rig's own.
TEST(ScenarioConfig, TightensTheRigsLimits) {
  const RigConfig rig = parse_rig_config("r.textproto", kRig);
  const ScenarioConfig tight = parse_scenario_config(
      "s.textproto",
      limited("command_max: 3 command_slew_max: 50 "
              "hinge { hinge: \"arm\" angle_rad_max: 1 speed_rad_per_s_max: 20 }"),
      rig);
  EXPECT_EQ(tight.limits.command_max, 3.0);
  EXPECT_EQ(tight.limits.command_slew_per_s_max, 50.0);
  EXPECT_EQ(tight.limits.joint[0].angle_rad_max, 1.0);
  EXPECT_EQ(tight.limits.joint[0].angle_rad_min, -1.0);
  EXPECT_EQ(tight.limits.joint[0].speed_rad_per_s_max, 20.0);
  EXPECT_EQ(tight.limits.joint[1].angle_rad_max, 9.0);
  const ScenarioConfig equal = parse_scenario_config(
      "s.textproto",
      limited("command_max: 5 command_slew_max: 5000 "
              "hinge { hinge: \"arm\" angle_rad_max: 2 speed_rad_per_s_max: 30 }"),
      rig);
  EXPECT_EQ(equal.limits.command_max, 5.0);
  EXPECT_EQ(equal.limits.joint[0].angle_rad_min, -2.0);
}

// Asking for more is a mistake about the rig, and is said before anything moves.
TEST(ScenarioConfig, RefusesToWidenTheRigsLimits) {
  expect_parts(scenario_refusal(limited("command_max: 5.1")),
               {"s.textproto:1:", "command_max is 5.1", "allows 5"});
  expect_parts(scenario_refusal(limited("command_slew_max: 5001")),
               {"command_slew_max is 5001", "allows 5000"});
  expect_parts(scenario_refusal(limited("hinge { hinge: \"arm\" angle_rad_max: 2.1 }")),
               {"angle_rad_max is 2.1", "allows 2"});
  expect_parts(scenario_refusal(limited("hinge { hinge: \"rod\" speed_rad_per_s_max: 51 }")),
               {"speed_rad_per_s_max is 51", "allows 50"});
}

// The rig's range may lie to one side: its wider bound is what may not be exceeded.
TEST(ScenarioConfig, TightensARangeThatLiesToOneSide) {
  const RigConfig rig =
      parse_rig_config("r.textproto", replaced("angle_rad_min: -2 ", "angle_rad_min: -0.5 "));
  const ScenarioConfig config = parse_scenario_config(
      "s.textproto", limited("hinge { hinge: \"arm\" angle_rad_max: 1 }"), rig);
  EXPECT_EQ(config.limits.joint[0].angle_rad_max, 1.0);
  EXPECT_EQ(config.limits.joint[0].angle_rad_min, -0.5);
}

// Every scenario that is shipped must run on the rig it is shipped for.
TEST(ScenarioConfig, LoadsEveryShippedScenario) {
  const RigConfig rig = furuta();
  for (const char* name :
       {"scenario-release.textproto", "scenario-swing-up.textproto", "scenario-pulse.textproto",
        "scenario-step.textproto", "scenario-chirp.textproto", "scenario-multisine.textproto",
        "scenario-replay.textproto"}) {
    SCOPED_TRACE(name);
    const ScenarioConfig config = load_scenario_config(kConfigs + name, rig);
    EXPECT_FALSE(config.scenario.name().empty());
    EXPECT_LE(config.scenario.command_peak(), config.limits.command_max);
  }
}

// The file is named relative to the scenario, not to wherever the program was started.
TEST(ScenarioConfig, ReplaysTheFileBesideTheScenario) {
  const ScenarioConfig config =
      load_scenario_config(kConfigs + "scenario-replay.textproto", furuta());
  Scenario scenario = config.scenario;
  Observation now;
  scenario.command(now);
  now.time_s = 5.25;
  EXPECT_EQ(scenario.command(now), 2.0);
}

}  // namespace
}  // namespace daq
