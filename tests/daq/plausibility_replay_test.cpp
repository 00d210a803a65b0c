#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "daq/safety/encoder_motion_monitor.hpp"
#include "daq/scenario/joint_tracker.hpp"
#include "tests/support/evaluation_data.hpp"

// Replays recordings of other rigs through the motion checks: none may trip.

namespace daq {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

/// A column of a recording: the angle or position of a joint.
struct RecordedJoint {
  std::string column;
  double counts_per_unit;    // counts per turn [1/rad] or per metre
  std::string command = {};  // column of its motor's command; empty: it has none
  bool slides = false;
  double stall_command = 0.0;  // 0: the default fraction of the largest recorded command
};

struct Recorded {
  std::string file;
  std::vector<RecordedJoint> joints;
  std::string segment = {};  // column whose changes mark a new recording
  bool starts_at_rest = false;
};

/// A CSV file with one header line.
struct Table {
  std::vector<std::string> names;
  Eigen::MatrixXd numbers;

  Eigen::Index find(const std::string& name) const {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (names[k].starts_with(name)) return static_cast<Eigen::Index>(k);
    }
    throw std::runtime_error("no column " + name);
  }
};

Table read_table(const std::filesystem::path& path) {
  Table table{{}, test_support::read_csv(path)};
  std::ifstream file(path);
  std::string line, name;
  std::getline(file, line);
  for (std::istringstream names(line); std::getline(names, name, ',');) table.names.push_back(name);
  return table;
}

SafetyLimits limits_of(const Recorded& recorded, const Table& table) {
  SafetyLimits limits;
  int motor = 0;
  for (const RecordedJoint& joint : recorded.joints) {
    JointDrive motion{.rad_per_count = 1.0 / joint.counts_per_unit};
    if (!joint.command.empty()) {
      const auto command = table.numbers.col(table.find(joint.command)).array();
      const double largest = command.isFinite().select(command.abs(), 0.0).maxCoeff();
      motion.motor = motor++;
      motion.stall_command =
          joint.stall_command > 0.0 ? joint.stall_command : kStallShareDefault * largest;
      motion.stall_time_s = kStallTimeDefault_s;
    }
    limits.joint.push_back({.joint = joint.column, .slides = joint.slides});
    limits.motion.push_back(motion);
  }
  return limits;
}

constexpr double kWatched_s = 0.5;

// Replays rows until a segment ends. A segment that starts at rest is preceded by simulated rest.
Trip replay(const Recorded& recorded, const Table& table, Eigen::Index& row) {
  EncoderMotionMonitor motion(limits_of(recorded, table));
  std::array<JointTracker, kJointsMax> trackers;
  Observation now;
  std::array<std::int64_t, kJointsMax> counts{};
  MotorCommands command{};
  const MotorCommands rest{};
  const Eigen::Index segment = recorded.segment.empty() ? -1 : table.find(recorded.segment);
  for (const Eigen::Index first = row; row < table.numbers.rows(); ++row) {
    const auto values = table.numbers.row(row);
    if (segment >= 0 && values[segment] != table.numbers(first, segment)) break;
    std::size_t motors = 0;
    for (std::size_t j = 0; j < recorded.joints.size(); ++j) {
      const RecordedJoint& joint = recorded.joints[j];
      counts[j] = std::llround(values[table.find(joint.column)] * joint.counts_per_unit);
      const double angle = static_cast<double>(counts[j]) / joint.counts_per_unit;
      now.joint[j] = {angle, 0.0, true};
      if (joint.command.empty()) continue;
      const double u = values[table.find(joint.command)];
      command[motors++] = std::isfinite(u) ? u : 0.0;  // the last row of some has none
    }
    for (int k = 0; row == first && recorded.starts_at_rest && k < 500; ++k) {
      now.time_s = values[0] - kWatched_s + 1e-3 * k;
      for (std::size_t j = 0; j < recorded.joints.size(); ++j) {
        trackers[j].add(now.time_s, now.joint[j].angle_rad);
      }
      motion.add({now, counts, std::span(rest).first(motors), MotionPhase::kWatched});
    }
    now.time_s = values[0];
    for (std::size_t j = 0; j < recorded.joints.size(); ++j) {
      JointState& state = now.joint[j];
      state.speed_rad_per_s = trackers[j].add(now.time_s, state.angle_rad);
    }
    const Trip trip = motion.add({now, counts, std::span(command).first(motors),
                                  motors > 0 ? MotionPhase::kDriven : MotionPhase::kReleased});
    if (trip.cause != TripCause::kNone) return trip;
  }
  return {};
}

// Real and simulated rigs: direct and geared drives, voltage, torque and no input, friction from
// 0.1 to 30 % of the largest push, 20 Hz to 1 kHz, closed and open loop.
TEST(PlausibilityReplay, PassesRecordingsOfOtherRigs) {
  const auto data = test_support::find_evaluation_data();
  if (!data) GTEST_SKIP() << "the folder of evaluation data is not there";
  const double fine = 4096 / kTurn;
  const double qube = 2048 / kTurn;
  std::vector<Recorded> all;
  const auto add = [&](const std::string& before, std::initializer_list<const char*> runs,
                       const std::vector<RecordedJoint>& joints, bool starts_at_rest = false,
                       const std::string& segment = "") {
    for (const char* run : runs) {
      all.push_back({before + run + ".csv", joints, segment, starts_at_rest});
    }
  };
  add("real/dfki_double_pendulum/trajectory_0", {"0", "1", "2", "3"},
      {{"q1_rad", 16384 / kTurn, "tau_command1_Nm"}, {"q2_rad", 16384 / kTurn, "tau_command2_Nm"}},
      true);
  add("real/qube_servo2/qq-",
      {"su_ectrl_250Hz_10s__2021-05-31_10-42-50", "su_ectrl_250Hz_10s__2021-05-31_10-44-13",
       "su_ectrl_500Hz_5s__2021-06-11_12-09-08", "su_ectrl_500Hz_5s__2021-06-11_12-10-11"},
      {{"theta_rad", qube, "u_V"}, {"alpha_rad", qube}}, true);
  add("real/qube_servo2/qq_chrip_10to0Hz_",
      {"m1.5V_250Hz_10s__2021-04-14_18-56-57", "p1.5V_250Hz_10s__2021-04-14_18-52-33"},
      {{"theta_rad", qube, "u_V"}, {"alpha_rad", qube}}, true);
  // Its dry friction is published: 0.29 N·m, and 0.08 N·m more one way.
  add("real/dfki_simple_pendulum/control_method_",
      {"energy_shaping__data_measured", "pd__system_identification__data_measured"},
      {{"position", 343.0, "torque", false, 0.37}});
  add("real/lund_furuta/", {"FurutaData"},
      {{"phi_arm_rad", fine}, {"theta_pend_from_upright_rad", fine}});
  add("real/multiarm_double/free_swing_", {"identification", "validation"},
      {{"q1_rad", fine}, {"q2_rad", fine}}, false, "segment");
  add("real/multiarm_single/", {"single_pendulum_free_swing"}, {{"theta_from_upright_rad", fine}});
  add("synthetic/furuta_",
      {"paper_multisine__noise", "paper_multisine__quant", "paper_pulse__noise",
       "paper_pulse__quant", "paper_swingup__noise", "paper_swingup__quant",
       "rand1_multisine__noise", "rand1_pulse__noise", "rand1_swingup__noise"},
      {{"theta1_rad", fine, "u_V"}, {"theta2_rad", fine}}, true);
  add("synthetic/furuta_",
      {"paper_release__clean", "paper_release__noise", "paper_release__quant",
       "rand1_release__noise"},
      {{"theta1_rad", fine}, {"theta2_rad", fine}});
  add("synthetic/pend_",
      {"paper_release__clean", "paper_release__noise", "paper_release__quant",
       "rand1_release__noise"},
      {{"theta1_rad", fine}});
  const auto add_planar = [&](const std::string& rig, const std::vector<RecordedJoint>& joints) {
    add("synthetic_planar/" + rig + "_",
        {"base__clean", "base__noise", "base__quant", "rand1__noise", "rand1__quant"}, joints);
  };
  add_planar("cartpole", {{"rail_m", 20000.0, "u0", true}, {"pivot_rad", fine}});
  add_planar("chain3imu", {{"h1_rad", fine, "u0"}, {"h2_rad", fine}, {"h3_rad", fine}});
  add_planar("fivebar", {{"O1_rad", fine, "u0"}, {"O2_rad", fine, "u1"}});
  add_planar("fourbar", {{"O_rad", fine, "u0"}, {"R_rad", fine}});
  add_planar("fourbar_release", {{"O_rad", fine}, {"R_rad", fine}});
  for (const Recorded& recorded : all) {
    const Table table = read_table(*data / recorded.file);
    for (Eigen::Index row = 0; row < table.numbers.rows();) {
      const Eigen::Index first = row;
      const Trip trip = replay(recorded, table, row);
      EXPECT_EQ(trip.cause, TripCause::kNone) << recorded.file << " from row " << first << ": "
                                              << describe_trip(trip, limits_of(recorded, table));
      if (trip.cause != TripCause::kNone) break;
    }
  }
}

}  // namespace
}  // namespace daq
