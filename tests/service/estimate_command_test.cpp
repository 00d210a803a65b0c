// The command that estimates states, as a program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "proto/calibration.pb.h"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/sample.pb.h"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/json.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using test_support::expect_parts;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

/// A simulated release of the Furuta pendulum.
class EstimateCommand : public testing::Test {
 protected:
  EstimateCommand() {
    const std::string scenario =
        folder_.write("s.textproto",
                      "duration_s: 1 release { } initial { joint: \"2\" angle_rad: 1 } "
                      "noise { angle_standard_deviation_rad: 0.001 seed: 5 }");
    run_successfully("simulate --rig " + config("rig-furuta.textproto") + " --scenario " +
                     scenario + " --integrator physical --out " + folder_.file("run.csv"));
  }

  ProgramRun estimate(const std::string& more) const {
    return run_rigcal("estimate " + folder_.file("run.csv") + " --rig " +
                      config("rig-furuta.textproto") + " --quiet " + more);
  }

  TemporaryFolder folder_;
};

TEST_F(EstimateCommand, WritesAllQuantities) {
  const ProgramRun run = estimate("--out -");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::istringstream lines(run.out);
  std::string header, row;
  std::getline(lines, header);
  const std::vector<std::string> names = split(header);
  // 12 quantities of the driven joint, of the other all but the motor's, each with its standard
  // deviation. And the control.
  EXPECT_EQ(names.size(), 3U + 2U * (12U + 11U));
  for (const char* name : {"1_control", "1_rad", "1_rad_sd", "1_effort_Nm", "1_motor_Nm",
                           "2_friction_Nm_sd", "2_moment_y_Nm", "2_force_z_N_sd"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
  EXPECT_EQ(std::ranges::count(names, "2_motor_Nm"), 0);
  std::size_t rows = 0;
  while (std::getline(lines, row)) {
    ++rows;
    EXPECT_EQ(split(row).size(), names.size());
    EXPECT_EQ(row.find("nan"), std::string::npos);
  }
  EXPECT_GT(rows, 100U);
}

TEST_F(EstimateCommand, WritesTheRequestedQuantities) {
  const ProgramRun run = estimate("--only rate,force --lag 0.02 --out -");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.substr(0, run.out.find('\n')),
            "recording,t_s,1_rad_per_s,1_rad_per_s_sd,1_force_x_N,1_force_x_N_sd,1_force_y_N,"
            "1_force_y_N_sd,1_force_z_N,1_force_z_N_sd,2_rad_per_s,2_rad_per_s_sd,2_force_x_N,"
            "2_force_x_N_sd,2_force_y_N,2_force_y_N_sd,2_force_z_N,2_force_z_N_sd");
  const ProgramRun unknown = estimate("--out " + folder_.file("states.xyz"));
  EXPECT_EQ(unknown.exit_code, 1);
  expect_parts(unknown.err, {"states.xyz: give a name that ends in .csv or .mcap"});
  run_refused("calibrate " + folder_.file("run.csv") + " --rig " + config("rig-furuta.textproto") +
                  " --plot " + folder_.file("report.txt"),
              {"report.txt: give a name that ends in .html"});
  const ProgramRun wrong = estimate("--only speed --out -");
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_NE(wrong.err.find("--only"), std::string::npos) << wrong.err;
}

/// Counts the messages of each topic, and stores the last one of the second joint.
class Joints final : public proto::McapVisitor {
 public:
  bool on_message(const proto::McapChannel& channel, const proto::McapSchema* schema,
                  const proto::McapMessage& message) override {
    EXPECT_EQ(schema->name, "rigcal.v1.JointEstimate");
    if (channel.topic != "/rig/joint/2") return true;
    ++count;
    EXPECT_TRUE(last.ParseFromArray(message.data.data(), static_cast<int>(message.data.size())));
    return true;
  }
  int count = 0;
  rigcal::v1::JointEstimate last;
};

TEST_F(EstimateCommand, WritesMcap) {
  const std::string out = folder_.file("states.mcap");
  const ProgramRun run = estimate("--causal --only angle,moment --out " + out);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto file = proto::open_input_file(out);
  ASSERT_TRUE(file.ok());
  Joints joints;
  const auto scan = proto::scan_mcap(*file.value(), joints);
  ASSERT_TRUE(scan.ok());
  EXPECT_TRUE(scan.value().intact());
  EXPECT_GT(joints.count, 100);
  EXPECT_NEAR(joints.last.timestamp(), 1.0, 0.01);
  EXPECT_GT(joints.last.standard_deviation().position(), 0.0);
  EXPECT_LT(joints.last.standard_deviation().position(), 0.002);
  EXPECT_TRUE(std::isfinite(joints.last.wrench().torque().y()));
  EXPECT_TRUE(std::isnan(joints.last.velocity()));
  EXPECT_TRUE(std::isnan(joints.last.motor_effort()));

  const ProgramRun again = estimate("--out " + out);
  EXPECT_NE(again.exit_code, 0);
  EXPECT_NE(again.err.find("states.mcap"), std::string::npos) << again.err;
}

TEST_F(EstimateCommand, WritesReadableColumns) {
  for (const char* name : {"states.csv", "states.mcap"}) {
    const std::string out = folder_.file(name);
    ASSERT_EQ(estimate("--only angle,rate --out " + out).exit_code, 0);
    const ProgramRun again = run_successfully(
        "estimate " + out + " --rig " + config("rig-furuta.textproto") + " --only angle --out -");
    EXPECT_NE(again.err.find("estimates from a model"), std::string::npos) << again.err;
  }
  run_refused("info " + folder_.file("states.mcap"), {"--rig"});
}

// --hold-out for a sensor that is no encoder, in all commands that accept it.

const char* const kSensedPendulum = R"(name: "sensed"
body { name: "A" mass { value: 0.5 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.004 free: true } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "A" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.002 free: true } } encoder { } }
inertial_sensor { name: "imu1" body: "A" point { x { value: 0.05 } }
  gyroscope { } accelerometer { } }
distance_sensor { name: "wire" body: "A" anchor { x { value: 0.5 } } }
torque_sensor { name: "strain" joint: "1" }
recording { time { column: "t" } angle { joint: "1" column: "x" unit: RADIAN }
  inertial { sensor: "imu1" axis: GYRO_Z column: "gz" unit: RADIAN_PER_SECOND }
  inertial { sensor: "imu1" axis: ACCEL_X column: "ax" unit: METER_PER_SECOND_SQUARED }
  position_sensor { sensor: "wire" axis: DISTANCE column: "d" unit: METER }
  force_torque { sensor: "strain" axis: TORQUE column: "tau" unit: NEWTON_METER } }
)";

class WithholdCommand : public ::testing::Test {
 protected:
  std::string recording(int seed) const {
    const std::string scenario = folder_.write(
        "s.textproto",
        "duration_s: 4 release { } initial { joint: \"1\" angle_rad: 1.2 } noise { "
        "angle_standard_deviation_rad: 1e-3 gyroscope_standard_deviation_rad_per_s: 2e-3 "
        "accelerometer_standard_deviation_m_per_s2: 0.02 position_standard_deviation_m: 1e-3 "
        "torque_standard_deviation_Nm: 1e-3 seed: " +
            std::to_string(seed) + " }");
    const std::string out = folder_.file("run" + std::to_string(seed) + ".csv");
    run_successfully("simulate --rig " + rig_ + " --scenario " + scenario +
                     " --step 1e-3 --integrator physical --out " + out);
    return out;
  }

  TemporaryFolder folder_;
  std::string rig_ = folder_.write("rig.textproto", kSensedPendulum);
};

TEST_F(WithholdCommand, HoldsOutAnySensorAndReportsTheCost) {
  const std::string input = recording(1) + " --rig " + rig_ + " --quiet";
  const struct {
    const char* name;
    std::vector<std::string> axes;
    const char* unit;
    double noise;
  } sensors[] = {{"imu1", {"imu1.gyro_z", "imu1.accel_x"}, "rad/s", 2e-3},
                 {"wire", {"wire.distance"}, "m", 1e-3},
                 {"strain", {"strain.torque"}, "N·m", 1e-3}};
  for (const auto& sensor : sensors) {
    SCOPED_TRACE(sensor.name);
    const ProgramRun run = run_successfully("calibrate " + input + " --hold-out " + sensor.name +
                                            " --json " + folder_.file("r.json"));
    const auto result =
        test_support::from_json<rigcal::v1::CalibrationResult>(contents_of(folder_.file("r.json")));
    ASSERT_EQ(result.held_out_size(), static_cast<int>(sensor.axes.size()));
    for (std::size_t i = 0; i < sensor.axes.size(); ++i) {
      EXPECT_EQ(result.held_out(static_cast<int>(i)).joint(), sensor.axes[i]);
      expect_parts(run.out, {"\"" + sensor.axes[i] + "\" was held out"});
    }
    EXPECT_EQ(result.held_out(0).unit(), sensor.unit);
    EXPECT_TRUE(std::isnan(result.held_out(0).rmse_rad()));
    EXPECT_NEAR(result.held_out(0).rmse(), sensor.noise, 0.2 * sensor.noise);
    EXPECT_GE(result.held_out(0).deviation_ratio(), 1.0);
    for (const auto& row : result.inertial()) EXPECT_FALSE(row.name().starts_with(sensor.name));
  }
}

// Parameters of a held-out sensor are not estimated, which is no flaw of the recording.
TEST_F(WithholdCommand, DoesNotBlameRecordingsForTheSensorsParameters) {
  std::string text = kSensedPendulum;
  const std::string place = "point { x { value: 0.05 } }",
                    free = "point { x { value: 0.05 free: true } }";
  text = test_support::replaced(text, place, free);
  const std::string rig = folder_.write("free.textproto", text);
  const std::string command = "calibrate " + recording(1) + " --rig " + rig + " --quiet";
  const ProgramRun whole = run_successfully(command);
  EXPECT_EQ(whole.out.find("at their initial values"), std::string::npos) << whole.out;
  const ProgramRun run = run_successfully(
      command + " --hold-out imu1",
      {"\"imu1.gyro_z\" was held out",
       "its own free parameters, which only it identifies, at their initial values"});
  EXPECT_EQ(run.out.find("has no effect on these recordings"), std::string::npos) << run.out;
  const ProgramRun other = run_successfully(command + " --hold-out wire");
  EXPECT_EQ(other.out.find("at their initial values"), std::string::npos) << other.out;
}

TEST_F(WithholdCommand, KeepsOneEncoderAndChecksNames) {
  const std::string input = "calibrate " + recording(1) + " --rig " + rig_ + " --quiet --hold-out ";
  run_refused(input + "1", {"--hold-out 1", "would hold out all encoders", "Keep at least one"});
  run_refused(input + "nobody", {"--hold-out nobody", "Use one of 1, imu1, strain, wire"});
  run_refused(input + "imu1 --hold-out imu1",
              {"--hold-out imu1", "no such sensor is in use", "Use one of 1, strain, wire"});
}

// The sensor is also held out in commands that evaluate other results.
TEST_F(WithholdCommand, IsAcceptedByTheEvaluatingCommands) {
  const std::string a = recording(1), b = recording(2), rig = " --rig " + rig_ + " --quiet ";
  for (const std::string& command :
       {"crossvalidate " + a + " " + b + rig, "validate " + a + rig, "check " + a + rig,
        "estimate " + a + rig + "--only angle --out " + folder_.file("e.csv")}) {
    SCOPED_TRACE(command);
    run_successfully(command);
    const ProgramRun run = run_successfully(command + " --hold-out imu1");
    EXPECT_EQ(run.out.find("imu1.gyro"), std::string::npos) << run.out;
  }
}

}  // namespace
}  // namespace service
