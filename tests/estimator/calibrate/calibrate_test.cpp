#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/fit/shadow/simulation_problem.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "tests/estimator/calibrate/reference_recording.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"

namespace {

using estimator::Calibration;
using estimator::CalibrationOptions;
using estimator::Mechanism;
using estimator::ParameterEstimate;
using estimator::Recording;
using test_support::ReferenceFuruta;

constexpr double kNoise = 1e-3;

// Calibrates the shadow parameters of a SPOOK simulator. Physical ones have tests of their own.
Calibration calibrate_shadow(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                             CalibrationOptions options = {}) {
  options.kind = estimator::EstimateKind::kShadow;
  return estimator::calibrate(mechanism, recordings, options);
}

ReferenceFuruta viscous_rig() {
  ReferenceFuruta rig;
  rig.b_1 = 2e-3;
  rig.b_2 = 2e-4;
  return rig;
}

// Six seconds of free motion sampled at 1 kHz, without control.
Recording release(const ReferenceFuruta& rig, unsigned seed = 21) {
  return test_support::record(rig, Eigen::Vector4d(0.3, 2.0, 0.0, 0.0), Eigen::VectorXd::Zero(6000),
                              1e-3, kNoise, seed);
}

Mechanism rig_to_fit(const std::vector<std::string>& free, double factor = 0.7) {
  Mechanism mechanism = test_support::mechanism_of(viscous_rig());
  test_support::free_parameters(mechanism, free, factor);
  return mechanism;
}

const ParameterEstimate& find(const Calibration& calibration, const std::string& name) {
  for (const ParameterEstimate& estimate : calibration.parameters) {
    if (estimate.name == name) return estimate;
  }
  throw std::out_of_range(name);
}

// The whole pipeline on data of a simulator that shares no code with it: parameters within half a
// percent, and an open-loop simulation whose residuals are the encoder noise.
TEST(Calibrate, FindsTheParametersOfAnIndependentSimulation) {
  CalibrationOptions options;
  options.step = 1e-3;  // at the default 5 ms the step size itself biases 1.b by 7 %
  const Calibration result = calibrate_shadow(rig_to_fit({"A.J_zz", "B.J_yy", "1.b", "2.b"}),
                                              {release(viscous_rig())}, options);
  EXPECT_TRUE(result.converged());
  EXPECT_TRUE(result.refined);
  EXPECT_NEAR(find(result, "A.J_zz").value, 3e-3, 0.005 * 3e-3);
  EXPECT_NEAR(find(result, "B.J_yy").value, 4e-3, 0.005 * 4e-3);
  EXPECT_NEAR(find(result, "1.b").value, 2e-3, 0.05 * 2e-3);
  EXPECT_NEAR(find(result, "2.b").value, 2e-4, 0.05 * 2e-4);
  for (const auto& error : result.simulation) EXPECT_LT(error.rmse, 1.1 * kNoise) << error.joint;
}

// Both residual forms and both state forms describe the same problem. Answers that differ by more
// than half a percent mean that one of them is wrong.
TEST(Calibrate, FormsOfResidualAndStateAgree) {
  const std::vector<Recording> recordings = {release(viscous_rig())};
  CalibrationOptions options;
  options.refine_simulation = false;
  options.compliance = 1e-5;
  options.state_error_weight = 1e3;
  const Mechanism mechanism = rig_to_fit({"A.J_zz", "B.J_yy", "1.b", "2.b"});
  const Calibration reference = calibrate_shadow(mechanism, recordings, options);
  for (const auto residual :
       {estimator::ResidualForm::kExplicit, estimator::ResidualForm::kImplicit}) {
    for (const auto states : {estimator::StateForm::kFull, estimator::StateForm::kConfigurations}) {
      options.residual_form = residual;
      options.state_form = states;
      const Calibration result = calibrate_shadow(mechanism, recordings, options);
      EXPECT_TRUE(is_converged(result.termination)) << to_string(result.termination);
      for (const char* name : {"A.J_zz", "B.J_yy"}) {
        EXPECT_NEAR(find(result, name).value / find(reference, name).value, 1.0, 0.005) << name;
      }
    }
  }
}

// The gain of a motor that is never driven cannot be identified. It must be fixed and reported
// without a finite standard deviation, and the others estimated.
TEST(Calibrate, FixesAndReportsAParameterWithoutEffect) {
  const Calibration result =
      calibrate_shadow(rig_to_fit({"B.J_yy", "1.K"}), {release(viscous_rig())});
  EXPECT_TRUE(std::isinf(find(result, "1.K").standard_deviation));
  EXPECT_EQ(find(result, "1.K").value, find(result, "1.K").initial);
  ASSERT_EQ(result.null_directions.size(), 1U);
  const estimator::Message& direction = result.null_directions.front().description;
  EXPECT_EQ(direction.code, estimator::MessageCode::kFixedDirection);
  EXPECT_EQ(*direction.find("parameter"), estimator::Argument::Value("1.K"));
  EXPECT_NEAR(find(result, "B.J_yy").value, 4e-3, 0.005 * 4e-3);
  EXPECT_THROW(calibrate_shadow(rig_to_fit({"1.K"}), {release(viscous_rig())}),
               std::invalid_argument);
}

// Weights, and the damping of soft joints, depend on the initial inertias. A first fit in
// continuous time makes these, and so the estimate, independent of the start to a thousandth of the
// standard deviation. Without it, the solver starts at the given values.
TEST(Calibrate, ShadowParametersAreTheSameFromEverywhere) {
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
    EXPECT_TRUE(result.approached);
    EXPECT_NEAR(result.state_error_weight / reference.state_error_weight, 1.0, 1e-4);
    for (const ParameterEstimate& estimate : result.parameters) {
      const ParameterEstimate& expected = find(reference, estimate.name);
      EXPECT_NEAR(estimate.value, expected.value, 1e-3 * expected.standard_deviation)
          << estimate.name;
    }
    EXPECT_NEAR(find(result, "A.J_zz").initial / find(reference, "A.J_zz").initial, factor, 1e-9);
  }
  options.start_from_physical = false;
  const Calibration reported = calibrate_shadow(rig_to_fit(free, 3.0), recordings, options);
  EXPECT_FALSE(reported.approached);
  EXPECT_NEAR(reported.history.front().arrow[0], 3.0 * find(reference, "A.J_zz").initial, 1e-12);
}

// The parameters that an iteration reports must be the free parameters of the mechanism of its
// stage, without those that are fixed.
TEST(Calibrate, StagesReportTheirFreeParameters) {
  for (const auto kind : {estimator::EstimateKind::kPhysical, estimator::EstimateKind::kShadow}) {
    int varied = -1, iterations = 0;
    estimator::CalibrationMonitor monitor;
    monitor.on_stage = [&](const estimator::FitStage&, const Mechanism& mechanism) {
      varied = 0;
      for (const auto& parameter : mechanism.parameters) varied += parameter.free ? 1 : 0;
    };
    monitor.on_iteration = [&](const estimator::IterationRecord& record) {
      ++iterations;
      EXPECT_EQ(record.arrow.size(), varied);
      EXPECT_EQ(varied, 1) << "1.K has no effect";
    };
    CalibrationOptions options;
    options.kind = kind;
    estimator::calibrate(rig_to_fit({"B.J_yy", "1.K"}), {release(viscous_rig())}, options, monitor);
    EXPECT_GT(iterations, 2);
  }
}

// A prior has the weight of its standard deviation beside 6000 angles: a tight one keeps the
// estimate, a wide one hardly changes it. Unscaled, it would outweigh the angles a millionfold, and
// the wide one would move the estimate too.
TEST(Calibrate, PriorsHaveTheWeightOfTheirStandardDeviation) {
  const std::vector<Recording> recordings = {release(viscous_rig())};
  Mechanism mechanism = rig_to_fit({"B.J_yy", "1.b"});
  const Calibration free = calibrate_shadow(mechanism, recordings);
  const int index = mechanism.find_parameter("1.b");
  estimator::Parameter& b = mechanism.parameters[static_cast<std::size_t>(index)];
  const double sd = find(free, "1.b").standard_deviation;
  b.prior_mean = 3e-3;
  b.prior_standard_deviation = 100.0 * (3e-3 - 2e-3);
  EXPECT_NEAR(find(calibrate_shadow(mechanism, recordings), "1.b").value, find(free, "1.b").value,
              0.1 * sd);
  b.prior_standard_deviation = 1e-3 * sd;
  EXPECT_NEAR(find(calibrate_shadow(mechanism, recordings), "1.b").value, 3e-3, sd);
}

TEST(Calibrate, RefusesUnusableInput) {
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
  const Mechanism mechanism = test_support::smooth_furuta(
      {"A.J_zz", "B.J_yy", "1.b", "2.b", "1.K", "2.offset", "gravity.tilt_x"});
  constexpr double kStep = 5e-3;
  const estimator::TrajectoryData data =
      test_support::simulate_furuta(mechanism, 120, kStep, kNoise, 5);
  const estimator::ModelValues values = unpack(mechanism);
  const std::vector<estimator::State> initial = {
      assemble_state(mechanism, values, Eigen::Vector2d(0.3, 1.5), Eigen::Vector2d(0.5, -1.0))};
  estimator::StepSettings settings;
  settings.step = kStep;
  estimator::SimulationProblem problem(mechanism, {data}, initial, settings);
  const estimator::ArrowLayout layout = problem.layout();
  for (int sensor = 0; sensor < 2; ++sensor) {
    estimator::ResidualBlock block;
    problem.linearize(sensor, block);
    const Eigen::Index rows = block.rows;
    const int unknowns = layout.node_size + layout.arrow_size;
    for (int column = 0; column < unknowns; ++column) {
      const bool node = column < layout.node_size;
      const double size =
          node ? 1.0 : std::max(std::abs(problem.arrow()[column - layout.node_size]), 1e-3);
      const double delta = 1e-6 * size;
      Eigen::VectorXd angles[2];
      for (const int side : {0, 1}) {
        estimator::SimulationProblem moved(mechanism, {data}, initial, settings);
        Eigen::VectorXd node_step = Eigen::VectorXd::Zero(layout.node_size);
        Eigen::VectorXd arrow_step = Eigen::VectorXd::Zero(layout.arrow_size);
        (node ? node_step[column] : arrow_step[column - layout.node_size]) =
            side == 0 ? -delta : delta;
        moved.evaluate_candidate(node_step, arrow_step);
        moved.accept_candidate();
        angles[side] = moved.simulated_angles(0).col(sensor).tail(rows);
      }
      const Eigen::VectorXd expected = (angles[1] - angles[0]) / (2.0 * delta);
      const Eigen::VectorXd actual =
          node ? block.node_jacobian.col(column).head(rows)
               : block.arrow_jacobian.col(column - layout.node_size).head(rows);
      EXPECT_LT((actual - expected).cwiseAbs().maxCoeff(),
                1e-5 * std::max(expected.cwiseAbs().maxCoeff(), 1.0))
          << "sensor " << sensor << ", unknown " << column;
    }
  }
}

// A unit's clock is never exact: a step of 5 ms must be accepted for a recording with a period of
// 1.000035 ms.
TEST(Calibrate, AcceptsAMultipleOfThePeriodUpToTheClockError) {
  Recording recording = release(viscous_rig());
  recording.segments.front().period = 1.000035e-3;
  CalibrationOptions options;
  options.step = 5e-3;
  const Calibration result = calibrate_shadow(rig_to_fit({"A.J_zz"}), {recording}, options);
  EXPECT_DOUBLE_EQ(result.step, 5.0 * 1.000035e-3);
  options.step = 5.4e-3;
  EXPECT_THROW(calibrate_shadow(rig_to_fit({"A.J_zz"}), {recording}, options),
               std::invalid_argument);
}

}  // namespace
