// Joints with end stops, from the rig file to the program's results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "estimator/model/joint_stop.hpp"
#include "proto/calibration.pb.h"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;
using estimator::JointParameter;

// One statement per line, so that messages can be located.
const std::string kStoppedRig = R"(name: "p"
body { name: "rod" mass { value: 0.4 } inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
joint { name: "pivot"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "rod" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  encoder { }
  stops {
    lower { value: -0.4 free: true prior_standard_deviation: 0.02 }
    upper { value: 1.1 }
    restitution { value: 0.5 free: true }
  }
}
recording { time { column: "t" } angle { joint: "pivot" column: "a" unit: RADIAN } }
)";

std::string with(const std::string& from, const std::string& to) {
  return replaced(kStoppedRig, from, to);
}

TEST(EndStops, AreOrdinaryParametersOfTheirJoint) {
  const Rig rig = parse_rig("r", kStoppedRig);
  const estimator::Joint& joint = rig.mechanism.joints[0];
  EXPECT_TRUE(joint.stops.lower && joint.stops.upper);
  const estimator::Parameter& lower = rig.mechanism.joint_parameter(0, JointParameter::kStopLower);
  EXPECT_EQ(lower.name, "pivot.stop_lower");
  EXPECT_EQ(lower.unit, "rad");
  EXPECT_EQ(lower.value, -0.4);
  EXPECT_TRUE(lower.free);
  EXPECT_EQ(lower.prior_standard_deviation, 0.02);
  const estimator::Parameter& upper = rig.mechanism.joint_parameter(0, JointParameter::kStopUpper);
  EXPECT_EQ(upper.value, 1.1);
  EXPECT_FALSE(upper.free);
  const estimator::Parameter& e = rig.mechanism.joint_parameter(0, JointParameter::kRestitution);
  EXPECT_EQ(e.name, "pivot.restitution");
  EXPECT_EQ(e.unit, "-");
  EXPECT_EQ(e.lower, 0.0);
  EXPECT_EQ(e.upper, 1.0);

  const Rig one = parse_rig("r", with("    upper { value: 1.1 }\n", ""));
  EXPECT_FALSE(one.mechanism.joints[0].stops.upper);
  const Rig none = parse_rig("r", kStoppedRig.substr(0, kStoppedRig.find("  stops {")) +
                                      kStoppedRig.substr(kStoppedRig.find("\n}\nrecording") + 1));
  EXPECT_TRUE(estimator::joint_end_stops(none.mechanism).empty());
}

TEST(EndStops, MayBeTied) {
  const Rig rig = parse_rig("r", with("    upper { value: 1.1 }\n", "") +
                                     "dependency { parameter: \"pivot.stop_upper\" constant: 0.1 "
                                     "term { parameter: \"pivot.stop_lower\" factor: -2 } }\n");
  ASSERT_TRUE(rig.mechanism.joints[0].stops.upper);
  EXPECT_NEAR(rig.mechanism.joint_parameter(0, JointParameter::kStopUpper).value, 0.9, 1e-15);
}

// One sentence with the place, the cause and what to do.
TEST(EndStops, AreRefusedWithPlaceCauseAndRemedy) {
  const std::string slide = "joint { name: \"pivot\" type: FIXED";
  const std::pair<std::string, std::vector<std::string>> bad[] = {
      {with("value: -0.4", "value: 1.1"), {"r:8", "\"pivot.stop_lower\"", "below the upper one"}},
      {with("restitution { value: 0.5", "restitution { value: 1.5"), {"r:10", "1.5", "[0, 1]"}},
      {with("restitution { value: 0.5", "restitution { value: -0.1"), {"r:10", "-0.1", "[0, 1]"}},
      {with("    restitution { value: 0.5 free: true }\n", ""),
       {"r:7", "no restitution", "write restitution { value: ... }"}},
      {with("    lower { value: -0.4 free: true prior_standard_deviation: 0.02 }\n"
            "    upper { value: 1.1 }\n",
            ""),
       {"r:7", "without a position", "Write lower or upper [rad]"}},
      {with("  encoder { }\n", "  start_position { mean: 1.2 standard_deviation: 0.1 }\n"),
       {"r:6", "\"pivot\" has a start_position of 1.2 rad", "its stop at 1.1 rad", "Correct"}},
      {with("  encoder { }\n", "")
           .replace(with("  encoder { }\n", "").find("joint {"), 23, slide + "\n"),
       {"\"pivot\" is fixed", "remove its stops"}},
  };
  for (const auto& [text, parts] : bad) {
    const std::string message = refusal([&] { (void)parse_rig("r", text); });
    expect_parts(message, parts);
    EXPECT_EQ(std::ranges::count(message, '\n'), 0) << message;
  }
}

TEST(EndStops, AreNotOfLoops) {
  std::string text = contents_of(config("rig-fourbar.textproto"));
  const std::size_t at = text.find("  encoder {");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "  stops { upper { value: 9 } restitution { value: 0.5 } }\n");
  expect_parts(refusal([&] { (void)parse_rig("r", text); }),
               {"has end stops", "closed loops", "remove its stops"});
}

TEST(EndStops, ActInSimulations) {
  const Rig rig = load_rig(config("rig-pendulum-stop.textproto"));
  const std::string text = contents_of(config("scenario-pendulum-stop.textproto"));
  const Scenario scenario = parse_scenario("s", text.substr(0, text.find("noise")), rig);
  const SimulatedRun run = simulate(rig, scenario, 1e-3, nullptr, Integrator::kAutomatic);
  EXPECT_EQ(run.integrator, Integrator::kPhysical) << "SPOOK knows no stops";
  EXPECT_GE(run.angles.minCoeff(), 0.2 - 1e-12);
  EXPECT_NEAR(run.angles(run.angles.rows() - 1, 0), 0.2, 1e-6) << "it comes to rest there";
  // Released at rest, it returns to e² of its height, apart from friction.
  Eigen::Index k = 0;
  while (run.angles(k + 1, 0) <= run.angles(k, 0)) ++k;
  double highest = 0.0;
  for (; run.angles(k + 1, 0) >= run.angles(k, 0); ++k) highest = run.angles(k + 1, 0);
  const double fallen = std::cos(0.2) - std::cos(1.4), risen = std::cos(0.2) - std::cos(highest);
  EXPECT_NEAR(risen / fallen, 0.36, 0.02);  // 3e-4 N·m·s/rad dissipate a few per cent
  EXPECT_LT(risen / fallen, 0.36);

  expect_parts(refusal([&] {
                 (void)parse_scenario("s",
                                      "duration_s: 1 release { } initial { joint: \"pivot\" "
                                      "angle_rad: 0.1 }",
                                      rig);
               }),
               {"s:1", "\"pivot\" starts at 0.1 rad", "its stop at 0.2 rad"});
  expect_parts(refusal([&] { (void)parse_scenario("s", "duration_s: 1 release { }", rig); }),
               {"\"pivot\" starts at 0 rad", "write initial"});
}

/// Sequences of commands on one simulated recording.
class EndStopCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    run_successfully("simulate --rig " + rig_ + " --scenario " +
                     config("scenario-pendulum-stop.textproto") + " --step 1e-3 --out " +
                     recording_);
  }
  std::string edited(const std::string& from, const std::string& to) const {
    std::string text = contents_of(rig_);
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return folder_.write("edited.textproto", text.replace(at, from.size(), to));
  }

  TemporaryFolder folder_;
  std::string rig_ = config("rig-pendulum-stop.textproto");
  std::string recording_ = folder_.file("bounces.csv");
};

// An impact is no slip, outlier, lost time or misfit.
TEST_F(EndStopCommands, CheckFindsNothingWrong) {
  run_successfully("check " + recording_ + " --rig " + rig_,
                   {"No problems found.", "pivot.restitution"});
}

TEST_F(EndStopCommands, CheckReportsReadingsBeyondAStop) {
  const ProgramRun run =
      run_rigcal("check " + recording_ + " --rig " +
                 edited("lower { value: 0.2 free: true }", "lower { value: 0.3 }"));
  EXPECT_EQ(run.exit_code, 1) << "a zero that is off explains it as well" << run.out << run.err;
  expect_parts(run.out, {"encoder \"pivot\" reads up to 0.1", "beyond the lower stop", "at 0.3 rad",
                         "the first at 0."});
}

TEST_F(EndStopCommands, CalibrationFindsStopAndRestitution) {
  const std::string start = edited("value: 0.2 free", "value: 0.23 free");
  std::string text = replaced(contents_of(start), "value: 0.6", "value: 0.4");
  const std::string rig = folder_.write("start.textproto", text);
  const std::string json = folder_.file("run.json"), out = folder_.file("out.textproto");
  run_successfully("calibrate " + recording_ + " --rig " + rig + " --json " + json + " --rig-out " +
                   out + " --plot " + folder_.file("run.html") + " --quiet");
  const Rig found = load_rig(out);
  EXPECT_NEAR(found.mechanism.joint_parameter(0, JointParameter::kStopLower).value, 0.2, 1e-4);
  EXPECT_NEAR(found.mechanism.joint_parameter(0, JointParameter::kRestitution).value, 0.6, 3e-3);
  run_successfully("validate " + recording_ + " --rig " + rig + " --parameters " + json +
                   " --quiet");
  const ProgramRun states =
      run_successfully("estimate " + recording_ + " --rig " + rig + " --parameters " + json +
                       " --quiet --out " + folder_.file("states.csv"));
  EXPECT_EQ(contents_of(folder_.file("states.csv")).find("nan"), std::string::npos);
}

TEST_F(EndStopCommands, ShadowParametersAreRefused) {
  run_refused("calibrate " + recording_ + " --rig " + rig_ + " --parameters shadow --quiet",
              {"\"pivot\" has end stops", "request physical parameters"});
}

TEST_F(EndStopCommands, InfoShowsEndStops) {
  run_successfully("info " + rig_ + " --picture " + folder_.file("rig.svg"),
                   {"pivot comes to rest at its stop first, at 11.46°", "pivot.stop_lower",
                    "pivot.restitution"});
}

}  // namespace
}  // namespace service
