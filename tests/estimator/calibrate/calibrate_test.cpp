#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/fit/shadow/simulation_problem.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"
#include "tests/estimator/dense_problem.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kShadowNoise = 1e-3;

// Calibrates the shadow parameters of a SPOOK simulator. Other tests cover physical parameters.
Calibration calibrate_shadow(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                             CalibrationOptions options = {}) {
  options.kind = EstimateKind::kShadow;
  return calibrate(mechanism, recordings, options);
}

ReferenceFuruta viscous_rig() { return {.b_1 = 2e-3, .b_2 = 2e-4}; }

// Six seconds of free motion sampled at 1 kHz, without control.
Recording release(const ReferenceFuruta& rig, unsigned seed = 21) {
  return test_support::record(rig, Eigen::Vector4d(0.3, 2.0, 0.0, 0.0), Eigen::VectorXd::Zero(6000),
                              1e-3, kShadowNoise, seed);
}

Mechanism rig_to_fit(const std::vector<std::string>& free, double factor = 0.7) {
  Mechanism mechanism = mechanism_of(viscous_rig());
  free_parameters(mechanism, free, factor);
  return mechanism;
}

// The whole pipeline on data of a simulator that shares no code with it: parameters within half a
// percent, and an open-loop simulation whose residuals are the encoder noise.
TEST(Calibrate, EstimatesTheParametersOfAnIndependentSimulation) {
  CalibrationOptions options;
  options.step = 1e-3;  // at the default 5 ms the step size itself biases 1.b by 7 %
  const Calibration result = calibrate_shadow(rig_to_fit({"A.J_zz", "B.J_yy", "1.b", "2.b"}),
                                              {release(viscous_rig())}, options);
  EXPECT_TRUE(result.converged());
  EXPECT_TRUE(result.refined);
  EXPECT_NEAR(estimate_of(result, "A.J_zz").value, 3e-3, 0.005 * 3e-3);
  EXPECT_NEAR(estimate_of(result, "B.J_yy").value, 4e-3, 0.005 * 4e-3);
  EXPECT_NEAR(estimate_of(result, "1.b").value, 2e-3, 0.05 * 2e-3);
  EXPECT_NEAR(estimate_of(result, "2.b").value, 2e-4, 0.05 * 2e-4);
  for (const auto& error : result.simulation)
    EXPECT_LT(error.rmse, 1.1 * kShadowNoise) << error.joint;
}

// Both residual forms and both state forms describe the same problem. Answers that differ by more
// than half a percent mean that one of them is wrong.
TEST(Calibrate, AgreesForAllFormsOfResidualAndState) {
  const std::vector<Recording> recordings = {release(viscous_rig())};
  CalibrationOptions options;
  options.refine_simulation = false;
  options.compliance = 1e-5;
  options.state_error_weight = 1e3;
  const Mechanism mechanism = rig_to_fit({"A.J_zz", "B.J_yy", "1.b", "2.b"});
  const Calibration reference = calibrate_shadow(mechanism, recordings, options);
  for (const auto residual : {ResidualForm::kExplicit, ResidualForm::kImplicit}) {
    for (const auto states : {StateForm::kFull, StateForm::kConfigurations}) {
      options.residual_form = residual;
      options.state_form = states;
      const Calibration result = calibrate_shadow(mechanism, recordings, options);
      EXPECT_TRUE(is_converged(result.termination)) << to_string(result.termination);
      for (const char* name : {"A.J_zz", "B.J_yy"}) {
        EXPECT_NEAR(estimate_of(result, name).value / estimate_of(reference, name).value, 1.0,
                    0.005)
            << name;
      }
    }
  }
}

// The gain of a motor that is never driven cannot be identified. It must be fixed and reported
// without a finite standard deviation, and all other parameters estimated.
TEST(Calibrate, FixesAndReportsAParameterWithoutEffect) {
  const Calibration result =
      calibrate_shadow(rig_to_fit({"B.J_yy", "1.K"}), {release(viscous_rig())});
  EXPECT_TRUE(std::isinf(estimate_of(result, "1.K").standard_deviation));
  EXPECT_EQ(estimate_of(result, "1.K").value, estimate_of(result, "1.K").initial);
  ASSERT_EQ(result.null_directions.size(), 1U);
  const Message& direction = result.null_directions.front().description;
  EXPECT_EQ(direction.code, MessageCode::kFixedDirection);
  EXPECT_EQ(*direction.find("parameter"), Argument::Value("1.K"));
  EXPECT_NEAR(estimate_of(result, "B.J_yy").value, 4e-3, 0.005 * 4e-3);
  EXPECT_THROW(calibrate_shadow(rig_to_fit({"1.K"}), {release(viscous_rig())}),
               std::invalid_argument);
}

// Weights, and the damping of soft joints, depend on the initial inertias. A first fit in
// continuous time makes these, and so the estimate, independent of the start to a thousandth of the
// standard deviation. Without it, the solver starts at the given values.
TEST(Calibrate, EstimatesEqualShadowParametersFromAnyInitialValues) {
  const std::vector<Recording> recordings = {release(viscous_rig())};
  const std::vector<std::string> free = {"A.J_zz", "B.J_yy", "1.b", "2.b"};
  CalibrationOptions options;
  options.step = 5e-3;
  options.refine_simulation = false;
  const Calibration reference = calibrate_shadow(rig_to_fit(free, 1.0), recordings, options);
  for (const double factor : {0.1, 10.0}) {
    SCOPED_TRACE(factor);
    const Calibration result = calibrate_shadow(rig_to_fit(free, factor), recordings, options);
    EXPECT_TRUE(result.converged());
    EXPECT_TRUE(result.started_from_physical);
    EXPECT_NEAR(result.state_error_weight / reference.state_error_weight, 1.0, 1e-4);
    for (const ParameterEstimate& estimate : result.parameters) {
      const ParameterEstimate& expected = estimate_of(reference, estimate.name);
      EXPECT_NEAR(estimate.value, expected.value, 1e-3 * expected.standard_deviation)
          << estimate.name;
    }
    EXPECT_NEAR(estimate_of(result, "A.J_zz").initial / estimate_of(reference, "A.J_zz").initial,
                factor, 1e-9);
  }
  options.start_from_physical = false;
  const Calibration reported = calibrate_shadow(rig_to_fit(free, 3.0), recordings, options);
  EXPECT_FALSE(reported.started_from_physical);
  EXPECT_NEAR(reported.history.front().parameters[0],
              3.0 * estimate_of(reference, "A.J_zz").initial, 1e-12);
}

// The parameters that an iteration reports must be the free parameters of the mechanism of its
// stage, without those that are fixed.
TEST(Calibrate, ReportsTheFreeParametersOfEachStage) {
  for (const auto kind : {EstimateKind::kPhysical, EstimateKind::kShadow}) {
    int varied = -1, iterations = 0;
    CalibrationMonitor monitor;
    monitor.on_stage = [&](const FitStage&, const Mechanism& mechanism) {
      varied = 0;
      for (const auto& parameter : mechanism.parameters) varied += parameter.free ? 1 : 0;
    };
    monitor.on_iteration = [&](const IterationRecord& record) {
      ++iterations;
      EXPECT_EQ(record.parameters.size(), varied);
      EXPECT_EQ(varied, 1) << "1.K has no effect";
    };
    CalibrationOptions options;
    options.kind = kind;
    calibrate(rig_to_fit({"B.J_yy", "1.K"}), {release(viscous_rig())}, options, monitor);
    EXPECT_GT(iterations, 2);
  }
}

// A prior has the weight of its standard deviation beside 6000 angles: a tight one keeps the
// estimate, a wide one hardly changes it. Unscaled, a prior would outweigh the angles a
// millionfold, so that the wide prior would change the estimate too.
TEST(Calibrate, WeighsPriorsByTheirStandardDeviation) {
  const std::vector<Recording> recordings = {release(viscous_rig())};
  Mechanism mechanism = rig_to_fit({"B.J_yy", "1.b"});
  const Calibration free = calibrate_shadow(mechanism, recordings);
  Parameter& b = parameter_of(mechanism, "1.b");
  const double sd = estimate_of(free, "1.b").standard_deviation;
  b.prior_mean = 3e-3;
  b.prior_standard_deviation = 100.0 * (3e-3 - 2e-3);
  EXPECT_NEAR(estimate_of(calibrate_shadow(mechanism, recordings), "1.b").value,
              estimate_of(free, "1.b").value, 0.1 * sd);
  b.prior_standard_deviation = 1e-3 * sd;
  EXPECT_NEAR(estimate_of(calibrate_shadow(mechanism, recordings), "1.b").value, 3e-3, sd);
}

TEST(Calibrate, RejectsUnusableInput) {
  const Mechanism mechanism = rig_to_fit({"B.J_yy"});
  EXPECT_THROW(calibrate_shadow(mechanism, {}), std::invalid_argument);
  Recording recording = release(viscous_rig());
  recording.segments.front().angles.conservativeResize(30, 2);
  recording.segments.front().controls.conservativeResize(30, 1);
  EXPECT_THROW(calibrate_shadow(mechanism, {recording}), std::invalid_argument);
  recording = release(viscous_rig());
  recording.segments.front().angles(17, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(calibrate_shadow(mechanism, {recording}), std::invalid_argument);
  recording = release(viscous_rig());
  recording.segments.front().angles.setConstant(0.5);
  EXPECT_THROW(calibrate_shadow(mechanism, {recording}), std::invalid_argument);
  EXPECT_THROW(calibrate_shadow(rig_to_fit({}), {release(viscous_rig())}), std::invalid_argument);
}

// The derivatives of the simulated angles, propagated through every step, are compared with
// differences of whole simulations. The relative step 1e-6 leaves errors of 1e-5 of the maximum.
TEST(SimulationProblem, JacobianMatchesDifferences) {
  const Mechanism mechanism =
      smooth_furuta({"A.J_zz", "B.J_yy", "1.b", "2.b", "1.K", "2.offset", "gravity.tilt_x"});
  constexpr double kStep = 5e-3;
  const TrajectoryData data = simulate_furuta(mechanism, 120, kStep, kShadowNoise, 5);
  const ModelParameterValues values = unpack_parameters(mechanism);
  const std::vector<State> initial = {
      assemble_state(mechanism, values, Eigen::Vector2d(0.3, 1.5), Eigen::Vector2d(0.5, -1.0))};
  StepSettings settings;
  settings.step = kStep;
  SimulationProblem problem(mechanism, {data}, initial, settings);
  const DenseProblem at = stack(problem);
  const Eigen::Index rows = at.residual.size() / 2, nodes = node_unknowns(problem);
  for (Eigen::Index column = 0; column < at.jacobian.cols(); ++column) {
    const double size =
        column < nodes ? 1.0 : std::max(std::abs(problem.parameter_values()[column - nodes]), 1e-3);
    const Eigen::VectorXd expected =
        slope_along(problem, 1e-6 * size * Eigen::VectorXd::Unit(at.jacobian.cols(), column));
    for (const int sensor : {0, 1}) {
      const auto of_sensor = expected.segment(sensor * rows, rows);
      EXPECT_LT(
          (at.jacobian.col(column).segment(sensor * rows, rows) - of_sensor).cwiseAbs().maxCoeff(),
          1e-5 * std::max(of_sensor.cwiseAbs().maxCoeff(), 1.0))
          << "sensor " << sensor << ", unknown " << column;
    }
  }
}

}  // namespace
}  // namespace estimator
