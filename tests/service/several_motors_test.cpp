// A rig with two motors, from rig file and scenario over a recording to estimates.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/export/export_mat.hpp"
#include "proto/recording/recording_writer.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

/// Two links in the plane; gains and frictions are free.
const std::string kArm = R"(name: "arm"
body { name: "upper" mass { value: 0.5 }
       inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.004 } } }
body { name: "fore" mass { value: 0.3 }
       inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.002 } } }
joint { name: "shoulder"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "upper" point { x { value: -0.15 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.02 free: true } }
  motor { control_unit: "V" control_max: 12 gain { value: 0.2 free: true } }
  encoder { counts_per_turn: 8192 } }
joint { name: "elbow"
  parent { body: "upper" point { x { value: 0.15 } } axis { z: 1 } zero_direction { x: 1 } }
  child { body: "fore" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.005 free: true } }
  motor { control_unit: "duty" gain { value: 1.5 free: true } }
  encoder { counts_per_turn: 8192 } }
recording { time { column: "t_s" }
  angle { joint: "shoulder" column: "q1" unit: RADIAN }
  angle { joint: "elbow" column: "q2" unit: RADIAN }
  control { joint: "shoulder" column: "u1" } control { joint: "elbow" column: "u2" } }
safety { command_max: 9 motor { joint: "elbow" command_max: 0.5 command_slew_per_s_max: 5 } }
)";

const std::string kScenario = R"(name: "both" duration_s: 6
chirp { motor: "shoulder" amplitude: 6 frequency_start_hz: 0.3 frequency_end_hz: 2 }
step { motor: "elbow" command: 0.3 start_s: 1 }
noise { quantize: true }
)";

Rig arm() { return parse_rig("arm.textproto", kArm); }

SimulatedRun simulate_both(const Rig& rig) {
  return simulate(rig, parse_scenario("s.textproto", kScenario, rig), 1e-3);
}

/// A recording of the run, with channels and motors in the reverse order of the rig file.
void write_recording(const SimulatedRun& run, const std::string& path,
                     const std::vector<std::string>& motors = {"elbow", "shoulder"}) {
  std::vector<std::string> units;
  for (const std::string& motor : motors) units.push_back(motor == "shoulder" ? "V" : "duty");
  auto writer = proto::RecordingWriter::create(
      path,
      {.joints = {"elbow", "shoulder"}, .motors = motors, .command_units = units, .facts = {}});
  ASSERT_TRUE(writer.ok()) << writer.error().detail;
  for (Eigen::Index k = 0; k < run.angles.rows(); ++k) {
    proto::Sample sample;
    sample.timestamp_s = run.period * static_cast<double>(k);
    sample.sequence = static_cast<std::uint64_t>(k);
    sample.device_time_us = 1000 * k;
    sample.channel_count = 2;
    sample.angle_rad = {run.angles(k, 1), run.angles(k, 0)};
    sample.valid = {true, true};
    sample.motor_count = static_cast<std::uint32_t>(std::max<std::size_t>(motors.size(), 1));
    sample.command = {run.controls(k, 1), run.controls(k, 0)};
    if (motors.size() < 2) sample.command[1] = 0.0;
    ASSERT_TRUE(writer.value().write(sample).ok());
  }
  ASSERT_TRUE(writer.value().finish().ok());
}

// Each motor is simulated with its own excitation, limits and delay.
TEST(SeveralMotors, AreSimulatedEachUnderItsOwnExcitation) {
  const Rig rig = arm();
  const SimulatedRun run = simulate_both(rig);
  ASSERT_EQ(run.controls.cols(), 2);
  EXPECT_NEAR(run.controls.col(0).maxCoeff(), 6.0, 1e-3);
  EXPECT_EQ(run.controls.col(1).maxCoeff(), 0.3);
  EXPECT_EQ(run.controls(999, 1), 0.0);
  EXPECT_NEAR(run.controls(1000, 1), 0.005, 1e-12) << "its slew of 5/s";
  EXPECT_NEAR(run.controls(1010, 1), 0.055, 1e-12);

  const auto stepped = [&](const std::string& elbow_delay, const std::string& elbow_start) {
    std::string text = kArm;
    const std::string gain = "gain { value: 1.5 free: true }";
    text = replaced(text, gain, gain + " input_delay { value: " + elbow_delay + " }");
    const Rig delayed = parse_rig("arm.textproto", text);
    return simulate(delayed,
                    parse_scenario("s.textproto",
                                   "duration_s: 1 step { motor: \"shoulder\" command: 2 } "
                                   "step { motor: \"elbow\" command: 0.2 start_s: " +
                                       elbow_start + " }",
                                   delayed),
                    1e-3)
        .angles;
  };
  EXPECT_LT((stepped("0.05", "0.1") - stepped("0", "0.15")).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_GT((stepped("0.05", "0.1") - stepped("0", "0.1")).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(SeveralMotors, AreLimitedInASimulation) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { (void)parse_scenario("s.textproto", text, arm()); });
  };
  expect_parts(refused("duration_s: 1 step { motor: \"elbow\" command: 0.6 }"),
               {"0.6 duty at motor \"elbow\"", "allowed are 0.5"});
  EXPECT_NO_THROW((void)parse_scenario(
      "s.textproto", "duration_s: 1 step { motor: \"shoulder\" command: 9 }", arm()));
  expect_parts(refused("duration_s: 1 step { motor: \"elbow\" } step { motor: \"elbow\" }"),
               {"\"elbow\" has two excitations"});
}

// A duty is at most 1, whether stated or not.
TEST(SeveralMotors, AcceptADutyUpToOne) {
  EXPECT_EQ(arm().joint_properties[1].control_max, 1.0);
  EXPECT_EQ(arm().joint_properties[0].control_max, 12.0);
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = replaced(kArm, from, to);
    return refusal([&] { (void)parse_rig("arm.textproto", text); });
  };
  expect_parts(refused("\"duty\"", "\"duty\" control_max: 2"),
               {"arm.textproto:16", "control_max is 2", "a duty is at most 1"});
  expect_parts(refused("motor { joint: \"elbow\" command_max: 0.5 command_slew_per_s_max: 5 }", ""),
               {"arm.textproto:22", "\"elbow\", 1 duty"});
}

// Controls are assigned by the joints that the recording names. By position, each motor would be
// calibrated with the other's command.
TEST(SeveralMotors, AreFoundInARecordingByTheirJoints) {
  const TemporaryFolder folder;
  const Rig rig = arm();
  const SimulatedRun run = simulate_both(rig);
  write_recording(run, folder.file("run.mcap"));
  ASSERT_TRUE(proto::export_csv(folder.file("run.mcap"), folder.file("run.csv")).ok());
  ASSERT_TRUE(proto::export_mat(folder.file("run.mcap"), folder.file("run.mat")).ok());
  for (const char* name : {"run.mcap", "run.csv", "run.mat"}) {
    SCOPED_TRACE(name);
    const ImportedRecording imported = import_recording(folder.file(name), rig);
    ASSERT_EQ(imported.recording.segments.size(), 1U);
    const estimator::Segment& segment = imported.recording.segments[0];
    EXPECT_EQ(segment.angles, run.angles);
    EXPECT_EQ(segment.controls, run.controls);
  }
}

TEST(SeveralMotors, AreReportedIfMissingInARecording) {
  const TemporaryFolder folder;
  const SimulatedRun run = simulate_both(arm());
  write_recording(run, folder.file("one.mcap"), {"elbow"});
  write_recording(run, folder.file("other.mcap"), {"elbow", "wrist"});
  write_recording(run, folder.file("none.mcap"), {});
  const auto refused = [&](const std::string& name) {
    return refusal([&] { (void)import_recording(folder.file(name), arm()); });
  };
  expect_parts(refused("one.mcap"), {"one.mcap: has commands of elbow", "motor on \"shoulder\""});
  expect_parts(refused("other.mcap"), {"commands of elbow,wrist", "motor on \"shoulder\""});
  expect_parts(refused("none.mcap"), {"one command of an unnamed motor", "\"shoulder\""});
}

// From the recording to both gains, which start a fifth and a third off.
TEST(SeveralMotors, AreCalibratedEachWithItsCommand) {
  const TemporaryFolder folder;
  Rig rig = arm();
  write_recording(simulate_both(rig), folder.file("run.mcap"));
  using estimator::JointParameter;
  rig.mechanism.joint_parameter(0, JointParameter::kMotorGain).value = 0.16;
  rig.mechanism.joint_parameter(1, JointParameter::kMotorGain).value = 1.0;
  const estimator::Calibration result = estimator::calibrate(
      rig.mechanism, {import_recording(folder.file("run.mcap"), rig).recording});
  ASSERT_TRUE(result.converged());
  const std::map<std::string, double> truth = {
      {"shoulder.K", 0.2}, {"elbow.K", 1.5}, {"shoulder.b", 0.02}, {"elbow.b", 0.005}};
  ASSERT_EQ(result.parameters.size(), truth.size());
  for (const estimator::ParameterEstimate& estimate : result.parameters) {
    const double expected = truth.at(estimate.name);
    EXPECT_LT(std::abs(estimate.value - expected),
              std::max(3.0 * estimate.standard_deviation, 5e-3 * expected))
        << estimate.name << " " << estimate.value << " ± " << estimate.standard_deviation;
  }
}

}  // namespace
}  // namespace service
