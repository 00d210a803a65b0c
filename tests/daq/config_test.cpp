#include <gtest/gtest.h>

#include <filesystem>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "daq/commands/commands.hpp"
#include "daq/config/rig_config.hpp"
#include "daq/config/scenario_config.hpp"
#include "daq/console/unit_connection.hpp"
#include "proto/text/files.hpp"
#include "tests/daq/edited_rig.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace daq {
namespace {

using test_support::expect_parts;
using test_support::refusal;
using test_support::replaced;

const std::string kConfigs = test_support::source_folder() + "/configs/";

RigConfig furuta() { return load_rig_config(kConfigs + "rig-furuta.textproto"); }

// A rig with everything the DAQ needs. Each rejection test changes one place.
const std::string kRig = R"(name: "small"
joint { name: "arm" motor { control_unit: "V" control_max: 5 } encoder { counts_per_turn: 4096 } }
joint { name: "rod" encoder { counts_per_turn: 2048 } }
unit { url: "pty:///x" channel { joint: "arm" } channel { joint: "rod" inverted: true } }
safety {
  command_max: 5
  joint { joint: "rod" angle_rad_min: -9 angle_rad_max: 9 speed_rad_per_s_max: 50 }
  joint { joint: "arm" angle_rad_min: -2 angle_rad_max: 2 speed_rad_per_s_max: 30 }
}
)";

// The file may list limits in any order, the channels follow the unit's order. A mix-up would guard
// one joint with the other's limits.
TEST(RigConfig, OrdersLimitsByTheUnitsChannels) {
  const RigConfig rig = rig_of(kRig);
  ASSERT_EQ(rig.limits.joint.size(), 2U);
  EXPECT_EQ(rig.limits.joint[0].joint, "arm");
  EXPECT_EQ(rig.limits.joint[0].angle_rad_max, 2.0);
  EXPECT_EQ(rig.limits.joint[1].speed_rad_per_s_max, 50.0);
  EXPECT_EQ(rig.channel[1].counts_per_turn, 2048.0);
  EXPECT_TRUE(rig.channel[1].inverted);
  EXPECT_EQ(rig.motor.at(0).joint, "arm");
  EXPECT_DOUBLE_EQ(rig.limits.joint[0].jump_rad_max, 0.3);  // 30 rad/s over ten periods
  EXPECT_DOUBLE_EQ(rig.limits.motor.at(0).command_slew_per_s_max, 5000.0);
}

// A channel may hold an encoder that is on no joint. The unit of its counts decides whether it
// measures rotation or translation.
TEST(RigConfig, AcceptsEncodersBetweenBodiesAsChannels) {
  const auto rig_with = [](const std::string& counts, const std::string& limits) {
    const std::string text = replaced(kRig, "joint: \"rod\" inverted", "joint: \"tilt\" inverted") +
                             "body_encoder { name: \"tilt\" body: \"B\" encoder { " + counts +
                             " } }\n";
    return replaced(text,
                    "joint: \"rod\" angle_rad_min: -9 angle_rad_max: 9 speed_rad_per_s_max: 50",
                    "joint: \"tilt\" " + limits);
  };
  const std::string turns = "angle_rad_min: -9 angle_rad_max: 9 speed_rad_per_s_max: 50";
  const RigConfig rig = rig_of(rig_with("counts_per_turn: 1000", turns));
  EXPECT_EQ(rig.channel[1].joint, "tilt");
  EXPECT_EQ(rig.channel[1].counts_per_turn, 1000.0);
  EXPECT_FALSE(rig.channel[1].slides);
  EXPECT_EQ(rig.limits.joint[1].angle_rad_max, 9.0);
  const RigConfig linear = rig_of(
      rig_with("counts_per_m: 5000", "position_m_min: -1 position_m_max: 2 speed_m_per_s_max: 3"));
  EXPECT_TRUE(linear.channel[1].slides);
  EXPECT_EQ(linear.channel[1].counts_per_turn, 5000.0);
  EXPECT_EQ(linear.limits.joint[1].angle_rad_max, 2.0);
  expect_parts(rig_refusal(rig_with("counts_per_m: 5000", turns)),
               {"\"tilt\" slides", "position_m_min"});
  expect_parts(rig_refusal(rig_with("", turns)), {"r.textproto:4", "\"tilt\"", "counts_per_turn"});
}

TEST(RigConfig, RefusesWithPlaceCauseAndRemedy) {
  const std::string rod = "joint: \"rod\" inverted", first = "  joint { joint: \"rod\" angle";
  expect_refused(
      kRig,
      {{"inverted", "invrted", {"r.textproto:4", "invrted"}},
       {rod, "joint: \"rad\" inverted", {"r.textproto:4", "\"rad\""}},
       {rod, "joint: \"arm\" inverted", {"r.textproto:4", "two channels"}},
       {"counts_per_turn: 2048", "", {"\"rod\"", "counts_per_turn"}},
       {"command_max: 5\n", "command_max: 6\n", {"r.textproto:6", "control_max"}},
       {"angle_rad_max: 2 ",
        "angle_rad_max: -2 ",
        {"\"arm\"", "angle_rad_min must be below angle_rad_max; give both"}},
       {"joint { joint: \"arm\" angle_rad_min: -2 angle_rad_max: 2 speed_rad_per_s_max: 30 }",
        "",
        {"r.textproto:5", "no limits for joint \"arm\""}},
       {first, "  joint { joint: \"leg\" }\n" + first, {"r.textproto:7", "unknown joint \"leg\""}},
       {first,
        "  joint { joint: \"rod\" }\n" + first,
        {"r.textproto:8", "\"rod\" has limits twice"}},
       {"command_max: 5\n",
        "command_max: 5 stall { command: 6 }\n",
        {"r.textproto:6", "above command_max, 5", "\"arm\""}},
       {"command_max: 5\n", "command_max: 5 stall { time_s: -1 }\n", {"r.textproto:6", "time_s"}}});
  expect_parts(rig_refusal("name: \"x\""), {"unit section"});
}

TEST(RigConfig, RefusesARigThatIsOnlyCalibrated) {
  expect_parts(refusal([] { load_rig_config(kConfigs + "rig-lund-furuta.textproto"); }),
               {"rig-lund-furuta.textproto", "unit section"});
}

std::string plan_refusal(const std::string& rig, const std::string& scenario) {
  return refusal([&] {
    parse_scenario_config("s.textproto", scenario,
                          parse_rig_config("r.textproto", rig, RigFilePurpose::kPlan));
  });
}

// Plotting a plan needs no unit. If the file has one, the plan must meet all requirements of a run.
TEST(RigConfig, APlanNeedsNoUnit) {
  const std::string bare = kRig.substr(0, kRig.find("unit {"));
  const RigConfig rig = parse_rig_config("r.textproto", bare, RigFilePurpose::kPlan);
  EXPECT_EQ(rig.motor.at(0).joint, "arm");
  EXPECT_EQ(rig.motor.at(0).command_unit, "V");
  EXPECT_EQ(rig.divider, 1);
  const std::string pulse = "duration_s: 1 pulse { motor: \"arm\" command: 4 width_s: 0.1 } ";
  const ScenarioConfig scenario = parse_scenario_config("s.textproto", pulse, rig);
  EXPECT_EQ(scenario.scenario.command_peak(), 4.0);
  const std::string limit = "limits { joint { joint: \"rod\" angle_rad_max: 99 } }";
  EXPECT_NO_THROW(parse_scenario_config("s.textproto", pulse + limit, rig));
  EXPECT_NO_THROW(
      parse_scenario_config("s.textproto", pulse + "limits { command_slew_max: 9 }", rig))
      << "without a limit of the rig, any is tighter";
  expect_parts(plan_refusal(bare, pulse + "limits { command_max: 3 }"), {"commands up to 4", "3"});
  expect_parts(plan_refusal(bare, "duration_s: 1 pulse { motor: \"arm\" command: 7 width_s: 1 }"),
               {"s.textproto", "5"});
  expect_parts(plan_refusal(bare, "duration_s: 1 pulse { motor: \"rod\" command: 1 width_s: 1 }"),
               {"s.textproto", "rod"});
  const RigConfig whole = parse_rig_config("r.textproto", kRig, RigFilePurpose::kPlan);
  EXPECT_EQ(whole.limits.joint.size(), 2U);
  expect_parts(plan_refusal(kRig, pulse + limit), {"s.textproto", "angle_rad_max"});
}

// Watching drives nothing and needs no limits. A driven run without limits must be refused, and a
// wrong section must be reported even if it could have been omitted.
TEST(RigConfig, WatchingNeedsNoSafetySection) {
  const std::string bare = kRig.substr(0, kRig.find("safety {"));
  const RigConfig rig = parse_rig_config("r.textproto", bare, RigFilePurpose::kWatch);
  EXPECT_EQ(rig.unit_url, "pty:///x");
  EXPECT_EQ(rig.channel.size(), 2U);
  EXPECT_EQ(rig.motor.at(0).command_unit, "V");
  EXPECT_TRUE(rig.limits.joint.empty());
  expect_parts(rig_refusal(bare), {"r.textproto", "no safety section"});
  const auto watch_refusal = [](const std::string& text) {
    return refusal([&] { parse_rig_config("r.textproto", text, RigFilePurpose::kWatch); });
  };
  expect_parts(watch_refusal(bare.substr(0, bare.find("unit {"))), {"no unit section"});
  expect_parts(watch_refusal(replaced(kRig, "command_max: 5\n", "command_max: 6\n")),
               {"r.textproto:6", "control_max"});
}

// The page's users copy its files: the first for first contact, with the second one's limits for a
// run, and the third as its scenario. All must load.
TEST(BuildAUnitPage, ShowsFilesThatLoad) {
  const std::string page =
      proto::read_file(test_support::source_folder() + "/docs/how-to/build-a-unit.md");
  std::vector<std::string> files;
  const std::string open = "```textproto\n";
  for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    files.push_back(page.substr(at, page.find("```", at) - at));
  }
  ASSERT_EQ(files.size(), 3U);
  EXPECT_NO_THROW(parse_rig_config("rig.textproto", files[0], RigFilePurpose::kWatch));
  const RigConfig rig = parse_rig_config("rig.textproto", files[0] + files[1]);
  EXPECT_EQ(rig.motor.at(0).command_unit, "duty");
  EXPECT_EQ(parse_scenario_config("pulse.textproto", files[2], rig).scenario.command_peak(), 0.15);
}

// A command that depends on the motion, as of a swing-up, cannot be plotted in advance.
TEST(PlotScenario, RefusesCommandsThatDependOnTheMotion) {
  const test_support::TemporaryFolder folder;
  const std::string plan = folder.file("plan.svg");
  std::ostringstream out;
  const RunOptions swing_up = {.rig_path = kConfigs + "rig-furuta.textproto",
                               .scenario_path = kConfigs + "scenario-swing-up.textproto"};
  expect_parts(refusal([&] { (void)plot_scenario(swing_up, plan, out); }),
               {"scenario-swing-up.textproto", "depend on the rig's motion",
                "rigcal simulate --rig " + swing_up.rig_path, "--plot"});
  EXPECT_FALSE(std::filesystem::exists(plan));
  const RunOptions pulse = {.rig_path = kConfigs + "rig-paper-furuta.textproto",
                            .scenario_path = kConfigs + "scenario-pulse.textproto"};
  EXPECT_EQ(plot_scenario(pulse, plan, out), ExitCode::kDone);
  expect_parts(out.str(), {"at most 3"});
  EXPECT_TRUE(std::filesystem::exists(plan));
}

// The same rig with a cart instead of the arm.
std::string cart_rig() {
  std::string text = replaced(kRig, "name: \"arm\" motor", "name: \"arm\" type: PRISMATIC motor");
  text = replaced(text, "counts_per_turn: 4096", "counts_per_m: 20000");
  text = replaced(text, "channel { joint: \"arm\" }",
                  "channel { joint: \"arm\" inverted: true offset_m: 0.1 }");
  return replaced(text, "joint: \"arm\" angle_rad_min: -2 angle_rad_max: 2 speed_rad_per_s_max: 30",
                  "joint: \"arm\" position_m_min: -0.4 position_m_max: 0.5 speed_m_per_s_max: 3");
}

// A linear encoder's counts are metres, and its limits are positions along the rail.
TEST(RigConfig, ReadsALinearEncoder) {
  const RigConfig rig = rig_of(cart_rig());
  const auto scales = compute_channel_scales(rig);
  EXPECT_DOUBLE_EQ(scales[0].rad_per_count, -1.0 / 20000.0);
  EXPECT_DOUBLE_EQ(scales[0].offset_rad, 0.1);
  EXPECT_DOUBLE_EQ(scales[1].rad_per_count, -2.0 * std::numbers::pi / 2048.0);
  const JointLimits& cart = rig.limits.joint[0];
  EXPECT_EQ(cart.angle_rad_min, -0.4);
  EXPECT_EQ(cart.angle_rad_max, 0.5);
  EXPECT_EQ(cart.speed_rad_per_s_max, 3.0);
  EXPECT_DOUBLE_EQ(cart.jump_rad_max, 0.03);
  EXPECT_TRUE(cart.slides);
  EXPECT_FALSE(rig.limits.joint[1].slides);
  const ScenarioConfig tight = parse_scenario_config(
      "s.textproto",
      "duration_s: 5 step { motor: \"arm\" command: 1 } limits { joint { joint: \"arm\" "
      "position_m_max: 0.2 speed_m_per_s_max: 1 } }",
      rig);
  EXPECT_EQ(tight.limits.joint[0].angle_rad_min, -0.2);
  EXPECT_EQ(tight.limits.joint[0].angle_rad_max, 0.2);
  EXPECT_EQ(tight.limits.joint[0].speed_rad_per_s_max, 1.0);
  const auto reported = [&](TripCause cause) {
    return describe_trip({.cause = cause, .joint = 0, .time_s = 1.0, .value = 0.6, .limit = 0.5},
                         rig.limits);
  };
  EXPECT_EQ(reported(TripCause::kAngle), "arm: position 0.6 m, allowed 0.5 m, at t = 1.000 s");
  EXPECT_EQ(reported(TripCause::kSpeed), "arm: speed 0.6 m/s, allowed 0.5 m/s, at t = 1.000 s");
  expect_parts(describe_start_remedy({.cause = TripCause::kAngle, .value = 0.6}, rig.limits),
               {"0.6 m", "between -0.4 and 0.5 m"});
}

TEST(RigConfig, RefusesTheUnitsOfTheOtherKind) {
  expect_refused(
      cart_rig(),
      {{"position_m_min",
        "angle_rad_min",
        {"r.textproto:8", "\"arm\" slides", "no angle_rad_min", "position_m_min"}},
       {"angle_rad_max: 9",
        "position_m_max: 9",
        {"r.textproto:7", "\"rod\" turns", "angle_rad_max"}},
       {"offset_m", "offset_rad", {"r.textproto:4", "slides", "offset_m"}},
       {"counts_per_m: 20000", "counts_per_turn: 20000", {"\"arm\"", "counts_per_m"}},
       {"PRISMATIC", "FIXED", {"r.textproto:4", "fixed"}},
       {"position_m_max: 0.5", "position_m_max: -0.5", {"position_m_min must be below"}}});
  const RigConfig rig = rig_of(cart_rig());
  const auto refused = [&](const std::string& content) {
    return refusal([&] { parse_scenario_config("s.textproto", "duration_s: 5 " + content, rig); });
  };
  expect_parts(refused("step { motor: \"arm\" command: 1 } limits { joint { joint: \"arm\" "
                       "angle_rad_max: 1 } }"),
               {"s.textproto:1", "\"arm\" slides", "position_m_max"});
  expect_parts(refused("release { joint: \"arm\" held_angle_rad: 0.1 held_tolerance_m: 0.1 }"),
               {"s.textproto:1", "\"arm\" slides", "held_position_m"});
  expect_parts(refused("release { joint: \"arm\" held_tolerance_rad: 0.1 }"),
               {"\"arm\" slides", "held_tolerance_m"});
  expect_parts(refused("release { joint: \"rod\" held_position_m: 0.1 held_tolerance_rad: 0.1 }"),
               {"\"rod\" turns", "held_angle_rad"});
  const std::string gains = "proportional_gain: 1 command_max: 1 }";
  expect_parts(refused("position_feedback { motor: \"arm\" angle_rad: 0.1 " + gains),
               {"\"arm\" slides", "position_m"});
  EXPECT_NO_THROW(parse_scenario_config(
      "s.textproto",
      "duration_s: 5 position_feedback { motor: \"arm\" position_m: 0.1 " + gains, rig));
  expect_parts(refused("release { joint: \"rod\" held_tolerance_m: 0.1 }"),
               {"\"rod\" turns", "held_tolerance_rad"});
  expect_parts(refused("release { joint: \"arm\" held_tolerance_m: 0.1 rest_speed_m_per_s: 0.1 }"),
               {"some joints of the rig turn", "rest_speed_rad_per_s"});
  EXPECT_NO_THROW(parse_scenario_config(
      "s.textproto",
      "duration_s: 5 release { joint: \"arm\" held_position_m: 0.1 held_tolerance_m: 0.1 }", rig));
}

void expect_scenario_refused(const std::string& text, const std::vector<std::string>& parts) {
  expect_parts(refusal([&] { parse_scenario_config("s.textproto", text, rig_of(kRig)); }), parts);
}

TEST(ScenarioConfig, RefusesWithPlaceCauseAndRemedy) {
  const std::string pulse = "duration_s: 5\npulse { motor: \"arm\" ";
  expect_scenario_refused(pulse + "command: 7 width_s: 1 }",
                          {"s.textproto", "7", "5", "command_max"});
  expect_scenario_refused("duration_s: 5\npulse { motor: \"rod\" command: 1 width_s: 1 }",
                          {"s.textproto:2", "\"rod\"", "motor: \"arm\""});
  expect_scenario_refused(pulse + "command: 1 }", {"pulse.width_s"});
  expect_scenario_refused("duration_s: 5\nrelease { joint: \"leg\" held_tolerance_rad: 1 }",
                          {"s.textproto:2", "\"leg\""});
  expect_scenario_refused("duration_s: 5", {"has no excitation"});
  expect_scenario_refused("pulse { motor: \"arm\" command: 1 width_s: 1 }",
                          {"duration_s must be positive"});
  expect_scenario_refused(pulse + "command: 1 width_s: nan }", {"pulse[0].width_s"});
  expect_scenario_refused("duration_s: 1 step { motor: \"arm\" command: nan }",
                          {"s.textproto", "nan"});
  expect_scenario_refused("duration_s: 1 replay { motor: \"arm\" file: \"no.csv\" }", {"no.csv"});
  const std::string feedback = "duration_s: 1\nposition_feedback { motor: \"arm\" ";
  expect_scenario_refused(feedback + "command_max: 1 }", {"s.textproto:2", "derivative_gain"});
  expect_scenario_refused(feedback + "proportional_gain: 1 }", {"s.textproto:2", "command_max"});
  expect_scenario_refused(feedback + "angle_rad: 1 position_m: 1 command_max: 1 }",
                          {"s.textproto:2", "\"arm\" turns", "angle_rad"});
  const std::string loop = " proportional_gain: -1 command_max: 4 }\n";
  expect_scenario_refused(feedback + loop + "position_feedback { motor: \"arm\"" + loop,
                          {"s.textproto:3", "\"arm\" has two excitations"});
  expect_scenario_refused(
      feedback + loop + "test_push { motor: \"arm\" command: 1 rise_s: 1 motion_rad: 0.1 }",
      {"s.textproto:2", "test_push", "remove the position_feedback"});
  expect_scenario_refused(feedback + loop + "release { joint: \"rod\" held_tolerance_rad: 0.1 }",
                          {"s.textproto:2", "a release has no command"});
  expect_scenario_refused(feedback + loop + "step { motor: \"arm\" command: 2 }",
                          {"commands up to 6", "allowed are 5"});
}

std::string limited(const std::string& limits) {
  return "duration_s: 5 step { motor: \"arm\" command: 1 } limits { " + limits + " }";
}

// A scenario may tighten each limit, starting from the rig's own.
TEST(ScenarioConfig, TightensTheRigsLimits) {
  const RigConfig rig = rig_of(kRig);
  const ScenarioConfig tight = parse_scenario_config(
      "s.textproto",
      limited("command_max: 3 command_slew_max: 50 "
              "joint { joint: \"arm\" angle_rad_max: 1 speed_rad_per_s_max: 20 }"),
      rig);
  EXPECT_EQ(tight.limits.motor.at(0).command_max, 3.0);
  EXPECT_EQ(tight.limits.motor.at(0).command_slew_per_s_max, 50.0);
  EXPECT_EQ(tight.limits.joint[0].angle_rad_max, 1.0);
  EXPECT_EQ(tight.limits.joint[0].angle_rad_min, -1.0);
  EXPECT_EQ(tight.limits.joint[0].speed_rad_per_s_max, 20.0);
  EXPECT_EQ(tight.limits.joint[1].angle_rad_max, 9.0);
  const ScenarioConfig equal = parse_scenario_config(
      "s.textproto",
      limited("command_max: 5 command_slew_max: 5000 "
              "joint { joint: \"arm\" angle_rad_max: 2 speed_rad_per_s_max: 30 }"),
      rig);
  EXPECT_EQ(equal.limits.motor.at(0).command_max, 5.0);
  EXPECT_EQ(equal.limits.joint[0].angle_rad_min, -2.0);
}

// Limits wider than the rig's are an error, reported before anything moves.
TEST(ScenarioConfig, RefusesToWidenTheRigsLimits) {
  expect_scenario_refused(limited("command_max: 5.1"),
                          {"s.textproto:1:", "command_max is 5.1", "allows 5"});
  expect_scenario_refused(limited("command_slew_max: 5001"),
                          {"command_slew_max is 5001", "allows 5000"});
  expect_scenario_refused(limited("joint { joint: \"arm\" angle_rad_max: 2.1 }"),
                          {"angle_rad_max is 2.1", "allows 2"});
  expect_scenario_refused(limited("joint { joint: \"rod\" speed_rad_per_s_max: 51 }"),
                          {"speed_rad_per_s_max is 51", "allows 50"});
}

// The rig's range may lie on one side of zero: its wider bound must not be exceeded.
TEST(ScenarioConfig, TightensARangeThatLiesToOneSide) {
  const RigConfig rig = rig_of(replaced(kRig, "angle_rad_min: -2 ", "angle_rad_min: -0.5 "));
  const ScenarioConfig config = parse_scenario_config(
      "s.textproto", limited("joint { joint: \"arm\" angle_rad_max: 1 }"), rig);
  EXPECT_EQ(config.limits.joint[0].angle_rad_max, 1.0);
  EXPECT_EQ(config.limits.joint[0].angle_rad_min, -0.5);
}

// Every shipped scenario must load for its rig.
TEST(ScenarioConfig, LoadsEveryShippedScenario) {
  const RigConfig rig = furuta();
  for (const char* name :
       {"scenario-release.textproto", "scenario-swing-up.textproto", "scenario-pulse.textproto",
        "scenario-step.textproto", "scenario-chirp.textproto", "scenario-multisine.textproto",
        "scenario-replay.textproto"}) {
    SCOPED_TRACE(name);
    const ScenarioConfig config = load_scenario_config(kConfigs + name, rig);
    EXPECT_FALSE(config.scenario.name().empty());
    EXPECT_LE(config.scenario.command_peak(), config.limits.motor.at(0).command_max);
  }
}

// The file name is relative to the scenario's folder, not to the working directory.
TEST(ScenarioConfig, ReplaysTheFileBesideTheScenario) {
  const ScenarioConfig config =
      load_scenario_config(kConfigs + "scenario-replay.textproto", furuta());
  Scenario scenario = config.scenario;
  Observation now;
  scenario.compute_command(now);
  now.time_s = 5.25;
  EXPECT_EQ(scenario.compute_command(now), 2.0);
}

}  // namespace
}  // namespace daq
