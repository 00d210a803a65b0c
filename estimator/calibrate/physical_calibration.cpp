#include "estimator/calibrate/physical_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "estimator/assessment/identifiability/combinations.hpp"
#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/identifiability/inertia_results.hpp"
#include "estimator/assessment/intervals/confidence_intervals.hpp"
#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/assessment/intervals/parameter_profile.hpp"
#include "estimator/assessment/model_test/part_comparison.hpp"
#include "estimator/assessment/model_test/predictions.hpp"
#include "estimator/assessment/model_test/score_tests.hpp"
#include "estimator/assessment/quantization.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/calibrate/simulation_uncertainty.hpp"
#include "estimator/fit/inertia_parameterized_problem.hpp"
#include "estimator/fit/physical/inverse_dynamics_start.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {
namespace {

std::vector<InertialAxisError> inertial_prediction_errors(const ShootingProblem& problem,
                                                          const ShootingNoise& noise) {
  std::vector<InertialAxisError> errors;
  for (int place = 0; place < std::ssize(problem.inertial_axes()); ++place) {
    const int axis = problem.inertial_axes()[static_cast<std::size_t>(place)];
    const int readings = problem.inertial_reading_count(place);
    errors.push_back({sensor_axis_name(problem.mechanism(), axis),
                      sensor_axis_unit(problem.mechanism(), axis),
                      std::sqrt(problem.inertial_squared_error(place) / std::max(readings, 1)),
                      noise.inertial[axis], readings});
  }
  return errors;
}

/// Returns the root-mean-square error over all sensors [rad]; sliding joints are scaled by
/// JointUnits::scale.
double reading_rmse(const ShootingProblem& problem) {
  double squares = 0.0, count = 0.0;
  const Eigen::VectorXd scales = readings_per_radian(problem.mechanism());
  for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
    squares += problem.squared_error(sensor) / std::pow(scales[sensor], 2);
    count += problem.reading_count(sensor);
  }
  return std::sqrt(squares / count);
}

void note_process_noise(const ShootingFit& fit, std::vector<Message>& notes) {
  const ShootingProblem& problem = fit.joint_problem();
  for (int p = 0; p < problem.coordinate_count(); ++p) {
    if (!fit.is_process_noise_significant(p)) continue;
    const Joint& joint = problem.mechanism().joints[problem.independent_joints()[p]];
    const Quantity noise{problem.noise().acceleration[p], joint.units().noise};
    notes.push_back({MessageCode::kProcessNoise, {{"joint", joint.name}, {"noise", noise}}});
  }
}

void append(const std::vector<Message>& more, std::vector<Message>& notes) {
  notes.insert(notes.end(), more.begin(), more.end());
}

void note_unresolved_steps(const ShootingProblem& problem, std::vector<Message>& notes) {
  if (problem.unresolved_step_count() == 0) return;
  notes.push_back(
      {MessageCode::kUnresolvedSteps,
       {{"count", problem.unresolved_step_count()}, {"steps", problem.integration_step_count()}}});
}

void store_joint_estimates(const ShootingFit& fit, Calibration& result) {
  const ShootingHistory& history = fit.joint_estimation_history();
  result.termination = history.termination;
  result.iterations = history.iterations;
  result.history = history.records;
  result.cost = history.cost;
  const ShootingProblem& problem = fit.joint_problem();
  result.mechanism = problem.mechanism();
  result.observation_rmse = reading_rmse(problem);
  result.angle_noise = problem.noise().angle;
  result.acceleration_noise.setZero(result.mechanism.joint_count());
  for (int p = 0; p < problem.coordinate_count(); ++p) {
    if (!fit.is_process_noise_significant(p)) continue;
    result.acceleration_noise[problem.independent_joints()[p]] = problem.noise().acceleration[p];
  }
}

void store_simulation_fit(const ShootingFit& fit, Calibration& result) {
  result.mechanism = fit.simulation_problem().mechanism();
  result.refinement_termination = fit.simulation_history().termination;
  result.refinement_iterations = fit.simulation_history().iterations;
  result.refinement_history = fit.simulation_history().records;
}

std::vector<NullDirection> null_directions_at(const ShootingProblem& problem,
                                              const Mechanism& mechanism,
                                              const EstimateTable& book) {
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  const Eigen::VectorXd unit = Eigen::VectorXd::Ones(problem.noise_group_count());
  return compute_parameter_uncertainty(mechanism, book.free_parameters(),
                                       book.estimated_parameters(), information, unit)
      .null_directions;
}

}  // namespace

Calibration calibrate_physical(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                               const CalibrationOptions& options,
                               const CalibrationMonitor& monitor) {
  EstimateTable book(mechanism);
  Calibration result;
  result.kind = EstimateKind::kPhysical;
  result.mechanism = mechanism;
  const std::unique_ptr<ShootingFit> begun =
      begin_shooting_fit(recordings, options, monitor, {}, result.mechanism);
  ShootingFit& fit = *begun;
  const Mechanism filtered_at = result.mechanism;
  result.notes = fit.input().notes;
  move_initial_values_off_bounds(
      result.mechanism, [&](const Mechanism& at) { return fit.make_second_stage_problem(at); });
  const bool charted = options.inertia_parameterization != InertiaParameterization::kEntries;
  if (charted) move_off_feasibility_boundary(result.mechanism);
  require_consistent_initial_inertias(result.mechanism);
  book.fix_parameters_without_effect(*fit.make_second_stage_problem(result.mechanism),
                                     result.mechanism, result.notes);
  if (charted) {
    append(describe_unparameterized_inertias(result.mechanism), result.notes);
  }
  result.initial_null_directions =
      null_directions_at(*fit.make_second_stage_problem(result.mechanism), result.mechanism, book);

  fit.estimate_jointly(result.mechanism);
  result.step = fit.input().grid.step;
  store_joint_estimates(fit, result);
  ParameterInformation information = compute_information(fit.joint_problem());
  Eigen::VectorXd variances = compute_noise_group_variances(information, 1.0);
  note_process_noise(fit, result.notes);
  Eigen::MatrixXd reading_information;  // without priors, which are the last noise group
  if (information.valid) reading_information = information.schur - information.group_schur.back();
  append(describe_sensor_ambiguities(result.mechanism, book.free_parameters(),
                                     book.estimated_parameters(), reading_information),
         result.notes);

  QuantizationErrors counting;
  std::vector<ParameterProfile> profiles;
  ShootingGrid grid = fit.input().grid;
  const auto profile = [&](const ShootingProblem& problem) {
    profiles.clear();
    if (!information.valid || !result.converged()) return;
    const Eigen::VectorXd half = compute_linear_half_widths(information, variances, counting);
    profiles = profile_parameters(problem, fit.input().segments, grid, information, variances, half,
                                  fit.input().max_speed, options, monitor);
  };
  result.refined = fit.fit_simulation();
  if (result.refined) {
    grid.interval = std::numeric_limits<double>::infinity();
    std::vector<Message> notes;
    for (bool is_best = false; !is_best;) {
      notes.clear();
      store_simulation_fit(fit, result);
      information = compute_information(fit.simulation_problem());
      variances = compute_noise_group_variances(information, 1.0);
      counting = account_for_correlation(fit.simulation_problem(), fit.input().segments,
                                         information, variances, notes);
      profile(fit.simulation_problem());
      const std::optional<Mechanism> better = find_better_optimum(profiles);
      is_best = !better || !fit.restart_simulation_fit_from(*better);
    }
    append(notes, result.notes);
  } else if (fit.has_diverged()) {
    result.notes.emplace_back(MessageCode::kSimulationDiverged);
  } else if (!fit.is_predictable() && std::isinf(fit.simulation_horizon())) {
    result.notes.emplace_back(MessageCode::kUnpredictableMotion);
  }
  const auto note_cancellation = [&] {
    if (!fit.is_cancelled()) return;
    (result.refined ? result.refinement_termination : result.termination) = Termination::kCancelled;
  };
  note_cancellation();
  if (!information.valid) {
    result.notes.emplace_back(MessageCode::kUnidentifiableStates);
  }
  for (std::size_t j = 0; j < mechanism.joints.size(); ++j) {
    result.mechanism.joints[j].stops = mechanism.joints[j].stops;
  }
  const ShootingProblem& reached = result.refined ? fit.simulation_problem() : fit.joint_problem();
  note_unresolved_steps(reached, result.notes);
  result.simulation = measure_simulation_errors(fit.simulation_problem());
  result.simulation_horizon = fit.simulation_horizon();
  if (fit.input().noise.control.size() > 0) {
    result.torque_predictions = predict_torques(filtered_at, fit, options);
    if (is_converged(result.termination)) result.motion_predictions = predict_motions(fit);
  }
  result.inertial = inertial_prediction_errors(reached, fit.joint_problem().noise());
  result.trajectories = fit.trajectories();
  if (!result.refined) profile(reached);
  result.held_out = assess_held_out_sensors(reached, fit.input(), book, grid);
  for (const HeldOutSensor& sensor : result.held_out)
    result.notes.push_back(describe_held_out_sensor(sensor));
  result.cross_axes = find_missing_cross_axes(reached, fit.input(), grid);
  for (const CrossAxisSensitivity& each : result.cross_axes) {
    result.notes.push_back(make_cross_axis_note(each));
  }
  FixedValueEffects fixed_values;
  if (information.valid && result.converged()) {
    result.contradictions =
        find_contradicted_parameters(reached, fit.input(), grid, counting.sensors, variances);
    fixed_values = find_fixed_value_effects(reached, fit.input(), grid, variances);
    result.fixed_value_effects = fixed_values.largest;
  }
  if (!result.contradictions.empty()) {
    result.notes.push_back(make_contradiction_note(result.contradictions));
  }
  std::vector<BodyAtFeasibilityBoundary> borders;
  if (charted) {
    borders = fix_inertias_at_feasibility_boundary(result.mechanism, book.estimated_parameters(),
                                                   variances, information);
  }
  for (const BodyAtFeasibilityBoundary& border : borders) result.notes.push_back(border.note);
  Eigen::VectorXd half;
  if (information.valid) {
    half = compute_linear_half_widths(information, variances, counting);
    append(widen_intervals_by_profiles(profiles, result.mechanism, information, half),
           result.notes);
    note_cancellation();
  }
  ParameterUncertainty uncertainty =
      compute_parameter_uncertainty(result.mechanism, book.free_parameters(),
                                    book.estimated_parameters(), information, variances, half);
  if (options.compare_parts && result.converged()) {
    if (const auto parts = compare_recording_parts(fit, result.refined, monitor)) {
      inflate_uncertainty_for_scatter(*parts, book.free_parameters(), uncertainty);
      result.agreement = parts->comparison.agreement;
      result.parts = list_estimates_by_part(*parts, book.free_parameters());
    }
    note_cancellation();
  }
  include_tolerances(book.free_parameters(), fixed_values.estimated, fixed_values.tolerance_changes,
                     uncertainty);
  book.fill(uncertainty, estimate_without_priors(result.mechanism, information, variances), result);
  result.combinations = find_precise_combinations(result.parameters, uncertainty);
  result.base = estimate_base_parameters(result.mechanism, book.free_parameters(), uncertainty);
  result.principal =
      compute_principal_inertias(result.mechanism, book.free_parameters(), uncertainty, borders);
  result.conflicts = find_prior_conflicts(result.mechanism, information, variances);
  append(describe_inconsistent_inertias(result.mechanism, book.estimated_parameters(), information),
         result.notes);
  std::vector<int> profiled;
  for (const ParameterProfile& each : profiles) profiled.push_back(each.position);
  append(describe_parameters_at_bounds(result.mechanism, book.estimated_parameters(), information,
                                       variances, profiled),
         result.notes);
  return result;
}

std::optional<Mechanism> estimate_physical_initial_values(const Mechanism& mechanism,
                                                          const std::vector<Recording>& recordings,
                                                          const CalibrationOptions& options,
                                                          const CalibrationMonitor& monitor) {
  Mechanism start = mechanism;
  const std::unique_ptr<ShootingFit> begun = begin_shooting_fit(
      recordings, options, monitor, {.joint = EstimationStage::kInitialValues}, start);
  ShootingFit& fit = *begun;
  const auto problem_at = [&](const Mechanism& at) { return fit.make_second_stage_problem(at); };
  move_initial_values_off_bounds(start, problem_at);
  for (const int index : find_parameters_without_effect(*problem_at(start), start)) {
    start.at(index).free = false;
  }
  fit.estimate_jointly(start);
  if (!is_converged(fit.joint_estimation_history().termination)) return std::nullopt;
  Mechanism started_from_physical = mechanism;
  copy_parameter_values(fit.joint_problem().mechanism(), started_from_physical);
  return started_from_physical;
}

ParameterEvaluation evaluate_physical_parameters(const Mechanism& rig, const Mechanism& estimate,
                                                 const std::vector<Recording>& recordings,
                                                 const CalibrationOptions& options,
                                                 const CalibrationMonitor& monitor) {
  ShootingFit fit(prepare_shooting_input(rig, recordings, options), options, monitor,
                  {EstimationStage::kStateEstimation, EstimationStage::kInitialStates});
  fit.shorten_node_intervals(estimate);
  fit.estimate_jointly(estimate);
  ParameterEvaluation evaluation;
  evaluation.cost = fit.joint_estimation_history().cost;
  evaluation.termination = fit.joint_estimation_history().termination;
  evaluation.iterations = fit.joint_estimation_history().iterations;
  evaluation.observation_rmse = reading_rmse(fit.joint_problem());
  fit.fit_simulation();
  if (fit.is_cancelled()) evaluation.termination = Termination::kCancelled;
  note_unresolved_steps(fit.simulation_problem(), evaluation.notes);
  evaluation.simulation = measure_simulation_errors(fit.simulation_problem());
  evaluation.simulation_horizon = fit.simulation_horizon();
  evaluation.simulation_termination = fit.simulation_history().termination;
  evaluation.simulation_iterations = fit.simulation_history().iterations;
  evaluation.trajectories = fit.trajectories();
  return evaluation;
}

}  // namespace estimator
