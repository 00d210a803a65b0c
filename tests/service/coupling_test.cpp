// Mimic joints, from rig file and recording to estimates.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/messages/message_text.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

/// A driven pendulum, and one beside it that a belt turns in the opposite direction.
std::string geared(const std::string& follows, const std::string& encoder = "") {
  return R"(name: "geared"
body { name: "A" mass { value: 0.4 }
  inertia { xx { value: 1e-3 } yy { value: 1e-3 } zz { value: 1e-3 } } }
body { name: "B" mass { value: 0.2 }
  inertia { xx { value: 1e-3 } yy { value: 1e-3 } zz { value: 4e-4 free: true } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "A" point { y { value: 0.1 } } axis { z: 1 } zero_direction { y: -1 } }
  friction { viscous { value: 2e-3 free: true } coulomb_torque { value: 4e-3 free: true } }
  motor { control_unit: "N·m" gain { value: 1 } }
  encoder { } }
joint { name: "2"
  parent { body: "ground" point { x { value: 0.5 } } axis { z: 1 } zero_direction { y: -1 } }
  child { body: "B" point { y { value: 0.07 } } axis { z: 1 } zero_direction { y: -1 } }
  friction { viscous { value: 5e-4 } coulomb_torque { value: 1e-3 } }
  )" + follows +
         "\n" + encoder + " }\n";
}

constexpr const char* kBelt = R"(mimic { joint: "1" ratio: -4 offset: 0.3 })";
constexpr const char* kScenario = R"(duration_s: 6
multisine { motor: "1" ramp_s: 0.2
  sine { frequency_hz: 0.4 amplitude: 0.2 } sine { frequency_hz: 1.1 amplitude: 0.15 }
  sine { frequency_hz: 1.9 amplitude: 0.1 } })";

SimulatedRun simulated(const Rig& rig) {
  return simulate(rig, parse_scenario("s", kScenario, rig), 1e-4);
}

estimator::Recording recorded(const SimulatedRun& run, double noise) {
  estimator::Segment segment;
  segment.period = run.period;
  segment.angles = run.angles;
  segment.controls = run.controls;
  segment.is_first_of_recording = true;
  std::srand(7);  // of Random
  segment.angles += noise * std::sqrt(3.0) *
                    Eigen::MatrixXd::Random(segment.angles.rows(), segment.angles.cols());
  return {"run", {segment}};
}

double value_of(const estimator::Calibration& result, const std::string& name, double* sd) {
  for (const estimator::ParameterEstimate& each : result.parameters) {
    if (each.name != name) continue;
    *sd = each.standard_deviation;
    return each.value;
  }
  ADD_FAILURE() << name;
  return NAN;
}

void expect_found(const Rig& truth, const estimator::Recording& recording) {
  estimator::Mechanism start = truth.mechanism;
  for (const char* const name : {"B.J_zz", "1.b", "1.tau_c"}) {
    parameter_of(start, name).value *= 3.0;
  }
  const estimator::Calibration result = estimator::calibrate(start, {recording});
  EXPECT_TRUE(result.converged());
  for (const char* const name : {"B.J_zz", "1.b", "1.tau_c"}) {
    const double expected = parameter_of(truth.mechanism, name).value;
    double sd = NAN;
    EXPECT_NEAR(value_of(result, name, &sd), expected, 3.5 * sd) << name;
    EXPECT_LT(sd, 0.03 * expected) << name;
  }
}

TEST(MimicJoint, MimicJointsAreSimulatedAndEstimated) {
  const Rig rig = parse_rig("r", geared(kBelt));
  const SimulatedRun run = simulated(rig);
  ASSERT_EQ(run.integrator, Integrator::kPhysical);
  ASSERT_EQ(run.angles.cols(), 1);
  EXPECT_GT(run.angles.maxCoeff() - run.angles.minCoeff(), 0.5);
  expect_found(rig, recorded(run, 1e-4));
}

// Both are read; the mimic joint's encoder starts several turns off.
TEST(MimicJoint, AMimicJointsEncoderMayStartAtAnyTurn) {
  const Rig rig = parse_rig("r", geared(kBelt, "encoder { }"));
  SimulatedRun run = simulated(rig);
  ASSERT_EQ(run.angles.cols(), 2);
  for (Eigen::Index k = 0; k < run.angles.rows(); k += 100) {
    EXPECT_NEAR(run.angles(k, 1), 0.3 - 4.0 * run.angles(k, 0), 1e-7);
  }
  run.angles.col(1).array() += 6.0 * M_PI;
  const estimator::Recording recording = recorded(run, 1e-4);
  const Eigen::MatrixXd states =
      estimator::prepare_shooting_input(rig.mechanism, {recording}, {}).states[0];
  for (Eigen::Index k = 0; k < run.angles.rows(); k += 100) {
    EXPECT_NEAR(states(0, k), run.angles(k, 0), 1e-2);
    EXPECT_NEAR(states(1, k), run.angles(k, 1) - 6.0 * M_PI, 4e-2);
  }
  expect_found(rig, recording);
}

// Fast and slow shafts of which only the fast ones are read: the others' motion follows, without
// guessing a branch.
TEST(MimicJoint, SlowShaftsFollowFromFastOnes) {
  std::string text = geared("mimic { joint: \"1\" ratio: 60 }", "encoder { }");
  const std::string first = "  encoder { } }\njoint";
  text = replaced(text, first, "}\njoint");
  for (const char* const side : {"3", "4"}) {
    const bool fast = side[0] == '4';
    text += std::string("body { name: \"S") + side + R"(" mass { value: 0.1 }
  inertia { xx { value: 1e-4 } yy { value: 1e-4 } zz { value: 1e-4 } } }
joint { name: ")" +
            side + R"("
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "S)" +
            side + R"(" axis { z: 1 } zero_direction { y: -1 } }
  )" + (fast ? "mimic { joint: \"3\" } encoder { }" : "spring { stiffness { value: 0.01 } }") +
            " }\n";
  }
  const Rig rig = parse_rig("r", text);
  const SimulatedRun run = simulated(rig);
  ASSERT_EQ(run.angles.cols(), 2);
  const estimator::ShootingInput input =
      estimator::prepare_shooting_input(rig.mechanism, {recorded(run, 1e-4)}, {});
  EXPECT_TRUE(input.notes.empty()) << format_note(input.notes.front());
  for (Eigen::Index k = 100; k < run.angles.rows(); k += 500) {
    EXPECT_NEAR(input.states[0](0, k), run.angles(k, 0) / 60.0, 1e-3);
  }
}

// A copied column is a mistake, unless a belt makes both shafts turn equally.
TEST(MimicJoint, EqualReadingsOfCoupledJointsAreNoCopies) {
  const auto is_copy = [](const std::string& follows, double ratio) {
    const Rig rig = parse_rig("r", geared(follows, "encoder { }"));
    estimator::Recording recording = recorded(simulated(parse_rig("r", geared(kBelt))), 0.0);
    Eigen::MatrixXd& angles = recording.segments[0].angles;
    angles.conservativeResize(Eigen::NoChange, 2);
    angles.col(1) = ratio * angles.col(0);
    const auto examined = estimator::examine_signals(rig.mechanism, {recording}, {});
    return std::ranges::any_of(examined.findings, [](const estimator::Finding& finding) {
      return describe_finding(finding).kind == "identical-channels";
    });
  };
  EXPECT_TRUE(is_copy("", 1.0));
  EXPECT_TRUE(is_copy("", -1.0));
  EXPECT_TRUE(is_copy("mimic { joint: \"1\" ratio: 2 }", 1.0));
  EXPECT_FALSE(is_copy("mimic { joint: \"1\" ratio: -1 }", -1.0));
  EXPECT_FALSE(is_copy("mimic { joint: \"1\" }", 1.0));
}

// A wheel without gravity, geared to a joint, must act on it as a shaft with ratio² its inertia and
// viscous friction, and |ratio| its dry friction, through sticking and slipping. Uses other code.
TEST(MimicJoint, AGearedWheelIsAShaft) {
  std::string wheel = geared(kBelt);
  const auto put = [](std::string& text, const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text = replaced(text, from, to);
  };
  put(wheel, "point { y { value: 0.07 } } ", "");
  put(wheel, "4e-3 free: true", "4e-2");
  std::string shaft = wheel.substr(0, wheel.find("joint { name: \"2\""));
  shaft.erase(shaft.find("body { name: \"B\""),
              shaft.find("joint { name: \"1\"") - shaft.find("body { name: \"B\""));
  put(shaft, "gain { value: 1 }", "gain { value: 1 } shaft_inertia { value: 6.4e-3 }");
  put(shaft, "2e-3 free: true", "1e-2");
  put(shaft, "coulomb_torque { value: 4e-2 }", "coulomb_torque { value: 4.4e-2 }");
  const auto angles_of = [](const std::string& text) {
    const Rig rig = parse_rig("r", text);
    const Scenario scenario = parse_scenario("s", R"(duration_s: 4
multisine { motor: "1" ramp_s: 0.2
  sine { frequency_hz: 0.4 amplitude: 0.03 } sine { frequency_hz: 1.1 amplitude: 0.02 } }
initial { joint: "1" angle_rad: 0.7 })",
                                             rig);
    return Eigen::VectorXd(
        simulate(rig, scenario, 1e-3, nullptr, Integrator::kPhysical).angles.col(0));
  };
  const Eigen::VectorXd geared_angles = angles_of(wheel), shaft_angles = angles_of(shaft);
  EXPECT_LT((geared_angles - shaft_angles).cwiseAbs().maxCoeff(), 1e-9);
  const Eigen::Index moves = geared_angles.size() - 1;
  const auto rests =
      ((geared_angles.tail(moves) - geared_angles.head(moves)).array() == 0.0).count();
  EXPECT_GT(rests, 100);
  EXPECT_LT(rests, moves - 1000);
}

// Only the mimic joint is read; the other's position follows from it.
TEST(MimicJoint, AMimickedJointNeedsNoEncoder) {
  std::string text = geared(kBelt, "encoder { }");
  const std::string first = "  encoder { } }\njoint";
  text = replaced(text, first, "}\njoint");
  const Rig rig = parse_rig("r", text);
  const SimulatedRun run = simulated(rig);
  ASSERT_EQ(run.angles.cols(), 1);
  expect_found(rig, recorded(run, 1e-4));
}

TEST(MimicJoint, IsReadFromRigFiles) {
  const auto coupling = [](const std::string& follows) {
    return parse_rig("r", geared(follows)).mechanism.mimic_joints.at(0);
  };
  const estimator::MimicJoint belt = coupling(kBelt);
  EXPECT_EQ(belt.joint, 1);
  EXPECT_EQ(belt.follows, 0);
  EXPECT_EQ(belt.ratio, -4.0);
  EXPECT_EQ(belt.offset, 0.3);
  EXPECT_EQ(coupling("mimic { joint: \"1\" }").ratio, 1.0);
  EXPECT_EQ(coupling("mimic { joint: \"1\" }").offset, 0.0);
  EXPECT_TRUE(parse_rig("r", geared("")).mechanism.mimic_joints.empty());
}

TEST(MimicJoint, ImpossibleCouplingsAreRefusedAtTheirLine) {
  const auto refused = [](const std::string& follows) {
    return refusal([&] { parse_rig("r", geared(follows)); });
  };
  expect_parts(refused("mimic { }"), {"r:16", "names no joint", "with one of 1"});
  expect_parts(refused("mimic { joint: \"3\" }"),
               {"r:16", "\"3\" is not another moving joint", "Use one of 1"});
  expect_parts(refused("mimic { joint: \"2\" }"), {"r:16", "\"2\" is not another moving joint"});
  expect_parts(refused("mimic { joint: \"1\" ratio: 0 }"),
               {"joint \"2\"", "ratio", "finite and not 0"});
  expect_parts(refused("mimic { joint: \"1\" ratio: 1e9 }"), {"r:16", "ratio"});
  expect_parts(refused("mimic { joint: \"1\" } type: FIXED"), {"r:", "fixed"});
  expect_parts(
      refused(std::string(kBelt) + " stops { upper { value: 1 } restitution { value: 0 } }"),
      {"joint \"2\" has end stops", "mimic joints"});
}

TEST(MimicJoint, IsRefusedForSpook) {
  const Rig rig = parse_rig("r", geared(kBelt));
  const std::string why = "joint \"2\" mimics another joint";
  const auto simulate_so = [&] {
    simulate(rig, parse_scenario("s", kScenario, rig), 1e-3, nullptr, Integrator::kSpook);
  };
  EXPECT_NE(refusal<std::invalid_argument>(simulate_so).find(why), std::string::npos);
  estimator::CalibrationOptions options;
  options.kind = estimator::EstimateKind::kShadow;
  const estimator::Recording recording = recorded(simulated(rig), 1e-4);
  const auto calibrate_so = [&] { estimator::calibrate(rig.mechanism, {recording}, options); };
  expect_parts(refusal<std::invalid_argument>(calibrate_so), {why});
}

}  // namespace
}  // namespace service
