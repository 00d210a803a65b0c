#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimator/simulation/loops/loop_closure.hpp"
#include "proto/text/input_error.hpp"
#include "service/simulation/plant.hpp"
#include "tests/studies/leg/needed_controls.hpp"
#include "tests/studies/study_file.hpp"
#include "tests/studies/tests/tiny_study.hpp"

namespace service {
namespace {

constexpr double kShort = 0.043, kLong = 0.3, kBase = 0.35 - 0.0515;  // of the linkage [m]

/// Returns the lever's angle from the thigh's line for a crank angle, by the law of cosines [rad].
double lever_angle(double crank) {
  const double along = kBase - kShort * std::cos(crank), across = -kShort * std::sin(crank);
  const double reach = std::hypot(along, across);
  const double turn =
      std::acos((kLong * kLong - kShort * kShort - reach * reach) / (2.0 * kShort * reach));
  const double at = std::atan2(across, along);
  const double one = std::remainder(at + turn, 2.0 * M_PI);
  const double other = std::remainder(at - turn, 2.0 * M_PI);
  return std::abs(one - crank) < std::abs(other - crank) ? one : other;
}

// Catches a joint point, axis or zero mark of the leg that differs from the paper's. Over the
// knee's range the loop closes at the intersection of two circles, and a turn of the crank turns
// the knee as the coupler's direction requires. The rig file states the lever's pin to 1e-8 m.
TEST(LegRig, LinkageClosesAndTurnsTheKneeAsTheGeometry) {
  const Rig rig = load_rig(config("rig-leg.textproto"));
  const estimator::Mechanism& leg = rig.mechanism;
  constexpr int kCrank = 2, kKnee = 4;
  ASSERT_EQ(leg.joints[kCrank].name, "KFE");
  ASSERT_EQ(leg.joints[kKnee].name, "knee");
  estimator::LoopClosure closure(leg);
  ControlInverseDynamics controls(leg);
  Eigen::VectorXd angles(6);
  angles << 0.1, 0.8, 0.0, 0.85, -0.6, -0.6;
  for (double crank = -0.85; crank > -3.0; crank -= 0.1) {
    SCOPED_TRACE(crank);
    const double lever = lever_angle(crank);
    Eigen::VectorXd wanted = Eigen::VectorXd::Constant(6, std::nan(""));
    wanted.head<3>() << 0.1, 0.8, crank;
    angles[kCrank] = crank;
    ASSERT_TRUE(closure.close(angles, wanted));
    EXPECT_NEAR(angles[kCrank], crank, 1e-5);  // a target, not a constraint
    EXPECT_NEAR(angles[kKnee], lever + 0.25, 2e-5);
    // Inconsistent readings are closed by the loop's own joints; those that carry it stay.
    Eigen::VectorXd read = angles, closed = angles;
    read[kKnee] += 1e-5;
    ASSERT_TRUE(closure.close(closed, read));
    EXPECT_NEAR(closed[0], 0.1, 1e-9);
    EXPECT_NEAR(closed[1], 0.8, 1e-9);
    // Both pins have equal velocities along the coupler d: crank' d·u'(crank) = lever' d·u'(lever).
    const Eigen::Vector2d d{kBase + kShort * (std::cos(lever) - std::cos(crank)),
                            kShort * (std::sin(lever) - std::sin(crank))};
    const auto along = [&](double angle) {
      return d.dot(Eigen::Vector2d{-std::sin(angle), std::cos(angle)});
    };
    const Eigen::MatrixXd N = controls.joint_rate_map(angles);
    EXPECT_NEAR(N(kKnee, kCrank), along(crank) / along(lever), 1e-4);
    EXPECT_NEAR(N(kKnee, 0), 0.0, 1e-9);
    EXPECT_NEAR(N(kKnee, 1), 0.0, 1e-9);
  }
}

// Forward and inverse dynamics must be inverse to each other, through loops, springs, back-EMF and
// slipping dry friction. Accelerations come from another elimination of the loops
// (SimdLoopAccelerations).
TEST(ControlInverseDynamics, ReproduceTheMotion) {
  struct Case {
    const char* file;
    std::vector<double> control, start, speed;
  };
  const Case cases[] = {{"rig-fivebar.textproto", {3.0, -2.0}, {2.1, -1.3, 1.04}, {2.0, -1.5, 1.0}},
                        {"rig-fourbar.textproto", {2.5}, {0.5}, {6.0}},
                        {"rig-furuta.textproto", {}, {}, {}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.file);
    const Rig rig = load_rig(config(each.file));
    if (each.control.empty()) {  // its pendulum has no motor
      ControlInverseDynamics needed(rig.mechanism);
      EXPECT_THROW(needed.joint_rate_map(Eigen::VectorXd::Zero(2)), std::invalid_argument);
      continue;
    }
    const Eigen::Index n = rig.mechanism.joint_count();
    Eigen::VectorXd start = Eigen::VectorXd::Zero(n), speed = Eigen::VectorXd::Zero(n);
    Eigen::VectorXd wanted = Eigen::VectorXd::Constant(n, std::nan(""));
    for (std::size_t j = 0; j < each.start.size(); ++j) {
      wanted[static_cast<Eigen::Index>(j)] = each.start[j];
      speed[static_cast<Eigen::Index>(j)] = each.speed[j];
    }
    start = wanted.array().isNaN().select(start, wanted);
    ASSERT_TRUE(estimator::LoopClosure(rig.mechanism).close(start, wanted));
    const Scenario scenario{.excitation = {"", daq::Release({}), 1.0},
                            .initial_angles = start,
                            .initial_speeds = speed};
    const auto plant = make_plant(rig, scenario, 1e-3, Integrator::kPhysical);
    const Eigen::VectorXd control = Eigen::Map<const Eigen::VectorXd>(
        each.control.data(), static_cast<Eigen::Index>(each.control.size()));
    ControlInverseDynamics needed(rig.mechanism);
    for (int k = 0; k < 50; ++k) {
      plant->advance_step(control, 1e-3 * k);
      const Eigen::MatrixXd motion = plant->motion_at_step_start();
      const Eigen::VectorXd found = needed.at(motion.col(0), motion.col(1), motion.col(2));
      EXPECT_LT((found - control).norm(), 1e-7) << k;  // loops are closed to 1e-9
    }
  }
}

std::string short_study() {
  std::string text = contents_of(study_config("study-leg.textproto"));
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("../../../configs/rig-leg.textproto", config("rig-leg.textproto"));
  replace("../../../configs/rig-leg-ratio.textproto", config("rig-leg-ratio.textproto"));
  replace("legs: 6", "legs: 1");
  replace("duration_s: 10", "duration_s: 4");
  return text;
}

double cell(const std::string& csv, const std::string& row, int column) {
  std::size_t at = csv.find("\n" + row + ",");
  if (at == std::string::npos) return std::numeric_limits<double>::quiet_NaN();
  ++at;
  for (int i = 0; i < column; ++i) at = csv.find(',', at) + 1;
  return std::stod(csv.substr(at));
}

// The whole command on one leg. With its true parameters, inverse dynamics predicts the held-out
// torques up to their noise and some 5 % from differences of noisy angles. Parameters from 4 s of
// the leg with its linkage are almost as good. A constant ratio is wrong at the crank, the nominal
// model worse still. A fault shared by draw and estimate shows in scripts/compare_leg.sh.
TEST(LegStudy, LinkagePredictsTorquesToTheirNoiseAndAConstantRatioDoesNot) {
  const TemporaryFolder folder;
  const std::string study = folder.write("study.textproto", short_study());
  const ProgramRun run = run_rigcal(study + " --out " + folder.file("out"));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const std::string table = contents_of(folder.file("out/table-torque.csv"));
  for (const int over_noise : {2, 4, 6}) {
    EXPECT_GT(cell(table, "truth", over_noise), 0.9) << table;
    EXPECT_LT(cell(table, "truth", over_noise), 1.15) << table;
    EXPECT_LT(cell(table, "linkage", over_noise), 1.25 * cell(table, "truth", over_noise));
  }
  EXPECT_GT(cell(table, "constant ratio", 6), 1.5 * cell(table, "linkage", 6)) << table;
  EXPECT_GT(cell(table, "nominal", 6), 5.0 * cell(table, "constant ratio", 6)) << table;
  EXPECT_NE(contents_of(folder.file("out/training.csv")).find("KFE_Nm"), std::string::npos);
}

// An error must be reported with its place before anything is computed.
TEST(LegStudy, RefusesFaultsWithFileAndLine) {
  struct Fault {
    const char* from;
    std::string to, said;
  };
  const Fault faults[] = {
      {"legs: 1", "", "legs must be given"},
      {"legs: 1", "legs: -1", "legs is -1"},
      {"torque_noise_Nm: 0.1", "", "torque_noise_Nm must be given"},
      {"cutoff_Hz: 35", "cutoff_Hz: 600", "cutoff_Hz must be below half of rate_Hz"},
      {"frequency_min_Hz: 0.2", "frequency_min_Hz: 9",
       "frequency_min_Hz must not exceed frequency_max_Hz"},
      {"KFE.b=0.4", "KFE.q=0.4", "KFE.q"},
      {"joint: \"KFE\"", "joint: \"knee\"", "no drive { } of the motor at joint \"KFE\""},
      {"draw {", "recorded { training: \"a.csv\" held_out: \"b.csv\" }\n  draw {",
       "needs either draw { } or recorded { }"},
      {"rig-leg-ratio.textproto", "rig-leg.textproto", "the same motors as rig"},
      {"rig-leg-ratio.textproto", "rig-none.textproto", "rig-none.textproto"}};
  for (const Fault& fault : faults) {
    const TemporaryFolder folder;
    std::string text = short_study();
    const std::size_t at = text.find(fault.from);
    ASSERT_NE(at, std::string::npos) << fault.from;
    text.replace(at, std::string(fault.from).size(), fault.to);
    const std::string path = folder.write("bad.textproto", text);
    try {
      load_study(path);
      ADD_FAILURE() << fault.to << ": loaded";
    } catch (const proto::InputError& error) {
      EXPECT_NE(std::string(error.what()).find(fault.said), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace service
