#include "estimator/calibrate/cross_validation.hpp"

#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/calibrate/physical_calibration.hpp"
#include "estimator/calibrate/validation.hpp"
#include "estimator/fit/shadow/preparation.hpp"
#include "estimator/fit/shadow/simulation_problem.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {
namespace {

/// The sum and number of squared reading errors of estimated states, without missing readings.
struct SquaredError {
  double sum = 0.0;
  double count = 0.0;

  /// Adds the errors of estimated states; errors of sliding joints are divided by
  /// JointUnits::scale.
  void add(const SegmentTrajectory& trajectory, const std::vector<JointKind>& kinds) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto sensor = static_cast<Eigen::Index>(i);
      for (Eigen::Index k = 0; k < trajectory.measured.rows(); ++k) {
        const double error = trajectory.estimated(k, sensor) - trajectory.measured(k, sensor);
        if (std::isnan(trajectory.measured(k, sensor))) continue;
        sum +=
            std::pow(joint_coordinate_difference(kinds[i], error) / joint_units(kinds[i]).scale, 2);
        count += 1.0;
      }
    }
  }
  double rmse() const {
    return count > 0.0 ? std::sqrt(sum / count) : std::numeric_limits<double>::quiet_NaN();
  }
};

/// Returns the root-mean-square error of the estimated states of one recording.
double observation_rmse(const std::vector<SegmentTrajectory>& trajectories,
                        const std::vector<JointKind>& kinds, const std::string& recording) {
  SquaredError error;
  for (const SegmentTrajectory& trajectory : trajectories) {
    if (trajectory.recording == recording) error.add(trajectory, kinds);
  }
  return error.rmse();
}

double simulation_rmse(const std::vector<SegmentTrajectory>& trajectories, JointKind kind,
                       const std::string& recording, Eigen::Index sensor) {
  PredictionError error;
  for (const SegmentTrajectory& trajectory : trajectories) {
    if (trajectory.recording != recording) continue;
    error.add(compute_prediction_error(trajectory, sensor, kind));
  }
  return error.rmse();
}

/// Estimates the states of all segments, and returns the state of each segment at node 1.
std::vector<State> estimate_states(TrajectoryProblem& problem, const ShadowInput& preparation,
                                   const LmOptions& lm_options, const CalibrationMonitor& monitor,
                                   ParameterEvaluation& evaluation) {
  const LmSummary summary = solve(problem, lm_options, monitor.on_iteration, monitor.stop);
  evaluation.cost = summary.cost;
  evaluation.termination = summary.termination;
  evaluation.iterations = summary.iterations;
  std::vector<State> initial;
  SquaredError error;
  for (int segment = 0; segment < problem.segment_count(); ++segment) {
    initial.push_back(problem.state_after_first_step(segment));
    evaluation.trajectories.push_back(make_segment_trajectory(preparation, problem, segment));
    error.add(evaluation.trajectories.back(), encoder_joint_kinds(preparation.mechanism));
  }
  evaluation.observation_rmse = error.rmse();
  return initial;
}

void fill_matrices(const CrossValidationFold& fold, Eigen::Index row, CrossValidation& result) {
  for (std::size_t p = 0; p < result.parts.size(); ++p) {
    const auto column = static_cast<Eigen::Index>(p);
    const std::vector<SegmentTrajectory>& trajectories =
        column == row ? fold.evaluation.trajectories : fold.calibration.trajectories;
    result.observation(row, column) = observation_rmse(trajectories, result.kinds, result.parts[p]);
    for (std::size_t j = 0; j < result.joints.size(); ++j) {
      result.simulation[j](row, column) = simulation_rmse(
          trajectories, result.kinds[j], result.parts[p], static_cast<Eigen::Index>(j));
    }
  }
}

ParameterEvaluation evaluate_prepared(const ShadowInput& preparation,
                                      const TrajectorySettings& settings,
                                      const CalibrationOptions& options,
                                      const CalibrationMonitor& monitor) {
  const LmOptions lm_options{.max_iterations = options.max_iterations};
  ParameterEvaluation evaluation;
  if (monitor.on_stage)
    monitor.on_stage({EstimationStage::kStateEstimation}, preparation.mechanism);
  TrajectoryProblem states(preparation.mechanism, preparation.data, settings);
  const std::vector<State> initial =
      estimate_states(states, preparation, lm_options, monitor, evaluation);

  if (monitor.on_stage) monitor.on_stage({EstimationStage::kInitialStates}, preparation.mechanism);
  SimulationProblem simulation(preparation.mechanism, preparation.data, initial, settings.step);
  const LmSummary summary = solve(simulation, lm_options, monitor.on_iteration, monitor.stop);
  evaluation.simulation_termination = summary.termination;
  evaluation.simulation_iterations = summary.iterations;
  const std::vector<Encoder> sensors = used_encoders(preparation.mechanism);
  for (int sensor = 0; sensor < simulation.encoder_count(); ++sensor) {
    evaluation.simulation.push_back(
        {sensors[static_cast<std::size_t>(sensor)].name,
         std::sqrt(simulation.squared_error(sensor) / simulation.observation_count(sensor))});
  }
  for (std::size_t s = 0; s < preparation.data.size(); ++s) {
    evaluation.trajectories[s].simulated = simulation.simulated_angles(static_cast<int>(s));
  }
  return evaluation;
}

/// Evaluates a shadow calibration. The input is checked with `rig`, since an estimate with
/// inconsistent inertia (see the calibration's notes) may still predict well.
ParameterEvaluation evaluate_shadow(const Mechanism& rig, const Calibration& calibration,
                                    const std::vector<Recording>& recordings,
                                    CalibrationOptions options, const CalibrationMonitor& monitor) {
  options.state_error_weight = calibration.state_error_weight;
  ShadowInput preparation = prepare_shadow_input(rig, recordings, options);
  preparation.mechanism = fix_parameters(calibration.mechanism);
  return evaluate_prepared(preparation, make_trajectory_settings(preparation, recordings, options),
                           options, monitor);
}

/// Calibrates without the part `held_out`, and evaluates it with the same step and weight.
CrossValidationFold run_fold(const Mechanism& mechanism, const std::vector<Recording>& parts,
                             std::size_t held_out, const CalibrationOptions& options,
                             const CalibrationMonitor& monitor) {
  std::vector<Recording> others;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != held_out) others.push_back(parts[i]);
  }
  CrossValidationFold fold;
  try {
    fold.calibration = calibrate(mechanism, others, options, monitor);
    fold.evaluation =
        evaluate_calibration(mechanism, fold.calibration, {parts[held_out]}, options, monitor);
    for (const Message& note : fold.evaluation.notes) {
      fold.calibration.notes.push_back(add_recording_name(parts[held_out].name, note));
    }
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument("holding out " + parts[held_out].name + ": " + fault.what());
  }
  return fold;
}

}  // namespace

ParameterEvaluation evaluate_parameters(const Mechanism& mechanism,
                                        const std::vector<Recording>& given,
                                        const CalibrationOptions& options,
                                        const CalibrationMonitor& monitor) {
  const std::vector<Recording> recordings = split_held_out_sensors(mechanism, given);
  if (select_estimate_kind(mechanism, options) == EstimateKind::kPhysical) {
    return evaluate_physical_parameters(mechanism, fix_parameters(mechanism), recordings, options,
                                        monitor);
  }
  ShadowInput preparation = prepare_shadow_input(mechanism, recordings, options);
  preparation.mechanism = fix_parameters(preparation.mechanism);
  return evaluate_prepared(preparation, make_trajectory_settings(preparation, recordings, options),
                           options, monitor);
}

ParameterEvaluation evaluate_calibration(const Mechanism& rig, const Calibration& calibration,
                                         const std::vector<Recording>& recordings,
                                         CalibrationOptions options,
                                         const CalibrationMonitor& monitor) {
  options.step = calibration.step;
  return calibration.kind == EstimateKind::kPhysical
             ? evaluate_physical_parameters(rig, fix_parameters(calibration.mechanism), recordings,
                                            options, monitor)
             : evaluate_shadow(rig, calibration, recordings, options, monitor);
}

std::vector<ParameterSpread> compute_parameter_spreads(
    const std::vector<CrossValidationFold>& folds) {
  std::vector<ParameterSpread> spreads;
  const std::size_t count = folds.empty() ? 0 : folds.front().calibration.parameters.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ParameterEstimate& first = folds.front().calibration.parameters[i];
    ParameterSpread spread{first.name, first.unit, 0.0, 0.0, 0.0, {}};
    std::vector<double> values;
    for (int f = 0; f < std::ssize(folds); ++f) {
      const ParameterEstimate& each = folds[static_cast<std::size_t>(f)].calibration.parameters[i];
      if (std::isinf(each.standard_deviation)) {
        spread.unidentified.push_back(f);
        continue;
      }
      values.push_back(each.value);
      spread.reported_standard_deviation += each.standard_deviation;
    }
    const auto n = static_cast<double>(values.size());
    spread.reported_standard_deviation /= n;  // NaN if no fold identifies the parameter
    spread.mean = values.empty() ? first.value : std::reduce(values.begin(), values.end()) / n;
    double squares = 0.0;
    for (const double value : values) squares += std::pow(value - spread.mean, 2);
    spread.standard_deviation = spread.unidentified.empty()
                                    ? std::sqrt((n - 1.0) / n * squares)
                                    : std::numeric_limits<double>::quiet_NaN();
    spreads.push_back(std::move(spread));
  }
  return spreads;
}

CrossValidation cross_validate(const Mechanism& mechanism, const std::vector<Recording>& given,
                               const CalibrationOptions& options, const CalibrationMonitor& monitor,
                               const std::function<void(int)>& on_fold) {
  if (given.size() < 2) {
    throw std::invalid_argument(
        "cross-validation needs at least two recordings, or parts of a recording");
  }
  const std::vector<Recording> parts = split_held_out_sensors(mechanism, given);
  CrossValidation result;
  for (const Recording& part : parts) result.parts.push_back(part.name);
  for (const Encoder& sensor : used_encoders(mechanism)) result.joints.push_back(sensor.name);
  result.kinds = encoder_joint_kinds(mechanism);
  const auto n = static_cast<Eigen::Index>(parts.size());
  result.observation.setConstant(n, n, std::numeric_limits<double>::quiet_NaN());
  result.simulation.assign(result.joints.size(), result.observation);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (on_fold) on_fold(static_cast<int>(i));
    CrossValidationFold fold = run_fold(mechanism, parts, i, options, monitor);
    if (is_stop_requested(monitor)) {
      result.stopped = true;
      break;
    }
    fill_matrices(fold, static_cast<Eigen::Index>(i), result);
    result.folds.push_back(std::move(fold));
  }
  result.parameters = compute_parameter_spreads(result.folds);
  return result;
}

}  // namespace estimator
