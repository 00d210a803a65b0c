#include "estimator/calibrate/continued_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/assessment/model_test/score_tests.hpp"
#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/assessment/quantization.hpp"
#include "estimator/calibrate/simulation_uncertainty.hpp"
#include "estimator/fit/inertia_parameterized_problem.hpp"
#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/fit/physical/shooting_input.hpp"

namespace estimator {
namespace {

constexpr int kIterationsMax = 15;
/// Decrease of the whitened cost at convergence: no parameter moves by more than a tenth of its
/// standard deviation.
constexpr double kDecrease = 1e-2;
constexpr double kStagnation = 0.1;  // decrease in three steps

bool can_be_continued(const Mechanism& rig, const Calibration& last) {
  return last.kind == EstimateKind::kPhysical && last.refined && last.converged() &&
         last.held_out.empty() && rig.parameters.size() == last.mechanism.parameters.size() &&
         std::isinf(last.simulation_horizon);
}

LmOptions make_options(const ShootingProblem& problem) {
  const double readings = problem.total_reading_count();
  LmOptions options;
  options.max_iterations = kIterationsMax;
  options.cost_tolerance = kDecrease / readings;
  options.stagnant_gain = kStagnation / readings;
  return options;
}

bool are_residuals_at_noise(const ShootingProblem& problem, const std::vector<Segment>& segments) {
  for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
    const double scale = joint_units(problem.encoder(sensor).kind).scale;
    const double noise = estimate_reading_noise(segments, sensor, scale);
    const double squares = problem.squared_error(sensor) / problem.reading_count(sensor);
    if (!(squares <= std::pow(kDoubtfulResidualRatio * noise, 2))) return false;
  }
  return true;
}

}  // namespace

std::optional<ContinuedCalibration> continue_calibration(const Mechanism& rig,
                                                         const ContinuedCalibration& last,
                                                         const std::vector<Recording>& recordings,
                                                         const CalibrationOptions& options,
                                                         const CalibrationMonitor& monitor) {
  if (!can_be_continued(rig, last.calibration)) return std::nullopt;
  Mechanism mechanism = last.calibration.mechanism;
  ShootingInput input = prepare_shooting_input(mechanism, recordings, options);
  use_final_integration_steps(input);
  remove_distant_stops(input.states, mechanism);
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    const auto known = last.initial_states.find(input.segments[s].start);
    if (known != last.initial_states.end()) input.states[s].col(0) = known->second;
  }
  input.grid.interval = std::numeric_limits<double>::infinity();
  input.noise.angle = last.calibration.angle_noise;
  ShootingProblem problem(mechanism, input.segments, input.states, input.state_spacing, input.grid,
                          input.noise, monitor.threads);
  const LmSummary summary =
      solve_in_inertia_coordinates(problem, problem.mechanism(), options.inertia_parameterization,
                                   make_options(problem), monitor.on_iteration, monitor.stop);
  if (!is_converged(summary.termination) || !are_residuals_at_noise(problem, input.segments)) {
    return std::nullopt;
  }
  ParameterInformation information = compute_information(problem);
  if (!information.valid) return std::nullopt;

  ContinuedCalibration continued;
  Calibration& result = continued.calibration;
  Eigen::VectorXd variances = compute_noise_group_variances(information, 1.0);
  const QuantizationErrors counting =
      account_for_correlation(problem, input.segments, information, variances, result.notes);
  result.kind = EstimateKind::kPhysical;
  result.mechanism = problem.mechanism();
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    result.mechanism.joints[j].stops = rig.joints[j].stops;
  }
  result.simulation = measure_simulation_errors(problem);
  result.angle_noise = input.noise.angle;
  result.step = input.grid.step;
  result.refined = true;
  result.termination = result.refinement_termination = summary.termination;
  result.refinement_iterations = summary.iterations;
  result.cost = summary.cost;
  const EstimateTable table(rig, mechanism);
  ParameterUncertainty uncertainty = compute_parameter_uncertainty(
      result.mechanism, table.free_parameters(), table.estimated_parameters(), information,
      variances, compute_linear_half_widths(information, variances, counting));
  const auto has_tolerance = [](const Parameter& parameter) { return parameter.tolerance > 0.0; };
  if (std::ranges::any_of(mechanism.parameters, has_tolerance)) {
    const FixedValueEffects fixed_values =
        find_fixed_value_effects(problem, input, input.grid, variances);
    include_tolerances(table.free_parameters(), fixed_values.estimated,
                       fixed_values.tolerance_changes, uncertainty);
  }
  table.fill(uncertainty, estimate_without_priors(result.mechanism, information, variances),
             result);
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    continued.initial_states[input.segments[s].start] =
        problem.node_states(static_cast<int>(s)).col(0);
  }
  return continued;
}

}  // namespace estimator
