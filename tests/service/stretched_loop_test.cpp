// A five-bar with encoders at its driven cranks only. If its outer links are collinear (T at
// π), readings do not determine the tip's branch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "estimator/fit/initial_states.hpp"
#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/math/angle_wrapping.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "service/messages/message_text.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

constexpr int kO1 = 0, kO2 = 2, kT = 4;
constexpr double kPeriod = 1e-3, kNoise = 1e-3, kCutoff = 10.0;

Rig five_bar() {
  return load_rig(test_support::source_folder() + "/configs/rig-fivebar.textproto");
}

/// All joints for O1 fixed and T as given: joints × samples.
Eigen::MatrixXd motion_of(const estimator::Mechanism& mechanism, const Eigen::VectorXd& tip) {
  estimator::LoopClosure closure(mechanism);
  Eigen::MatrixXd motion(5, tip.size());
  Eigen::VectorXd angles(5);
  angles << 3.0, -1.3, 1.4, 1.3, 1.7;
  for (Eigen::Index k = 0; k < tip.size(); ++k) {
    Eigen::VectorXd wanted = Eigen::VectorXd::Constant(5, std::nan(""));
    wanted[kO1] = 3.0;
    wanted[kT] = tip[k];
    EXPECT_TRUE(closure.close(angles, wanted)) << k;
    motion.col(k) = angles;
  }
  return motion;
}

/// Readings of the cranks' encoders.
estimator::Segment read_of(const Eigen::MatrixXd& motion) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0.0, kNoise);
  estimator::Segment segment;
  segment.period = kPeriod;
  segment.angles.resize(motion.cols(), 2);
  segment.controls = Eigen::MatrixXd::Zero(motion.cols(), 2);
  for (Eigen::Index k = 0; k < motion.cols(); ++k) {
    segment.angles(k, 0) = motion(kO1, k) + noise(random);
    segment.angles(k, 1) = motion(kO2, k) + noise(random);
  }
  return segment;
}

// A low-pass of 10 Hz smooths the readings where the links are collinear, and makes both motions
// reverse. The readings distinguish them: one passes through, the other reverses 0.2 rad before.
TEST(SingularLoop, PassesOrReversesAsTheReadingsDo) {
  const estimator::Mechanism mechanism = five_bar().mechanism;
  for (const bool through : {true, false}) {
    SCOPED_TRACE(through);
    Eigen::VectorXd tip(601);
    for (Eigen::Index k = 0; k < tip.size(); ++k) {
      const double t = static_cast<double>(k - 300) * kPeriod;
      tip[k] = through ? M_PI + 4.5 * std::tanh(10.0 * t) / 4.0 : M_PI - 0.2 - 15.0 * t * t;
    }
    const Eigen::MatrixXd motion = motion_of(mechanism, tip);
    const estimator::Segment segment = read_of(motion);
    Eigen::MatrixXd states = estimator::make_joint_states(mechanism, segment, kCutoff);
    const auto poses = estimator::close_loops(
        mechanism, kPeriod, "stretched",
        {.read = estimator::make_joint_states(mechanism, segment, 1e9)}, states);
    ASSERT_EQ(poses.size(), 1u);
    EXPECT_TRUE(poses.front().decided);
    EXPECT_EQ(poses.front().changed, through);
    EXPECT_EQ(poses.front().joint, kT);
    EXPECT_NEAR(static_cast<double>(poses.front().sample), 300.0, 30.0);
    for (const Eigen::Index k : {100, 250, 350, 500}) {
      EXPECT_NEAR(states(kT, k), tip[k], 0.1) << k;
    }
    // A segment that starts beyond the singularity is assembled from the recording before it.
    const auto assemblies = estimator::assemblies_at(mechanism, segment, {500});
    EXPECT_NEAR(assemblies.front()[kT], tip[500], 0.1);
    Eigen::MatrixXd later = states.rightCols(100);
    estimator::close_loops(mechanism, kPeriod, "later",
                           {.read = later, .assembled = assemblies.front()}, later);
    EXPECT_NEAR(estimator::wrapped_difference(later(kT, 0) - tip[501]), 0.0, 0.1);
  }
}

// Launched between soft springs, the tip passes the singular configuration once; on the other
// branch the model could not fit at all. The start values of the motion's cause are off.
TEST(SingularLoop, ARecordingThroughItIsCalibrated) {
  Rig rig = five_bar();
  for (const int driven : {kO1, kO2}) {
    estimator::Parameter& stiffness =
        rig.mechanism.joint_parameter(driven, estimator::JointQuantity::kStiffness);
    stiffness.value = 0.03;
    stiffness.free = false;
    rig.mechanism.joint_parameter(driven, estimator::JointQuantity::kMotorGain).free = false;
  }
  const Scenario scenario =
      parse_scenario("s.textproto",
                     "duration_s: 1.2 release { } initial { joint: \"O1\" angle_rad: 2.1 } "
                     "initial { joint: \"T\" angle_rad: 2.0 speed_rad_per_s: 7 } "
                     "noise { angle_standard_deviation_rad: 1e-3 seed: 3 }",
                     rig);
  const SimulatedRun run = simulate(rig, scenario, 2.5e-4, nullptr, Integrator::kPhysical);
  estimator::Segment segment;
  segment.period = run.period;
  segment.angles = run.angles;
  segment.controls = run.controls;
  const estimator::Recording recording = {"release.csv", {segment}};
  estimator::Mechanism start = rig.mechanism;
  for (estimator::Parameter& parameter : start.parameters) {
    if (parameter.free) parameter.value *= 1.3;
  }
  const estimator::Calibration result =
      estimator::calibrate_with_diagnostics(start, {recording}, {}, {}).calibration;
  EXPECT_EQ(result.verdict.kind, estimator::VerdictKind::kAccepted);
  for (const estimator::Finding& finding : result.findings) {
    EXPECT_EQ(finding.severity, estimator::Severity::kNote) << describe(finding).what;
  }
  for (const estimator::SimulationError& each : result.simulation) {
    EXPECT_LT(each.rmse, 1.05 * kNoise) << each.joint;
  }
  for (const estimator::ParameterEstimate& each : result.parameters) {
    if (!std::isfinite(each.standard_deviation) || !(each.standard_deviation > 0.0)) continue;
    const double truth =
        rig.mechanism.parameters[static_cast<std::size_t>(rig.mechanism.find_parameter(each.name))]
            .value;
    EXPECT_NEAR(each.value, truth, 3.5 * each.standard_deviation) << each.name;
  }
  const auto reports = [](const estimator::Message& message) {
    const std::string note = text_of(message);
    return note.find("release.csv: links are nearly collinear at 0.1") == 0 &&
           note.find("joint \"T\"") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(note_texts(result.notes), reports));
}

}  // namespace
}  // namespace service
