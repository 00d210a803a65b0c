#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/note_text.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kPhysicalNoise = 1e-3;

ReferencePendulum sticky_pendulum() { return {.b = 2e-4, .tau_c = 0.006, .tau_s = 0.006}; }

Mechanism pendulum_to_fit(const ReferencePendulum& rig) {
  Mechanism mechanism = pendulum_of({.J = rig.J, .g = rig.g});
  for (const auto& [name, start] :
       {std::pair{"P.J_zz", 3.0 * rig.J}, {"1.b", 0.3 * rig.b}, {"1.tau_c", 0.3 * rig.tau_c}}) {
    Parameter& parameter = parameter_of(mechanism, name);
    parameter.value = start;
    parameter.free = true;
  }
  return mechanism;
}

Recording record_release(const ReferencePendulum& rig, int samples, double noise, unsigned seed) {
  return test_support::swing(rig, "release", 2.5, samples, 1e-3, noise, seed);
}

// Physical parameters must have no bias of the step, on data of an independent simulator. At the
// same default step, shadow parameters are off by a percent or more, ten of these standard
// deviations. Starts are wrong by a factor of three both ways, and the motion ends at rest.
TEST(PhysicalCalibration, EstimatesTheParametersOfAStickingPendulum) {
  const ReferencePendulum rig = sticky_pendulum();
  const Calibration result =
      calibrate(pendulum_to_fit(rig), {record_release(rig, 16000, kPhysicalNoise, 3)});
  EXPECT_EQ(result.kind, EstimateKind::kPhysical);
  EXPECT_TRUE(result.converged());
  expect_within(result, "P.J_zz", rig.J, 4.0);
  expect_within(result, "1.b", rig.b, 4.0);
  expect_within(result, "1.tau_c", rig.tau_c, 4.0);
  EXPECT_LT(estimate_of(result, "P.J_zz").standard_deviation, 1e-4 * rig.J);
  EXPECT_NEAR(result.simulation.front().rmse, kPhysicalNoise, 0.03 * kPhysicalNoise);
  EXPECT_NEAR(result.angle_noise[0], kPhysicalNoise, 0.03 * kPhysicalNoise);
  EXPECT_EQ(result.acceleration_noise[0], 0.0) << "the model is right: nothing is unexplained";
  // Solves are distinguished: within one no cost rises, and each but the first is labelled.
  const std::vector<IterationRecord>& history = result.history;
  EXPECT_EQ(history.front().solve, 0);
  EXPECT_GE(history.back().solve, 2);
  EXPECT_EQ(history.back().kind, SolveKind::kFinalNoise);
  for (std::size_t k = 0; k < history.size(); ++k) {
    EXPECT_EQ(history[k].kind == SolveKind::kFirst, history[k].solve == 0);
    if (k == 0 || history[k].solve != history[k - 1].solve) continue;
    EXPECT_LE(history[k].cost, history[k - 1].cost);
    EXPECT_EQ(history[k].kind, history[k - 1].kind);
  }
}

// A fit soon takes an excess that decays over the wrong speeds for a part of the kinetic torque, or
// for zero, and does not return in small steps. From decays, torques and excesses wrong by a factor
// of ten either way, every fit must reach the same estimate.
TEST(PhysicalCalibration, EstimatesAStribeckExcessFromAnyInitialValue) {
  ReferencePendulum rig = sticky_pendulum();
  rig.tau_s = 0.008;
  rig.zeta = 4.0;
  const std::vector<Recording> recordings = {record_release(rig, 12000, 1e-4, 5)};
  const auto from = [&](double kinetic, double excess, double rate) {
    Mechanism mechanism = pendulum_to_fit(rig);
    mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = kinetic * rig.tau_c;
    for (const auto& [quantity, value] :
         {std::pair(JointParameter::kStribeckTorque, excess * (rig.tau_s - rig.tau_c)),
          std::pair(JointParameter::kStribeckRate, rate * rig.zeta)}) {
      mechanism.joint_parameter(0, quantity).value = value;
      mechanism.joint_parameter(0, quantity).free = true;
    }
    return calibrate(mechanism, recordings);
  };
  const Calibration reference = from(1.0, 1.0, 1.0);
  expect_within(reference, "1.tau_delta", rig.tau_s - rig.tau_c, 4.0);
  expect_within(reference, "1.zeta", rig.zeta, 4.0);
  for (const auto& [kinetic, excess, rate] :
       {std::array{10.0, 10.0, 10.0}, {0.1, 0.1, 0.1}, {0.14, 2.5, 2.0}, {0.1, 0.3, 10.0}}) {
    SCOPED_TRACE(std::to_string(kinetic) + ", " + std::to_string(excess) + ", " +
                 std::to_string(rate));
    for (const ParameterEstimate& estimate : from(kinetic, excess, rate).parameters) {
      const ParameterEstimate& expected = estimate_of(reference, estimate.name);
      EXPECT_NEAR(estimate.value, expected.value, 0.1 * expected.standard_deviation)
          << estimate.name;
    }
  }
}

// Over 40 realizations of the noise the estimates must scatter as reported. About one series in a
// thousand falls outside these bounds (binomial with 0.95, χ² with 120 terms).
TEST(PhysicalCalibration, ReportsTheScatterOfItsEstimates) {
  const ReferencePendulum rig = sticky_pendulum();
  const std::vector<std::pair<std::string, double>> truth = {
      {"P.J_zz", rig.J}, {"1.b", rig.b}, {"1.tau_c", rig.tau_c}};
  int covered = 0;
  double squares = 0.0;
  const int runs = 40;
  for (int run = 0; run < runs; ++run) {
    const Calibration result =
        calibrate(pendulum_to_fit(rig),
                  {record_release(rig, 4000, kPhysicalNoise, 100u + static_cast<unsigned>(run))});
    for (const auto& [name, value] : truth) {
      const ParameterEstimate& estimate = estimate_of(result, name);
      const double deviations = (estimate.value - value) / estimate.standard_deviation;
      covered += std::abs(deviations) < 1.96 ? 1 : 0;
      squares += deviations * deviations;
    }
  }
  const double count = 3.0 * runs;
  EXPECT_GE(covered, 104);
  EXPECT_NEAR(squares / count, 1.0, 0.5);
}

// A wrong friction law must be reported, not hidden in small intervals. Fitted without the drag it
// has, the pendulum's accelerations are not explained and its simulation errors are correlated.
TEST(PhysicalCalibration, ReportsAModelThatDoesNotExplainTheMotion) {
  ReferencePendulum rig = sticky_pendulum();
  rig.c = 2e-4;
  const Calibration wrong =
      calibrate(pendulum_to_fit(rig), {record_release(rig, 8000, kPhysicalNoise, 7)});
  EXPECT_GT(wrong.acceleration_noise[0], 0.0);
  for (const auto code : {MessageCode::kProcessNoise, MessageCode::kInflatedForCorrelation}) {
    EXPECT_TRUE(has_note(wrong.notes, code)) << text_of_notes(wrong.notes);
  }

  Mechanism right = pendulum_to_fit(rig);
  auto& drag = right.joint_parameter(0, JointParameter::kQuadraticDrag);
  drag.value = 1e-5;
  drag.free = true;
  const Calibration result = calibrate(right, {record_release(rig, 8000, kPhysicalNoise, 7)});
  EXPECT_EQ(result.acceleration_noise[0], 0.0);
  expect_within(result, "1.c", rig.c, 4.0);
}

ReferenceFuruta driven_rig() { return {.b_1 = 1e-3, .b_2 = 1e-4, .K = 0.07}; }

/// A motion that passes the upright position repeatedly.
Recording driven_motion(int samples, double amplitude = 6.0, double noise = kPhysicalNoise) {
  const Eigen::VectorXd u = sampled(
      samples, 1e-3, [&](double t) { return amplitude * std::sin(9.0 * t) * std::sin(0.7 * t); });
  return record(driven_rig(), Eigen::Vector4d(0.0, 2.9, 0.0, 0.0), u, 1e-3, noise, 11);
}

Mechanism driven_mechanism_to_fit(double inertia_factor) {
  Mechanism mechanism = mechanism_of(driven_rig());
  free_parameters(mechanism, {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "1.K"}, inertia_factor);
  return mechanism;
}

// Motions through the upright position cannot be predicted from their initial state. The joint
// estimation must still work, with standard deviations as small as such motions allow.
TEST(PhysicalCalibration, EstimatesFromAMotionThatCannotBePredicted) {
  const ReferenceFuruta rig = driven_rig();
  const Calibration result = calibrate(driven_mechanism_to_fit(2.0), {driven_motion(8000)});
  EXPECT_TRUE(result.converged());
  expect_within(result, "A.J_zz", rig.J_Azz, 4.0);
  expect_within(result, "B.J_yy", rig.J_Byy, 4.0);
  expect_within(result, "B.J_zz", rig.J_Bzz, 4.0);
  expect_within(result, "1.K", rig.K, 4.0);
  EXPECT_LT(estimate_of(result, "B.J_yy").standard_deviation, 1e-3 * rig.J_Byy);
}

// A motion so little predictable that the simulation fit ends in one of many local minima. The
// joint estimation explains the readings, and its estimate must be kept.
TEST(PhysicalCalibration, KeepsTheJointFitIfTheSimulationDiverges) {
  const ReferenceFuruta rig = driven_rig();
  const Calibration result =
      calibrate(driven_mechanism_to_fit(2.0), {driven_motion(10400, 12.0, 8e-3)});
  EXPECT_TRUE(result.converged());
  EXPECT_EQ(result.verdict.kind, VerdictKind::kAccepted) << service::format_verdict(result.verdict);
  expect_within(result, "B.J_yy", rig.J_Byy, 4.0);
  expect_within(result, "1.K", rig.K, 4.0);
  EXPECT_LT(estimate_of(result, "B.J_yy").standard_deviation, 1e-3 * rig.J_Byy);
}

// A tenth of the inertias, and ten times motor gain and friction: accelerations are wrong by a
// factor of a hundred, and no fit over a fifth of a second converges from there by itself.
TEST(PhysicalCalibration, RecoversFromADivergingStart) {
  const ReferenceFuruta rig = driven_rig();
  Mechanism mechanism = driven_mechanism_to_fit(0.1);
  mechanism.joint_parameter(0, JointParameter::kMotorGain).value = 10.0 * rig.K;
  mechanism.joint_parameter(0, JointParameter::kViscous).value = 10.0 * rig.b_1;
  const Calibration result = calibrate(mechanism, {driven_motion(4000)});
  EXPECT_TRUE(result.converged());
  expect_within(result, "B.J_yy", rig.J_Byy, 4.0);
  expect_within(result, "1.K", rig.K, 4.0);
}

// Friction that stops the pendulum in less than a millisecond needs shorter integration steps. A
// start that is wrong by a factor of 50 000 must still lead to the estimate.
TEST(PhysicalCalibration, ConvergesFromStiffFriction) {
  const ReferencePendulum rig = sticky_pendulum();
  Mechanism mechanism = pendulum_to_fit(rig);
  mechanism.joint_parameter(0, JointParameter::kViscous).value = 10.0;
  const Calibration result = calibrate(mechanism, {record_release(rig, 4000, kPhysicalNoise, 3)});
  EXPECT_TRUE(result.converged());
  expect_within(result, "P.J_zz", rig.J, 4.0);
  expect_within(result, "1.b", rig.b, 4.0);
}

// Fixed friction that would need steps below 20 µs is reported with its parameter. Other fixed
// values that cannot be simulated are reported too; a tree has no loops to check.
TEST(PhysicalCalibration, NamesTheCauseOfASimulationThatDiverges) {
  const ReferencePendulum rig = sticky_pendulum();
  const Recording recording = record_release(rig, 4000, kPhysicalNoise, 3);
  const auto refused = [&](JointParameter quantity, double value) {
    Mechanism mechanism = pendulum_to_fit(rig);
    mechanism.joint_parameter(0, quantity).value = value;
    mechanism.joint_parameter(0, quantity).free = false;
    mechanism.parameter(0, BodyParameter::kJzz).free = false;  // else it balances the spring
    return refusal<std::invalid_argument>([&] { calibrate(mechanism, {recording}); });
  };
  expect_parts(refused(JointParameter::kViscous, 1e200),
               {"joint \"1\"", "1.b = 100e198", "integration step", "Check the unit"});
  expect_absent(refused(JointParameter::kStiffness, 1e12), {"loops"});
}

/// Viscous friction that is really zero ends at its bound, which causes a restart.
std::pair<Mechanism, std::vector<Recording>> without_viscous_friction() {
  ReferencePendulum rig = sticky_pendulum();
  rig.b = 0.0;
  Mechanism mechanism = pendulum_to_fit(rig);
  mechanism.joint_parameter(0, JointParameter::kViscous).value = 1e-4;
  return {mechanism, {record_release(rig, 2000, kPhysicalNoise, 5)}};
}

// A stop requested at any iteration of any stage must be reported. Otherwise the result would look
// like an estimate.
TEST(PhysicalCalibration, ReportsAStopInAnyStage) {
  const auto [mechanism, recordings] = without_viscous_friction();
  int iterations = 0;
  CalibrationMonitor monitor;
  monitor.on_iteration = [&](const IterationRecord&) { ++iterations; };
  ASSERT_TRUE(estimate_of(calibrate(mechanism, recordings, {}, monitor), "1.b").at_bound);
  const int total = iterations;
  ASSERT_GT(total, 10);
  for (int stop_at = 1; stop_at < total; ++stop_at) {
    std::atomic<bool> stop = false;
    iterations = 0;
    monitor.stop = &stop;
    monitor.on_iteration = [&](const IterationRecord&) {
      if (++iterations == stop_at) stop = true;
    };
    const Calibration result = calibrate(mechanism, recordings, {}, monitor);
    const auto last = result.refined ? result.refinement_termination : result.termination;
    EXPECT_EQ(last, Termination::kCancelled) << stop_at << " of " << total;
  }
}

// Catches an option that reaches only one of the fits, or none.
TEST(PhysicalCalibration, RestartsOnlyIfRequested) {
  const auto [mechanism, recordings] = without_viscous_friction();
  const auto count_restarts = [&](const CalibrationOptions& options) {
    std::map<EstimationStage, int> counts;
    CalibrationMonitor monitor;
    monitor.on_stage = [&](const FitStage& stage, const Mechanism&) {
      if (stage.solve == SolveKind::kRestart) ++counts[stage.stage];
    };
    EXPECT_TRUE(calibrate(mechanism, recordings, options, monitor).converged());
    return std::pair{counts[EstimationStage::kJointEstimation],
                     counts[EstimationStage::kSimulationFit]};
  };
  const auto [joint, simulation] = count_restarts({});
  EXPECT_GT(joint, 0);
  EXPECT_GT(simulation, 0);
  EXPECT_EQ(count_restarts({.restarts = 0}), (std::pair{0, 0}));
}

// Options specific to a SPOOK simulator select its parameters, and contradict an explicit request
// for physical ones. Loops have no joint coordinates.
TEST(PhysicalCalibration, IsTheDefaultWherePossible) {
  const Mechanism tree = make_chain({.links = 2});
  Mechanism loop = make_chain({.links = 3, .closing_point = Eigen::Vector3d(0.4, 0.0, 0.0)});
  CalibrationOptions options;
  EXPECT_EQ(select_estimate_kind(tree, options), EstimateKind::kPhysical);
  EXPECT_EQ(select_estimate_kind(loop, options), EstimateKind::kPhysical);
  loop.joint_parameter(1, JointParameter::kLoadFriction).free = true;  // unknown loads
  EXPECT_EQ(select_estimate_kind(loop, options), EstimateKind::kShadow);
  options.state_error_weight = 100.0;
  EXPECT_EQ(select_estimate_kind(tree, options), EstimateKind::kShadow);
  options.kind = EstimateKind::kPhysical;
  EXPECT_THROW(select_estimate_kind(tree, options), std::invalid_argument);
}

// Each part is predicted with parameters from all other parts. Both state estimation and open-loop
// simulation reach the noise level.
TEST(PhysicalCalibration, CrossValidates) {
  const ReferencePendulum rig = sticky_pendulum();
  std::vector<Recording> parts;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    parts.push_back(record_release(rig, 3000, kPhysicalNoise, seed));
    parts.back().name = "release " + std::to_string(seed);
  }
  const auto result = cross_validate(pendulum_to_fit(rig), parts);
  for (Eigen::Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.observation(i, i), kPhysicalNoise, 0.06 * kPhysicalNoise);
    EXPECT_NEAR(result.simulation.front()(i, i), kPhysicalNoise, 0.06 * kPhysicalNoise);
  }
}

}  // namespace
}  // namespace estimator
