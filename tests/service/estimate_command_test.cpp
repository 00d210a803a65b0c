// The command that estimates states, as a program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/sample.pb.h"
#include "tests/service/run_rigcal.hpp"

namespace service {
namespace {

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
  EXPECT_NE(unknown.err.find("states.xyz: give a name that ends in .csv or .mcap"),
            std::string::npos);
  const ProgramRun report =
      run_rigcal("calibrate " + folder_.file("run.csv") + " --rig " +
                 config("rig-furuta.textproto") + " --plot " + folder_.file("report.pdf"));
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_NE(report.err.find("report.pdf: give a name that ends in .html"), std::string::npos);
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
  const ProgramRun info = run_rigcal("info " + folder_.file("states.mcap"));
  EXPECT_EQ(info.exit_code, 1);
  EXPECT_NE(info.err.find("--rig"), std::string::npos) << info.err;
}

}  // namespace
}  // namespace service
