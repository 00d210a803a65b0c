// Closed loops, from rig file and recording to estimates, checked with independent data.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

#include "estimator/assessment/calibration.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/math/angle_wrapping.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "proto/text/files.hpp"
#include "service/messages/message_text.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/evaluation_truth.hpp"
#include "tests/support/import_csv.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

using Truth = std::map<std::string, double>;

constexpr double kCount = 2.0 * M_PI / 4096.0;

std::string loop_rig(const std::string& name) {
  return source_folder() + "/configs/rig-" + name + ".textproto";
}

estimator::Recording recording_of(const std::filesystem::path& data, const std::string& name,
                                  const Rig& rig) {
  const std::filesystem::path file = data / "synthetic_planar" / (name + ".csv");
  return import_csv(file.string(), *rig.format).recording;
}

void shorten(estimator::Recording& recording, Eigen::Index rows) {
  estimator::Segment& segment = recording.segments.front();
  segment.angles = segment.angles.topRows(rows).eval();
  segment.controls = segment.controls.topRows(rows).eval();
}

/// Replaces creeping friction, as in the rig file and the data, by sticking friction.
estimator::Mechanism holding(estimator::Mechanism mechanism) {
  for (estimator::Joint& joint : mechanism.joints) joint.transition_speed = 0.0;
  return mechanism;
}

/// Every free parameter must be within three standard deviations or half a percent of the truth,
/// and the open-loop error at the noise level.
void expect_true_values(const estimator::Calibration& result, const Truth& truth,
                        double noise_rad) {
  EXPECT_TRUE(result.converged());
  for (const estimator::ParameterEstimate& each : result.parameters) {
    const auto found = truth.find(each.name);
    ASSERT_NE(found, truth.end()) << each.name;
    const double allowed = std::max(3.0 * each.standard_deviation, 5e-3 * std::abs(found->second));
    EXPECT_NEAR(each.value, found->second, allowed) << each.name;
    EXPECT_LT(each.standard_deviation, 0.1 * found->second) << each.name << " is not seen";
  }
  for (const estimator::OpenLoopError& each : result.simulation) {
    EXPECT_LT(each.rmse, 1.05 * noise_rad) << each.joint;
    EXPECT_GT(each.rmse, 0.9 * noise_rad) << each.joint;
  }
}

// One degree of freedom, friction in four joints of which two are read. The rig file's start values
// are wrong by up to a factor of six.
TEST(LoopCalibration, AFourBarIsFound) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const Rig rig = load_rig(loop_rig("fourbar"));
  const Truth truth = true_parameters(*data, "fourbar_base");
  const estimator::Recording noise = recording_of(*data, "fourbar_base__noise", rig);
  expect_true_values(estimator::calibrate(holding(rig.mechanism), {noise}), truth, 1e-3);
  expect_true_values(estimator::calibrate(rig.mechanism, {noise}), truth, 1e-3);
  expect_true_values(
      estimator::calibrate(rig.mechanism, {recording_of(*data, "fourbar_base__quant", rig)}), truth,
      kCount / std::sqrt(12.0));
}

// The parameters of a SPOOK simulator, from the same poor start: the physical ones are estimated
// first, and joints without encoder start where the loop puts them, not at zero.
TEST(LoopCalibration, ShadowParametersOfAFourBarBeginAtThePhysicalOnes) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const Rig rig = load_rig(loop_rig("fourbar"));
  estimator::Recording recording = recording_of(*data, "fourbar_base__noise", rig);
  shorten(recording, 3000);
  estimator::CalibrationOptions options;
  options.kind = estimator::EstimateKind::kShadow;
  options.step = 2e-3;
  const estimator::Calibration result = estimator::calibrate(rig.mechanism, {recording}, options);
  EXPECT_TRUE(result.started_from_physical);
  EXPECT_TRUE(result.converged());
  for (const estimator::OpenLoopError& each : result.simulation) {
    EXPECT_LT(each.rmse, 1.1e-3) << each.joint;
  }
}

// Physical parameters do not support reactions inside loops. The first note says that a simulator's
// parameters are estimated instead, since they are not the rig's.
TEST(LoopCalibration, ReportsThatLoadFrictionNeedsShadowParameters) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  Rig rig = load_rig(loop_rig("fourbar"));
  estimator::Recording recording = recording_of(*data, "fourbar_base__noise", rig);
  shorten(recording, 500);
  parameter_of(rig.mechanism, "Q.r_mu").value = 1e-4;
  const estimator::Calibration result = estimator::calibrate(rig.mechanism, {recording});
  ASSERT_FALSE(result.notes.empty());
  expect_parts(format_note(result.notes.front()), {"SPOOK simulator", "not of the rig", "r_mu"});
  estimator::CalibrationOptions asked;
  asked.kind = estimator::EstimateKind::kShadow;
  for (const auto& note : estimator::calibrate(rig.mechanism, {recording}, asked).notes) {
    EXPECT_NE(note.code, estimator::MessageCode::kLoadedLoop);
  }
}

// Two degrees of freedom, three joints without encoder.
TEST(LoopCalibration, ADrivenFiveBarIsFound) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const Rig rig = load_rig(loop_rig("fivebar"));
  const estimator::Calibration result =
      estimator::calibrate(rig.mechanism, {recording_of(*data, "fivebar_base__noise", rig)});
  expect_true_values(result, true_parameters(*data, "fivebar_base"), 1e-3);
}

// Counts hardly show when the tip, which has no encoder, sticks. If the process noise decreases
// only once, a fit ends in another local minimum, with T.tau_c 2.5 % below the truth.
TEST(LoopCalibration, QuantisedFiveBarReachesTheBestMinimum) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const Rig rig = load_rig(loop_rig("fivebar"));
  const estimator::Calibration result = estimator::calibrate(
      holding(rig.mechanism), {recording_of(*data, "fivebar_base__quant", rig)});
  EXPECT_TRUE(result.converged());
  const auto friction =
      std::ranges::find(result.parameters, "T.tau_c", &estimator::ParameterEstimate::name);
  ASSERT_NE(friction, result.parameters.end());
  EXPECT_NEAR(friction->value, 3e-4, 3e-6);
}

// The driven cranks of a five-bar determine its elbows, but not the tip's branch when its links are
// collinear (T at pi, 0.3 s after the start): it continues its motion. The cranks' angles cannot
// describe that motion. Coordinates that pass a singular configuration between two sampled
// configurations are not used either.
TEST(LoopCalibration, AFiveBarPassesItsSingularConfiguration) {
  const Rig rig = load_rig(loop_rig("fivebar"));
  constexpr int kO1 = 0, kO2 = 2, kT = 4, kSamples = 601;
  constexpr double kPeriod = 1e-3, kCrank = 3.0;
  estimator::LoopClosure closure(rig.mechanism);
  Eigen::MatrixXd motion(5, kSamples);
  Eigen::VectorXd angles(5);
  angles << kCrank, -1.3, 1.4, 1.3, 1.7;
  for (int k = 0; k < kSamples; ++k) {
    Eigen::VectorXd wanted = Eigen::VectorXd::Constant(5, std::nan(""));
    wanted[kO1] = kCrank;
    wanted[kT] = M_PI + 4.5 * (k * kPeriod - 0.3);
    ASSERT_TRUE(closure.close(angles, wanted)) << k;
    motion.col(k) = angles;
  }
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(10, kSamples);
  for (const int read : {kO1, kO2}) states.row(read) = motion.row(read);
  estimator::close_loops(rig.mechanism, kPeriod, "stretched", states);
  EXPECT_LT((states.topRows(5) - motion).cwiseAbs().maxCoeff(), 0.02);
  Eigen::MatrixXd ends(5, 2);
  ends << motion.col(0), motion.col(kSamples - 1);
  const std::vector<int> cranks = {kO1, kO2};
  EXPECT_EQ(closure.choose_coordinates({ends.leftCols(1), ends.rightCols(1)}).independent, cranks);
  EXPECT_EQ(closure.choose_coordinates({ends}).independent, (std::vector<int>{kO1, kT}));
  EXPECT_EQ(estimator::choose_independent_joints(rig.mechanism, {states}).independent,
            (std::vector<int>{kO1, kT}));
}

// The rocker reverses where crank and coupler are collinear, always at the same angle and within
// few samples. That must not be reported as a missing end stop.
TEST(LoopCalibration, DeadCentresOfARockerAreNotEndStops) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const Rig rig = load_rig(loop_rig("fourbar"));
  for (const char* variant : {"noise", "quant"}) {
    const auto examined = estimator::examine_signals(
        rig.mechanism, {recording_of(*data, std::string("fourbar_base__") + variant, rig)});
    for (const estimator::Finding& each : examined.findings)
      ADD_FAILURE() << describe_finding(each).what;
  }
}

// Three bars between two points of the ground, and a body that is fixed twice.
TEST(LoopCalibration, LoopsThatCannotMoveAreRefused) {
  const auto body = [](const std::string& name) {
    return "body { name: '" + name +
           "' mass { value: 1 } inertia { xx { value: .01 } yy { value: .01 } zz { value: .01 } } "
           "}\n";
  };
  const auto joint = [](const std::string& name, const std::string& parent,
                        const std::string& child, const std::string& kind, double a, double b) {
    const auto side = [](const std::string& of, double x) {
      return " { body: '" + of + "' point { x { value: " + std::to_string(x) +
             " } } axis { z: 1 } zero_direction { x: 1 } }";
    };
    return "joint { name: '" + name + "' type: " + kind + " parent" + side(parent, a) + " child" +
           side(child, b) + " }\n";
  };
  const auto refused = [](const std::string& text) {
    return refusal([&] { (void)parse_rig("r.textproto", text); });
  };
  const std::string links = body("A") + body("B") + joint("O", "ground", "A", "REVOLUTE", 0, -.1) +
                            joint("P", "A", "B", "REVOLUTE", .1, -.1);
  expect_parts(refused(links + joint("Q", "ground", "B", "REVOLUTE", .25, .1)),
               {"r.textproto:5:", "\"Q\" closes a loop that cannot move", "remove a joint"});
  EXPECT_NO_THROW((void)parse_rig("r.textproto", links)) << "the same without its loop";
  // Two links of 0.2 m reach 0.4 m, in their plane, about parallel axes.
  expect_parts(
      refused(links + joint("Q", "ground", "B", "REVOLUTE", .9, .1)),
      {"r.textproto:5:", "\"Q\" leaves its loop open by 501 mm in every tested configuration",
       "check lengths"});
  const std::string ends = body("C") + joint("Q", "B", "C", "REVOLUTE", .1, -.1);
  const std::string last = joint("R", "ground", "C", "REVOLUTE", .3, .1);
  const std::string four_bar = links + ends + last;
  EXPECT_NO_THROW((void)parse_rig("r.textproto", four_bar));
  const auto prescribed = [](const std::string& text, const std::string& name) {
    const std::string start = "joint { name: '" + name + "'";
    return replaced(text, start, start + " motion: PRESCRIBED encoder { }");
  };
  expect_parts(refused(prescribed(four_bar, "O")),
               {"r.textproto:3:", "permit no motion besides the prescribed motions", "(O)",
                "remove motion: PRESCRIBED from joint \"O\""});
  expect_parts(refused(prescribed(prescribed(four_bar, "O"), "Q")),
               {"permit only some of the prescribed motions", "(O, Q)"});
  const std::string five_bar = links + ends + body("D") +
                               joint("R", "C", "D", "REVOLUTE", .1, -.1) +
                               joint("S", "ground", "D", "REVOLUTE", .3, .1);
  EXPECT_NO_THROW((void)parse_rig("r.textproto", prescribed(five_bar, "O")));
  expect_parts(refused(links + ends + replaced(last, "} axis", "z { value: 0.01 } } axis")),
               {"\"R\" leaves its loop open by 10 mm in every tested configuration"});
  expect_parts(refused(links + ends + replaced(last, "axis { z: 1 }", "axis { z: 1 y: 0.3 }")),
               {"\"R\" leaves its loop", "twisted by 0.291 rad in every tested configuration"});
  expect_parts(refused(links + body("W") + joint("w1", "ground", "W", "FIXED", 0, 0) +
                       joint("w2", "ground", "W", "FIXED", 0, 0)),
               {"r.textproto:7:", "\"w2\"", "already fixed to one another", "remove the joint"});
}

/// Message with which a calibration refuses.
std::string calibration_refusal(const Rig& rig, const estimator::Recording& recording,
                                const estimator::CalibrationOptions& options = {}) {
  return refusal<std::invalid_argument>(
      [&] { estimator::calibrate(rig.mechanism, {recording}, options); });
}

estimator::Recording standing(const Rig& rig, double first, double second) {
  estimator::Segment segment;
  segment.period = 1e-3;
  const int samples = 200;
  segment.angles.resize(samples, 2);
  segment.controls =
      Eigen::MatrixXd::Zero(samples, static_cast<Eigen::Index>(rig.format->controls.size()));
  for (int k = 0; k < samples; ++k) {
    segment.angles(k, 0) = first + 1e-3 * std::sin(0.05 * k);
    segment.angles(k, 1) = second;
  }
  return {"standing", {segment}};
}

TEST(LoopCalibration, ReportsWhatIsWrongWithALoop) {
  Rig rig = load_rig(loop_rig("fivebar"));
  const estimator::Recording recording = standing(rig, 2.1, 1.04);
  rig.mechanism.joints[1].assembly_guess = std::nan("");
  expect_parts(calibration_refusal(rig, recording),
               {"standing", "can be closed in", "assembly_guess", "Measure another joint"});

  parameter_of(rig.mechanism, "O2.a_x").value = 0.9;
  expect_parts(calibration_refusal(rig, recording),
               {"standing: at the first readings, joint \"", "leaves its loop open by",
                "mm; check joint points"});

  for (estimator::Joint& joint : rig.mechanism.joints) joint.motor.control_noise = 0.1;
  expect_parts(calibration_refusal(rig, recording), {"control_noise", "loop", "remove it"});

  parameter_of(rig.mechanism, "T.r_mu").value = 1e-3;
  estimator::CalibrationOptions options;
  options.kind = estimator::EstimateKind::kPhysical;
  expect_parts(calibration_refusal(rig, recording, options), {"bearing load", "shadow parameters"});
}

/// Crank and rocker of equal length, ground and coupler too: a parallelogram, flat at zero.
Rig parallelogram() {
  std::string text = proto::read_file(loop_rig("fourbar"));
  for (const auto& [written, wanted] :
       {std::pair("x { value: -0.14 } y { value: 0.01 }", "x { value: -0.15 }"),
        {"x { value: 0.14 }", "x { value: 0.15 }"},
        {"x { value: 0.1 }", "x { value: 0.05 }"},
        {"x { value: -0.1 }", "x { value: -0.05 }"}}) {
    text = replaced(text, written, wanted);
  }
  return parse_rig("flat.textproto", text);
}

// Flat, it can continue as a parallelogram or cross over: recording and time are reported.
TEST(LoopCalibration, ASingularRecordingIsRefusedWithItsTime) {
  Rig rig = parallelogram();
  rig.mechanism.joints[2].assembly_guess = 0.45;  // Q
  std::string table = "t_s,O_rad,R_rad,u0\n";
  for (int k = 0; k <= 200; ++k) {
    const std::string angle = std::to_string(0.45 - 0.3 * 0.01 * k);
    table += std::to_string(0.01 * k) + "," + angle + "," + angle + ",0\n";
  }
  const estimator::Recording recording = import_csv_text("over.csv", table, *rig.format).recording;
  const std::string reported = calibration_refusal(rig, recording);
  expect_parts(reported,
               {"over.csv: at about 1.",
                "s, the recording passes a singular configuration (change point) of the mechanism. "
                "From there, its joints can continue along two branches. "
                "Use recordings, or parts of recordings, that avoid this configuration"});
  const double time = std::stod(reported.substr(reported.find("about ") + 6));
  EXPECT_NEAR(time, 1.5, 0.05) << reported;
}

// The same for a simulation: under gravity the crank falls through it.
TEST(LoopCalibration, ASingularSimulationIsRefusedWithItsTime) {
  const Rig rig = parallelogram();
  const Scenario scenario = parse_scenario(
      "s.textproto",
      "duration_s: 1 release { } initial { joint: \"O\" angle_rad: 0.5 } "
      "initial { joint: \"P\" angle_rad: -0.5 } initial { joint: \"Q\" angle_rad: 0.5 } "
      "initial { joint: \"R\" angle_rad: 0.5 }",
      rig);
  const std::string reported =
      refusal([&] { (void)simulate(rig, scenario, 1e-4, nullptr, Integrator::kPhysical); });
  expect_parts(reported,
               {"flat.textproto: at 0.",
                " s of the scenario the loops pass a singular configuration (change point), "
                "from which the motion can continue in two ways. Start or drive the rig so "
                "that it avoids this configuration"});
}

// A five-bar with encoders at its driven cranks only. If its outer links are collinear (T at
// π), readings do not determine the tip's branch.

constexpr int kO1 = 0, kO2 = 2, kT = 4;
constexpr double kPeriod = 1e-3, kNoise = 1e-3, kCutoff = 10.0;

Rig five_bar() { return load_rig(source_folder() + "/configs/rig-fivebar.textproto"); }

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
TEST(SingularLoop, PassesOrReversesAccordingToTheReadings) {
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
    Eigen::MatrixXd states = estimator::compute_initial_joint_states(mechanism, segment, kCutoff);
    const auto poses = estimator::close_loops(
        mechanism, kPeriod, "stretched",
        {.read = estimator::compute_initial_joint_states(mechanism, segment, 1e9)}, states);
    ASSERT_EQ(poses.size(), 1u);
    EXPECT_TRUE(poses.front().decided);
    EXPECT_EQ(poses.front().changed, through);
    EXPECT_EQ(poses.front().joint, kT);
    EXPECT_NEAR(static_cast<double>(poses.front().sample), 300.0, 30.0);
    for (const Eigen::Index k : {100, 250, 350, 500}) {
      EXPECT_NEAR(states(kT, k), tip[k], 0.1) << k;
    }
    // A segment that starts beyond the singularity is assembled from the recording before it.
    const auto assemblies = estimator::assemble_loops_at_samples(mechanism, segment, {500});
    EXPECT_NEAR(assemblies.front()[kT], tip[500], 0.1);
    Eigen::MatrixXd later = states.rightCols(100);
    estimator::close_loops(mechanism, kPeriod, "later",
                           {.read = later, .assembled = assemblies.front()}, later);
    EXPECT_NEAR(estimator::wrap_angle_difference(later(kT, 0) - tip[501]), 0.0, 0.1);
  }
}

// Launched between soft springs, the tip passes the singular configuration once; on the other
// branch the model could not fit at all. The start values of the motion's cause are off.
TEST(SingularLoop, ARecordingThroughItIsCalibrated) {
  Rig rig = five_bar();
  for (const int driven : {kO1, kO2}) {
    estimator::Parameter& stiffness =
        rig.mechanism.joint_parameter(driven, estimator::JointParameter::kStiffness);
    stiffness.value = 0.03;
    stiffness.free = false;
    rig.mechanism.joint_parameter(driven, estimator::JointParameter::kMotorGain).free = false;
  }
  const Scenario scenario =
      parse_scenario("s.textproto",
                     "duration_s: 1.2 release { } initial { joint: \"O1\" angle_rad: 2.1 } "
                     "initial { joint: \"T\" angle_rad: 2.0 speed_rad_per_s: 7 } "
                     "noise { angle_standard_deviation_rad: 1e-3 seed: 3 }",
                     rig);
  const SimulatedRun run = simulate(rig, scenario, 2.5e-4, nullptr, Integrator::kPhysical);
  estimator::Segment segment{.period = run.period, .angles = run.angles, .controls = run.controls};
  const estimator::Recording recording = {"release.csv", {segment}};
  estimator::Mechanism start = rig.mechanism;
  for (estimator::Parameter& parameter : start.parameters) {
    if (parameter.free) parameter.value *= 1.3;
  }
  const estimator::Calibration result =
      estimator::calibrate_with_diagnostics(start, {recording}, {}, {}).calibration;
  EXPECT_EQ(result.verdict.kind, estimator::VerdictKind::kAccepted);
  for (const estimator::Finding& finding : result.findings) {
    EXPECT_EQ(finding.severity, estimator::Severity::kNote) << describe_finding(finding).what;
  }
  for (const estimator::OpenLoopError& each : result.simulation) {
    EXPECT_LT(each.rmse, 1.05 * kNoise) << each.joint;
  }
  for (const estimator::ParameterEstimate& each : result.parameters) {
    if (!std::isfinite(each.standard_deviation) || !(each.standard_deviation > 0.0)) continue;
    const double truth = parameter_of(rig.mechanism, each.name).value;
    EXPECT_NEAR(each.value, truth, 3.5 * each.standard_deviation) << each.name;
  }
  const auto reports = [](const estimator::Message& message) {
    const std::string note = format_message(message);
    return note.find("release.csv: links are nearly collinear at 0.1") == 0 &&
           note.find("joint \"T\"") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(format_notes(result.notes), reports));
}

}  // namespace
}  // namespace service
