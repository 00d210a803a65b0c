#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "service/calibration/simulation_truth.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/report/sections/estimate_comparison.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using namespace test_support;

// A frictionless pendulum: mass 0.4, centre of mass at 0.1, inertia 0.001 about it.
const char* const kSimulatedPendulum = R"(
body { name: "B" mass { value: 0.4 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.001 } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "B" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  motor { control_unit: "V" gain { value: 0.5 } input_delay { value: 0.0125 } }
  encoder { offset { value: 0.25 } counts_per_turn: 1000 }
  constraint { compliance_linear: 1e-9 compliance_angular: 1e-9 damping_time_s: 0.0004 } }
gravity { magnitude { value: 9.81 } }
recording { time { column: "t" unit: MILLISECOND }
  angle { joint: "1" column: "x" unit: DEGREE inverted: true offset_rad: 1 }
  control { joint: "1" column: "u" scale: 2 } }
)";

Rig pendulum() { return parse_rig("r.textproto", kSimulatedPendulum); }

Scenario scenario_of(const std::string& text) {
  return parse_scenario("s.textproto", text, pendulum());
}

// Period of small oscillations 2π √((J + m l²) / (m g l)). SPOOK is of first order, so at h = 1e-4
// its angle is off by O(h) after one period.
TEST(Simulation, PendulumSwingsWithItsPeriod) {
  const double period = 2.0 * std::numbers::pi * std::sqrt(0.005 / (0.4 * 9.81 * 0.1));
  const Scenario scenario =
      scenario_of("duration_s: 2 release { } initial { joint: \"1\" angle_rad: 0.01 }");
  const SimulatedRun run = simulate(pendulum(), scenario, 1e-4);
  ASSERT_EQ(run.angles.rows(), 2001);
  const auto k = static_cast<Eigen::Index>(std::lround(period / run.period));
  EXPECT_NEAR(run.angles(0, 0) + 0.25, 0.01, 1e-12);
  EXPECT_NEAR(run.angles(k, 0) + 0.25, 0.01, 2e-4);
  EXPECT_NEAR(run.angles(k / 2, 0) + 0.25, -0.01, 2e-4);
}

// The command acts with a delay of 12.5 ms: until then the pendulum hangs still, and the step in
// which the delay ends gets half the command. Shortly after, angle = K u / (2 J) t².
TEST(Simulation, CommandActsAfterTheDelay) {
  const Scenario scenario =
      scenario_of("duration_s: 0.1 rate_hz: 200 step { motor: \"1\" command: 0.2 } noise { }");
  const SimulatedRun run = simulate(pendulum(), scenario, 1e-3);
  EXPECT_NEAR(run.angles(2, 0) + 0.25, 0.0, 1e-12);  // 10 ms
  const double t = 0.020 - 0.0125;
  EXPECT_NEAR(run.angles(4, 0) + 0.25, 0.5 * (0.5 * 0.2 / 0.005) * t * t, 1e-4);
  EXPECT_EQ(run.controls(0, 0), 0.2);
}

TEST(Simulation, EncodersRoundToCountsAndNoiseRepeatsWithItsSeed) {
  const std::string text = "duration_s: 0.5 release { } initial { joint: \"1\" angle_rad: 1 } ";
  const Rig rig = pendulum();
  const SimulatedRun counts = simulate(rig, scenario_of(text + "noise { quantize: true }"), 1e-3);
  for (Eigen::Index k = 0; k < counts.angles.rows(); ++k) {
    const double count = counts.angles(k, 0) * 1000.0 / (2.0 * std::numbers::pi);
    ASSERT_NEAR(count, std::round(count), 1e-9);
  }
  const std::string noise = "noise { angle_standard_deviation_rad: 0.01 seed: ";
  const SimulatedRun a = simulate(rig, scenario_of(text + noise + "1 }"), 1e-3);
  const SimulatedRun b = simulate(rig, scenario_of(text + noise + "1 }"), 1e-3);
  const SimulatedRun c = simulate(rig, scenario_of(text + noise + "2 }"), 1e-3);
  const SimulatedRun clean = simulate(rig, scenario_of(text), 1e-3);
  EXPECT_EQ((a.angles - b.angles).norm(), 0.0);
  EXPECT_GT((a.angles - c.angles).norm(), 0.0);
  // The sample standard deviation of 501 values scatters by 1/√1000 = 3 %; five times that.
  const double rms = (a.angles - clean.angles).norm() / std::sqrt(501.0);
  EXPECT_NEAR(rms, 0.01, 0.0016);
}

// The scenario file's gain and frequency must swing the demo rig over the top: a wrong sign only
// spins the arm, and the frequency of the pendulum on a fixed pivot stalls at 2.1 rad.
TEST(Simulation, SwingUpPassesTheUpright) {
  const std::string configs = source_folder() + "/configs/";
  Rig rig = load_rig(configs + "rig-furuta.textproto");
  apply_parameter_edits(
      {{"A.J_zz=0.0044", "B.J_yy=0.00396", "B.J_zz=0.0039", "1.K=0.0729"}, {}, {}}, rig.mechanism);
  const Scenario scenario = load_scenario(configs + "scenario-swing-up.textproto", rig);
  const SimulatedRun run = simulate(rig, scenario, 5e-4);
  EXPECT_GT(run.angles.col(1).cwiseAbs().maxCoeff(), std::numbers::pi);
}

// `calibrate` must read the output of `simulate` with its units, signs, offsets and scales.
// A controller gets whole counts and the speed over sixteen samples, as on a rig, although the
// recording is not quantized. Catches exact angles or speeds, and counts that are not relative to
// the encoder's zero.
TEST(Simulation, ControllersReadCountsAndTheirSpeed) {
  const Scenario scenario = scenario_of(
      "duration_s: 0.5 initial { joint: \"1\" angle_rad: 0.6 } position_feedback { motor: \"1\" "
      "angle_rad: 0.1 proportional_gain: 0.7 derivative_gain: 0.05 command_max: 0.4 }");
  const SimulatedRun run = simulate(pendulum(), scenario, 1e-3);
  const double count = 2.0 * std::numbers::pi / 1000.0;
  const auto counts = [&](Eigen::Index k) { return std::round(run.angles(k, 0) / count) * count; };
  for (Eigen::Index k = 0; k + 1 < run.angles.rows(); ++k) {
    const Eigen::Index before = std::min<Eigen::Index>(k, 16);
    const double speed =
        k == 0 ? 0.0 : (counts(k) - counts(k - before)) / (1e-3 * static_cast<double>(before));
    const double expected = std::clamp(0.7 * (0.1 - counts(k)) - 0.05 * speed, -0.4, 0.4);
    ASSERT_NEAR(run.controls(k, 0), expected, 1e-9) << k;
  }
}

TEST(Simulation, RecordingReadsBackAsSimulated) {
  const Rig rig = pendulum();
  const SimulatedRun run =
      simulate(rig,
               scenario_of("duration_s: 0.3 step { motor: \"1\" command: 0.3 start_s: 0.1 } "
                           "initial { joint: \"1\" angle_rad: 3.5 }"),
               1e-3);
  const ImportedRecording read = import_csv_text("x.csv", simulation_csv(rig, run), *rig.format);
  ASSERT_EQ(read.recording.segments.size(), 1U);
  const estimator::Segment& segment = read.recording.segments[0];
  ASSERT_EQ(segment.angles.rows(), run.angles.rows());
  EXPECT_LT((segment.angles - run.angles).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LT((segment.controls - run.controls).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_DOUBLE_EQ(segment.period, 1e-3);
}

TEST(Simulation, ReportsLimitsAndRest) {
  const SimulatedRun run =
      simulate(pendulum(),
               scenario_of("duration_s: 1 step { motor: \"1\" command: 0.5 } "
                           "limits { command_max: 0.5 joint { joint: \"1\" angle_rad_max: 0.3 } }"),
               1e-3);
  EXPECT_EQ(run.controls.maxCoeff(), 0.5);
  ASSERT_EQ(run.notes.size(), 1U);
  expect_parts(run.notes[0], {"joint 1", "angle limit of 0.3 rad"});
  const SimulatedRun rest = simulate(
      pendulum(), scenario_of("duration_s: 5 release { rest_speed_rad_per_s: 0.1 rest_time_s: 1 }"),
      1e-3);
  EXPECT_EQ(rest.angles.rows(), 1001);
}

TEST(Simulation, ReleaseWithoutInitialStateStartsAtItsHeldPosition) {
  constexpr double kOffset = 0.25;  // of the encoder [rad]
  const auto run_of = [](const std::string& release, const std::string& initial = "") {
    return simulate(pendulum(),
                    scenario_of("duration_s: 0.1 release { " + release + " }" + initial), 1e-3);
  };
  const std::string held = "joint: \"1\" held_angle_rad: 0.5";
  const SimulatedRun run = run_of(held);
  EXPECT_NEAR(run.angles(0, 0), 0.5 - kOffset, 1e-12);
  EXPECT_LT(run.angles(100, 0), 0.49 - kOffset);
  ASSERT_EQ(run.notes.size(), 1U);
  expect_parts(run.notes[0], {"joint \"1\" at 0.5 rad, its held position",
                              "add initial { joint: \"1\" angle_rad: ... }"});
  const SimulatedRun rest = run_of("");
  EXPECT_EQ(rest.angles(0, 0), -kOffset);
  ASSERT_EQ(rest.notes.size(), 1U);
  expect_parts(rest.notes[0],
               {"starts with all joints at 0, where the rig may not move", "add initial {"});
  const SimulatedRun chosen = run_of(held, " initial { joint: \"1\" angle_rad: 0.3 }");
  EXPECT_NEAR(chosen.angles(0, 0), 0.3 - kOffset, 1e-12);
  EXPECT_TRUE(chosen.notes.empty());
}

TEST(Simulation, RefusesAStepThatDoesNotDivideThePeriod) {
  const Scenario scenario = scenario_of("duration_s: 1 release { }");
  expect_parts(refusal([&] { (void)simulate(pendulum(), scenario, 3e-4); }),
               {"--step", "does not divide", "use 250e-6 s"});
}

// A simulation too large to store or to finish is refused at the start, with a remedy.
TEST(Simulation, RefusesTooManySamplesAndSteps) {
  const Scenario long_run = scenario_of("duration_s: 9000 rate_hz: 10000 release { }");
  expect_parts(refusal([&] { (void)simulate(pendulum(), long_run, 1e-4); }),
               {"duration_s", "samples", "more than the limit of 20e6", "rate_hz"});
  const Scenario scenario = scenario_of("duration_s: 0.01 release { }");
  EXPECT_EQ(simulate(pendulum(), scenario, 1e-3).angles.rows(), 11);
  for (const double step : {1e-15, 0.0, -1e-3, std::nan("")}) {
    expect_parts(refusal([&] { (void)simulate(pendulum(), scenario, step); }),
                 {"--step", "at least 1e-9 s"});
  }
}

// A step longer than the sampling period, as in the paper: samples then come once per step.
TEST(Simulation, LongStepsAreSampledOnceAStep) {
  const SimulatedRun run =
      simulate(pendulum(), scenario_of("duration_s: 1 release { } initial { joint: \"1\" }"), 0.01);
  EXPECT_EQ(run.angles.rows(), 101);
  EXPECT_EQ(run.notes.size(), 1U);
}

const std::string kConfigs = source_folder() + "/configs/";

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

std::string pendulum_with_limits(const std::string& limits) {
  return kSimulatedPendulum + ("safety { command_max: 5 joint { joint: \"1\" " + limits + " } }");
}

// The pendulum swings between ±0.6 rad with at most 5.236 rad/s, and its encoder has the offset
// 0.25 rad, so the readings are between −0.85 and 0.35 rad.
TEST(Simulation, ReportsWhenAndHowFarTheMotionLeavesTheRigsLimits) {
  const auto notes = [](const std::string& limits) {
    const Rig rig = parse_rig("r.textproto", pendulum_with_limits(limits));
    const Scenario scenario = parse_scenario(
        "s.textproto", "duration_s: 2 release { } initial { joint: \"1\" angle_rad: 0.6 }", rig);
    return simulate(rig, scenario, 1e-3, nullptr, Integrator::kPhysical).notes;
  };
  EXPECT_TRUE(notes("angle_rad_min: -0.86 angle_rad_max: 0.36 speed_rad_per_s_max: 5.24").empty());
  const auto found = notes("angle_rad_min: -0.2 angle_rad_max: 0.36 speed_rad_per_s_max: 3");
  ASSERT_EQ(found.size(), 2U);
  expect_parts(found[0],
               {"joint 1 exceeds its speed limit of 3 rad/s at 0.", "by up to 2.24 rad/s;"});
  expect_parts(found[1],
               {"joint 1 falls below its angle limit of -0.2 rad at 0.", "by up to 0.65 rad;"});
  const auto above = notes("angle_rad_min: -0.86 angle_rad_max: 0.3 speed_rad_per_s_max: 6");
  ASSERT_EQ(above.size(), 1U);
  expect_parts(above[0], {"exceeds its angle limit of 0.3 rad at 0 s, by up to 0.05 rad;"});
}

// A scenario limit beyond both end stops has no effect. Beyond one of them, it still limits the
// motion toward the other.
TEST(Simulation, ReportsScenarioLimitsBeyondTheEndStops) {
  Rig rig = pendulum();
  rig.mechanism.joints[0].stops = {.lower = true, .upper = true};
  rig.mechanism.joint_parameter(0, estimator::JointParameter::kStopLower).value = -0.7;
  rig.mechanism.joint_parameter(0, estimator::JointParameter::kStopUpper).value = 0.9;
  const auto notes = [&](const std::string& limit) {
    const Scenario scenario =
        parse_scenario("s.textproto",
                       "duration_s: 0.1 initial { joint: \"1\" angle_rad: 0.1 } release { } "
                       "limits { joint { joint: \"1\" angle_rad_max: " +
                           limit + " } }",
                       rig);
    return simulate(rig, scenario, 1e-3, nullptr, Integrator::kPhysical).notes;
  };
  EXPECT_TRUE(notes("0.6").empty());
  EXPECT_TRUE(notes("0.8").empty());
  const std::vector<std::string> found = notes("1");
  ASSERT_EQ(found.size(), 1U);
  expect_parts(found[0], {"joint \"1\"", "±1 rad", "end stops at -0.7 and 0.9 rad"});
}

// The simulation is complete and valid, so its file is written and the exit status is 0.
TEST(Simulation, WritesTheRecordingOfAMotionBeyondTheRigsLimits) {
  const TemporaryFolder folder;
  const std::string rig = folder.write(
      "r.textproto",
      pendulum_with_limits("angle_rad_min: -1 angle_rad_max: 0.3 speed_rad_per_s_max: 6"));
  const std::string scenario = folder.write(
      "s.textproto", "duration_s: 1 release { } initial { joint: \"1\" angle_rad: 0.6 }");
  const ProgramRun run = run_successfully("simulate --rig " + rig + " --scenario " + scenario +
                                          " --out " + folder.file("run.csv"));
  expect_parts(run.err, {"note: joint 1 exceeds its angle limit of 0.3 rad"});
  EXPECT_FALSE(contents_of(folder.file("run.csv")).empty());
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
  rig.joint_properties[0].safety->command_slew_per_s_max = 70.0;
  EXPECT_EQ(parse_scenario("s", step, rig).command_limits.at(0).command_slew_per_s_max, 70.0);
  rig.joint_properties[0].safety.reset();
  rig.joint_properties[0].control_max = 3.0;
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

// A wrong pairing would compare a parameter with another one's truth. Fixed values of a rig file
// must be those of its simulation, and every free parameter must have a truth. Stribeck friction is
// excluded: the pendulum's rig file does not have it, its simulation does.
TEST(SimulationTruth, HasTheParametersOfItsRigFile) {
  for (const std::string name : {"furuta", "pendulum"}) {
    SCOPED_TRACE(name);
    const TrueParameters truth = load_true_parameters(config("sim-" + name + ".textproto"));
    const Rig rig = load_rig(config("rig-" + name + ".textproto"));
    for (const estimator::Parameter& parameter : rig.mechanism.parameters) {
      const auto found = truth.find(parameter.name);
      if (parameter.free) {
        EXPECT_NE(found, truth.end()) << parameter.name;
      } else if (found != truth.end() && !parameter.name.ends_with(".zeta") &&
                 !parameter.name.ends_with("tau_delta")) {
        EXPECT_DOUBLE_EQ(parameter.value, found->second) << parameter.name;
      }
    }
  }
  const TrueParameters furuta = load_true_parameters(config("sim-furuta.textproto"));
  EXPECT_EQ(furuta.at("B.J_yy"), 0.00396);
  EXPECT_EQ(furuta.at("1.tau_c"), 0.004);
  EXPECT_EQ(furuta.at("gravity.tilt_z"), -0.004);
}

estimator::ParameterEstimate estimate(const std::string& name, double value, double deviation) {
  return {.name = name, .unit = "kg·m²", .value = value, .standard_deviation = deviation};
}

TEST(TruthTable, ContainsErrorsInPercentAndInStandardDeviations) {
  const TrueParameters truth = {{"A.J_zz", 0.004}, {"2.offset", 0.0}};
  const std::string table =
      format_truth_comparison({estimate("A.J_zz", 0.0041, 5e-5), estimate("2.offset", 0.002, 1e-3),
                               estimate("unknown", 1.0, 1.0)},
                              truth);
  expect_parts(table, {"A.J_zz", "0.004100", "+2.50 %", "+2", "0.0020"});
  EXPECT_EQ(table.find("unknown"), std::string::npos);
  // Nothing is claimed about an estimate without a standard deviation.
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string unseen = format_truth_comparison({estimate("A.J_zz", 0.0041, infinity)}, truth);
  expect_parts(unseen, {"+2.50 %"});
  EXPECT_TRUE(unseen.ends_with(" -\n")) << unseen;
  expect_parts(refusal([&] { (void)format_truth_comparison({estimate("x", 1.0, 1.0)}, truth); }),
               {"none of the estimated parameters", "rig file"});
}

TEST(SimulationTruth, FileWithoutARigIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("sim.textproto", "gravity { tilt_x_rad: 0.1 }");
  expect_parts(refusal([&] { (void)load_true_parameters(path); }), {path, "no rig", "furuta"});
}

}  // namespace
}  // namespace service
