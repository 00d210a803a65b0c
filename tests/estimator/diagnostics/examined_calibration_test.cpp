#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "estimator/calibrate/calibrate.hpp"
#include "service/messages/message_text.hpp"
#include "tests/estimator/diagnostics/made_up_motion.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/reference_simulators.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kExaminedNoise = 1e-3;  // [rad]

/// A pendulum with free inertia and friction, starting off the truth.
Mechanism pendulum() {
  Mechanism mechanism = make_pendulum({.inertia_swing = 0.0045});
  mechanism.parameter(0, BodyParameter::kJzz).free = true;
  for (const auto& [quantity, start] :
       {std::pair(JointParameter::kViscous, 1e-3), {JointParameter::kCoulombTorque, 5e-3}}) {
    Parameter& parameter = mechanism.joint_parameter(0, quantity);
    parameter.value = start;
    parameter.free = true;
  }
  return mechanism;
}

/// Readings of a swing at 1 kHz from an independent simulator.
Eigen::VectorXd swung(const ReferencePendulum& rig, double start, int samples, double noise,
                      unsigned seed) {
  return as_read(test_support::simulate(rig, Eigen::Vector2d(start, 0.0), 1e-3, samples).col(0),
                 noise, 0.0, seed);
}

Eigen::VectorXd clean_readings() { return swung({.b = 2e-3}, 2.0, 6000, kExaminedNoise, 1); }

Recording recording_of(const Eigen::VectorXd& readings) {
  return {"run", {segment_of(readings, 1000.0)}};
}

DiagnosedCalibration calibrate(const Eigen::VectorXd& readings, bool repair = true,
                               const Mechanism& mechanism = pendulum()) {
  CalibrationOptions options;
  options.repair = repair;
  return calibrate_with_diagnostics(mechanism, {recording_of(readings)}, options);
}

const Finding* find(const std::vector<Finding>& findings, const std::string& kind) {
  const auto found = std::ranges::find(findings, kind, [](const Finding& finding) {
    return service::describe_finding(finding).kind;
  });
  return found == findings.end() ? nullptr : &*found;
}

const Finding* find(const Calibration& calibration, const std::string& kind) {
  return find(calibration.findings, kind);
}

// Without findings the result is the same to the last bit: diagnostics do not affect clean data.
TEST(DiagnosedCalibration, IsPlainLeastSquaresForCorrectData) {
  const Eigen::VectorXd readings = clean_readings();
  const DiagnosedCalibration examined = calibrate(readings);
  const Calibration plain = calibrate(pendulum(), {recording_of(readings)});
  EXPECT_TRUE(examined.calibration.findings.empty());
  ASSERT_EQ(examined.calibration.parameters.size(), plain.parameters.size());
  for (std::size_t i = 0; i < plain.parameters.size(); ++i) {
    EXPECT_EQ(examined.calibration.parameters[i].value, plain.parameters[i].value);
    EXPECT_EQ(examined.calibration.parameters[i].standard_deviation,
              plain.parameters[i].standard_deviation);
  }
}

// Twenty spikes of 0.3 rad are all rejected, and the estimates agree with those of the clean
// readings within a standard deviation. Unrejected, the spikes move the estimates.
TEST(DiagnosedCalibration, RejectsSpikes) {
  Eigen::VectorXd readings = clean_readings();
  const DiagnosedCalibration clean = calibrate(readings);
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    readings[300 * i + static_cast<Eigen::Index>(random() % 200)] += i % 2 == 0 ? 0.3 : -0.3;
  }
  const DiagnosedCalibration spiked = calibrate(readings);
  const Finding* const outliers = find(spiked.calibration, "outliers");
  ASSERT_NE(outliers, nullptr);
  EXPECT_EQ(std::get<int>(*outliers->message.find("count")), 20);
  EXPECT_EQ(std::get<int>(*outliers->message.find("readings")), 6001);
  EXPECT_GT(outliers->to - outliers->from, 1.0);
  EXPECT_TRUE(outliers->intervals.empty()) << "what lies between two outliers is marked";
  EXPECT_EQ(spiked.input.recordings[0].segments[0].angles.array().isNaN().count(), 20);
  for (std::size_t i = 0; i < 3; ++i) {
    const ParameterEstimate& before = clean.calibration.parameters[i];
    EXPECT_NEAR(spiked.calibration.parameters[i].value, before.value, before.standard_deviation)
        << before.name;
    EXPECT_DOUBLE_EQ(spiked.calibration.parameters[i].initial, before.initial);
  }
  const DiagnosedCalibration as_is = calibrate(readings, false);
  EXPECT_GT(as_is.calibration.simulation[0].rmse, 5.0 * clean.calibration.simulation[0].rmse);
  ASSERT_NE(find(as_is.calibration, "outliers"), nullptr);
  EXPECT_FALSE(find(as_is.calibration, "outliers")->treated);
}

// A slip below two standard deviations is no finding, and its free offset would widen intervals.
TEST(DiagnosedCalibration, RemovesInsignificantSlips) {
  DiagnosedInput input{pendulum(), {recording_of(clean_readings())}, {}, {}};
  Segment& segment = input.recordings[0].segments[0];
  input.findings.push_back(make_finding(MessageCode::kIdenticalChannels));
  Calibration calibration;
  const int first = static_cast<int>(input.mechanism.parameters.size());
  for (const auto& [name, size, deviation] :
       {std::tuple("a", 0.019, 0.01), {"b", -0.05, 0.01}, {"c", 0.001, 0.01}, {"d", 0.021, 0.01}}) {
    const int index = static_cast<int>(input.mechanism.parameters.size());
    Parameter offset;
    offset.name = name;
    offset.free = true;
    input.mechanism.parameters.push_back(offset);
    segment.shifts.push_back({.sensor = 0, .sample = 100 * index, .parameter = index});
    input.slips.push_back({static_cast<int>(input.findings.size()), index, 0.0});
    input.findings.push_back(make_finding({MessageCode::kEncoderSlip, {}}, "run", name));
    ParameterEstimate estimate;
    estimate.name = name;
    estimate.value = size;
    estimate.standard_deviation = deviation;
    calibration.parameters.push_back(estimate);
  }
  calibration.mechanism = input.mechanism;
  calibration.mechanism.at(first + 1).value = -0.05;
  EXPECT_TRUE(remove_insignificant_slips(calibration, input));
  ASSERT_EQ(input.slips.size(), 2U);
  ASSERT_EQ(input.findings.size(), 3U);
  ASSERT_EQ(segment.shifts.size(), 2U);
  ASSERT_EQ(std::ssize(input.mechanism.parameters), first + 2);
  for (const auto& [place, name] : {std::pair(0, "b"), {1, "d"}}) {
    const auto at = static_cast<std::size_t>(place);
    EXPECT_EQ(input.mechanism.at(first + place).name, name);
    EXPECT_EQ(segment.shifts[at].parameter, first + place);
    EXPECT_EQ(input.slips[at].parameter, first + place);
    EXPECT_EQ(input.findings[static_cast<std::size_t>(input.slips[at].finding)].channel, name);
  }
  EXPECT_EQ(input.mechanism.at(first).value, -0.05);
  EXPECT_FALSE(remove_insignificant_slips(calibration, input));
}

// Spikes hidden by the motion are found in the residuals of the fit.
TEST(DiagnosedCalibration, FindsSmallSpikesInTheResiduals) {
  Eigen::VectorXd readings = clean_readings();
  for (const int row : {1000, 2500, 4000}) readings[row] += 12.0 * kExaminedNoise;
  const DiagnosedCalibration examined = calibrate(readings);
  const Finding* const outliers = find(examined.calibration, "outliers");
  ASSERT_NE(outliers, nullptr);
  for (const int row : {1000, 2500, 4000}) {
    EXPECT_TRUE(std::isnan(examined.input.recordings[0].segments[0].angles(row, 0))) << row;
  }
}

/// A pendulum whose description lacks its dry friction, read with little noise.
Mechanism without_dry_friction() {
  Mechanism mechanism = pendulum();
  Parameter& dry = mechanism.joint_parameter(0, JointParameter::kCoulombTorque);
  dry.value = 0.0;
  dry.free = false;
  return mechanism;
}

constexpr double kFineNoise = 3e-5;  // [rad]

const ReferencePendulum kDry{.b = 2e-3, .tau_c = 2e-3, .tau_s = 2e-3};

Eigen::VectorXd fine_readings() { return swung(kDry, 2.0, 6000, kFineNoise, 3); }

// A step in the residuals is an encoder slip if the model fits. If the model leaves far more than
// the step, neither slips nor outliers of that size are reported, and the estimates are those of
// the unrepaired recording.
TEST(DiagnosedCalibration, FindsSlipsOnlyIfTheModelFits) {
  constexpr double kSlip = 4e-4;
  Eigen::VectorXd readings = fine_readings();
  readings.tail(readings.size() - 3000).array() += kSlip;
  for (const int row : {1000, 4000}) readings[row] += 10.0 * kFineNoise;
  const DiagnosedCalibration holds = calibrate(readings);
  const Finding* const slip = find(holds.calibration, "slip");
  ASSERT_NE(slip, nullptr);
  EXPECT_NEAR(slip->size, kSlip, 0.2 * kSlip);
  EXPECT_NEAR(slip->from, 3.0, 0.01);
  EXPECT_NE(find(holds.calibration, "outliers"), nullptr);

  const DiagnosedCalibration fails = calibrate(readings, true, without_dry_friction());
  EXPECT_GT(fails.calibration.simulation[0].rmse, 5.0 * kSlip);
  EXPECT_EQ(find(fails.calibration, "slip"), nullptr);
  EXPECT_EQ(find(fails.calibration, "outliers"), nullptr);
  const Calibration as_is = calibrate(without_dry_friction(), {recording_of(readings)});
  ASSERT_EQ(fails.calibration.parameters.size(), as_is.parameters.size());
  for (std::size_t i = 0; i < as_is.parameters.size(); ++i) {
    EXPECT_EQ(fails.calibration.parameters[i].value, as_is.parameters[i].value);
  }
}

// A segment with little motion has small residuals, but a step in it is compared with the residuals
// of the whole recording.
TEST(DiagnosedCalibration, ComparesStepsWithTheResidualsOfTheWholeRecording) {
  constexpr double kSlip = 4e-4;
  Recording recording = recording_of(fine_readings());
  Eigen::VectorXd quiet = swung(kDry, 0.02, 3000, kFineNoise, 4);
  quiet.tail(1500).array() += kSlip;
  Segment piece = recording_of(quiet).segments[0];
  piece.start = 10.0;
  recording.segments.push_back(piece);
  const DiagnosedCalibration holds = calibrate_with_diagnostics(pendulum(), {recording}, {});
  EXPECT_NE(find(holds.calibration, "slip"), nullptr);
  const DiagnosedCalibration fails =
      calibrate_with_diagnostics(without_dry_friction(), {recording}, {});
  EXPECT_GT(fails.calibration.simulation[0].rmse, 2.0 * kSlip);
  EXPECT_EQ(find(fails.calibration, "slip"), nullptr);
}

// A free zero that is half a turn off is reported, and with repair also estimated; without repair
// it is only reported.
TEST(DiagnosedCalibration, InitializesFreeEncoderZeros) {
  Mechanism mechanism = pendulum();
  mechanism.joint_parameter(0, JointParameter::kEncoderOffset).free = true;
  const Eigen::VectorXd readings = clean_readings().array() - M_PI;
  CalibrationOptions options;
  const DiagnosedCalibration repaired =
      calibrate_with_diagnostics(mechanism, {recording_of(readings)}, options);
  const Finding* found = find(repaired.calibration, "shifted-zero");
  ASSERT_NE(found, nullptr);
  EXPECT_FALSE(service::describe_finding(*found).treatment.empty());
  EXPECT_LT(repaired.calibration.simulation[0].rmse, 1.2 * kExaminedNoise);
  options.repair = false;
  const DiagnosedInput as_is =
      examine_and_repair_input(mechanism, {recording_of(readings)}, options);
  const Finding* const reported = find(as_is.findings, "shifted-zero");
  ASSERT_NE(reported, nullptr);
  EXPECT_TRUE(service::describe_finding(*reported).treatment.empty());
  EXPECT_EQ(as_is.mechanism.joint_parameter(0, JointParameter::kEncoderOffset).value, 0.0);
}

/// Readings without `lost` rows of half a millisecond at 2.3 s.
Eigen::VectorXd with_lost_time(int lost) {
  ReferencePendulum rig{.b = 2e-3};
  const Eigen::VectorXd fine =
      test_support::simulate(rig, Eigen::Vector2d(2.0, 0.0), 5e-4, 12000).col(0);
  Eigen::VectorXd readings(6000 - (lost + 1) / 2);
  for (Eigen::Index k = 0; k < readings.size(); ++k) {
    readings[k] = fine[2 * k + (k < 2300 ? 0 : lost)];
  }
  return as_read(readings, kExaminedNoise, 0.0, 1);
}

// Silently lost time cuts the recording, at the exact sample. A loss of one row, which noise hides
// in every window, is found as well.
TEST(DiagnosedCalibration, CutsAtLostTime) {
  for (const int lost : {20, 2, 21}) {
    SCOPED_TRACE(lost);
    const DiagnosedCalibration examined = calibrate(with_lost_time(lost));
    const Finding* const finding = find(examined.calibration, "lost-time");
    ASSERT_NE(finding, nullptr)
        << (examined.calibration.findings.empty()
                ? "nothing found"
                : service::describe_finding(examined.calibration.findings[0]).what);
    EXPECT_NEAR(finding->size, 0.5e-3 * lost, lost > 2 ? 0.002 : 0.001);
    EXPECT_TRUE(finding->treated);
    ASSERT_EQ(examined.input.recordings[0].segments.size(), 2U);
    EXPECT_NEAR(examined.input.recordings[0].segments[1].start, 2.3, 1.5e-3);
    EXPECT_LT(examined.calibration.simulation[0].rmse, 1.2 * kExaminedNoise);
  }
}

/// Two released links; a dead second encoder reads only zeros.
Recording two_links(const std::string& name, double first, bool dead) {
  Eigen::MatrixXd angles =
      test_support::simulate(ReferenceChain(), Eigen::Vector4d(first, 0.4, 0.0, 0.0), 4e-3, 999)
          .leftCols(2);
  angles.col(1) -= angles.col(0).eval();
  if (dead) angles.col(1).setZero();
  return {name, {undriven(angles, 4e-3)}};
}

// A dead encoder is reported as dead, not as a description error. If the encoder is dead in some
// recordings only, the description is tested on all other recordings.
TEST(DiagnosedCalibration, ReportsNoDescriptionErrorForADeadEncoder) {
  Mechanism mechanism = make_chain({.links = 2});
  mechanism.parameter(0, BodyParameter::kJzz).free = true;
  const Recording dead = two_links("dead", 1.2, true);
  const DiagnosedInput input = examine_and_repair_input(mechanism, {dead}, {});
  ASSERT_EQ(input.findings.size(), 1U);
  EXPECT_EQ(input.findings[0].message.code, MessageCode::kDeadChannel);

  Recording inverted = two_links("inverted", 0.9, false);
  inverted.segments[0].angles.col(1) *= -1.0;
  const DiagnosedInput both = examine_and_repair_input(mechanism, {dead, inverted}, {});
  ASSERT_EQ(both.findings.size(), 2U);
  EXPECT_EQ(both.findings[0].message.code, MessageCode::kDeadChannel);
  EXPECT_EQ(both.findings[1].severity, Severity::kFault)
      << service::describe_finding(both.findings[1]).what;
  inverted.segments[0].angles.col(1) *= -1.0;
  EXPECT_EQ(examine_and_repair_input(mechanism, {dead, inverted}, {}).findings.size(), 1U);
}

/// With the encoders' readings shifted by the given sizes from row 500 on.
Calibration stepped(double first, double second) {
  Recording recording = two_links("run", 1.2, false);
  Eigen::MatrixXd& angles = recording.segments[0].angles;
  angles = with_noise(angles, kFineNoise, 6);
  angles.col(0).tail(500).array() += first;
  angles.col(1).tail(500).array() += second;
  Mechanism mechanism = make_chain({.links = 2});
  mechanism.parameter(0, BodyParameter::kJzz).free = true;
  return calibrate_with_diagnostics(mechanism, {recording}, {}).calibration;
}

// Two encoders do not slip at the same instant. If simultaneous slips explain more than lost time,
// the recording is cut there as well. A jump of one encoder is a slip.
TEST(DiagnosedCalibration, CutsWhereTwoEncodersJumpTogether) {
  constexpr double kSlip = 4e-4;
  const Calibration one = stepped(0.0, kSlip);
  EXPECT_NE(find(one, "slip"), nullptr);
  EXPECT_EQ(find(one, "jump"), nullptr);
  const Calibration two = stepped(-kSlip, kSlip);
  EXPECT_EQ(find(two, "slip"), nullptr);
  EXPECT_NE(find(two, "jump"), nullptr);
}

// A slip that noise hides in every window is tried, and reported only if the model is accepted with
// this slip but rejected without it.
TEST(DiagnosedCalibration, TriesTheLikeliestSlipIfTheModelIsRejected) {
  constexpr double kSlip = 1.6 * kExaminedNoise;
  Eigen::VectorXd readings = clean_readings();
  readings.tail(readings.size() - 3000).array() += kSlip;
  const DiagnosedCalibration with = calibrate(readings);
  const Finding* const slip = find(with.calibration, "slip");
  ASSERT_NE(slip, nullptr);
  EXPECT_NEAR(slip->size, kSlip, 0.2 * kSlip);
  EXPECT_NEAR(slip->from, 3.0, 0.1);
  EXPECT_EQ(with.calibration.verdict.kind, VerdictKind::kAccepted);
  EXPECT_EQ(with.calibration.parameters.size(), 4U);

  const DiagnosedCalibration fails = calibrate(fine_readings(), true, without_dry_friction());
  EXPECT_NE(fails.calibration.verdict.kind, VerdictKind::kAccepted);
  EXPECT_EQ(find(fails.calibration, "slip"), nullptr);
}

// If no jump hidden in the readings could explain the misfit, none is tried.
TEST(DiagnosedCalibration, TriesNoJumpForALargeMisfit) {
  const auto stages = [](const Mechanism& mechanism, const Eigen::VectorXd& readings, bool repair) {
    int count = 0;
    CalibrationMonitor monitor;
    monitor.on_stage = [&](const FitStage&, const Mechanism&) { ++count; };
    CalibrationOptions options;
    options.repair = repair;
    calibrate_with_diagnostics(mechanism, {recording_of(readings)}, options, {}, monitor);
    return count;
  };
  EXPECT_EQ(stages(without_dry_friction(), fine_readings(), true),
            stages(without_dry_friction(), fine_readings(), false));
  Eigen::VectorXd slips = clean_readings();
  slips.tail(3000).array() += 1.6 * kExaminedNoise;
  EXPECT_GT(stages(pendulum(), slips, true), stages(pendulum(), slips, false));
}

// A fault stops the calibration, unless the user overrides it.
TEST(DiagnosedCalibration, RejectsInputWithFaults) {
  const std::vector<Finding> fault = {make_finding(MessageCode::kIdenticalChannels)};
  EXPECT_THROW(require_no_fault(fault, {}), UnusableInput);
  CalibrationOptions insists;
  insists.repair = false;
  EXPECT_NO_THROW(require_no_fault(fault, insists));
  EXPECT_NO_THROW(require_no_fault({}, {}));
}

// Without noise and quantization, the errors of the simulation itself exceed the noise. They have
// none of the causes that are tested for recordings of a rig.
TEST(DiagnosedCalibration, ReportsExactReadingsInsteadOfCauses) {
  const auto calibrated_with = [](double noise) {
    Eigen::VectorXd readings = swung({.b = 2e-3}, 2.0, 6000, 0.0, 1);
    for (Eigen::Index k = 0; k < readings.size(); ++k) {
      readings[k] += 1e-5 * std::sin(1e-3 * static_cast<double>(k));  // of a coarse integrator
    }
    return calibrate(as_read(readings, noise, 0.0, 1)).calibration;
  };
  const Calibration simulated = calibrated_with(0.0);
  ASSERT_NE(simulated.verdict.kind, VerdictKind::kAccepted);
  ASSERT_NE(find(simulated, "exact-readings"), nullptr);
  EXPECT_EQ(find(simulated, "exact-readings")->severity, Severity::kWarning);
  EXPECT_EQ(simulated.findings.size(), 1U);
  EXPECT_EQ(find(calibrated_with(1e-3), "exact-readings"), nullptr);
}

}  // namespace
}  // namespace estimator
