#include "estimator/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/calibrate/linear_calibration.hpp"
#include "estimator/calibrate/physical_calibration.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/fit/shadow/preparation.hpp"
#include "estimator/fit/shadow/simulation_problem.hpp"
#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

bool differs_in_friction(const Mechanism& a, const Mechanism& b) {
  for (int j = 0; j < a.joint_count(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (a.joints[at].spook.stick_speed == b.joints[at].spook.stick_speed) continue;
    for (const JointParameter quantity :
         {JointParameter::kCoulombTorque, JointParameter::kStribeckTorque,
          JointParameter::kLoadFriction, JointParameter::kLoadFrictionAngular}) {
      if (a.joint_parameter(j, quantity).value > 0.0) return true;
    }
  }
  return false;
}

/// Estimates parameters of a SPOOK simulator at a given time step (EstimateKind::kShadow): first
/// states and parameters jointly [Mar], then by a fit of the simulation. As `calibrate`.
class ShadowCalibration {
 public:
  ShadowCalibration(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                    const CalibrationOptions& options, const CalibrationMonitor& monitor)
      : options_(options),
        monitor_(monitor),
        book_(mechanism),
        input_(prepare_shadow_input(mechanism, recordings, options)) {
    result_.notes = std::move(input_.notes);
    result_.step = input_.step;
    estimate_physical_start(recordings);
    result_.mechanism = input_.mechanism;
    settings_ = make_trajectory_settings(input_, recordings, options);
    settings_.angle_noise = angle_noise_level(recordings);
    result_.state_error_weight = settings_.state_error_weight;
    move_initial_values_off_bounds(result_.mechanism, [&](const Mechanism& at) {
      return std::make_unique<TrajectoryProblem>(at, input_.data, settings_);
    });
    book_.fix_parameters_without_effect(
        TrajectoryProblem(result_.mechanism, input_.data, settings_), result_.mechanism,
        result_.notes);
    lm_options_.max_iterations = options.max_iterations;
  }

  Calibration run() {
    estimate_jointly();
    simulate();
    book_.fill(uncertainty_, {}, result_);
    return std::move(result_);
  }

 private:
  /// Starts from estimated physical parameters if possible, since the given initial values may be
  /// far off. Must run before anything is derived from the parameters.
  void estimate_physical_start(const std::vector<Recording>& recordings) {
    if (!options_.start_from_physical || !is_shooting_supported(input_.mechanism, recordings))
      return;
    CalibrationOptions options = options_;
    options.step = 0.0;
    const auto started_from_physical =
        estimate_physical_initial_values(input_.mechanism, recordings, options, monitor_);
    result_.started_from_physical = started_from_physical.has_value();
    if (started_from_physical) input_.mechanism = *started_from_physical;
  }

  LmSummary solve_stage(LeastSquaresProblem& problem, const FitStage& stage) {
    if (monitor_.on_stage) monitor_.on_stage(stage, result_.mechanism);
    return solve(problem, lm_options_, monitor_.on_iteration, monitor_.stop);
  }

  void estimate_jointly() {
    TrajectoryProblem problem(raise_stick_speeds(result_.mechanism, input_.data, result_.step),
                              input_.data, settings_);
    const LmSummary summary = solve_stage(problem, {EstimationStage::kJointEstimation});
    result_.termination = summary.termination;
    result_.iterations = summary.iterations;
    result_.history = summary.history;
    result_.cost = summary.cost;
    result_.mechanism.parameters = problem.mechanism().parameters;
    double squared = 0.0, count = 0.0;
    for (int s = 0; s < problem.segment_count(); ++s) {
      initial_states_.push_back(problem.state_after_first_step(s));
      const SegmentTrajectory trajectory = make_segment_trajectory(input_, problem, s);
      for (Eigen::Index i = 0; i < trajectory.measured.size(); ++i) {
        if (std::isnan(trajectory.measured(i))) continue;
        squared +=
            std::pow(wrap_angle_difference(trajectory.estimated(i) - trajectory.measured(i)), 2);
        count += 1.0;
      }
      result_.trajectories.push_back(trajectory);
    }
    result_.observation_rmse = std::sqrt(squared / count);
    const ParameterInformation information = compute_information(problem);
    uncertainty_ = compute_parameter_uncertainty(
        result_.mechanism, book_.free_parameters(), book_.estimated_parameters(), information,
        compute_noise_group_variances(information, settings_.angle_noise));
  }

  /// Simulates open loop from the estimated initial states. If this predicts the readings well
  /// enough, refines the parameters by a fit of the simulation.
  void simulate() {
    SimulationProblem problem(result_.mechanism, input_.data, initial_states_, settings_.step,
                              settings_.angle_noise);
    if (!options_.refine_simulation || result_.termination == Termination::kCancelled) {
      store_simulation(problem);
    } else if (!is_predictable(problem)) {
      result_.notes.push_back(
          {MessageCode::kUnpredictableSpookMotion, {{"limit", Quantity{kPredictableRmse, "rad"}}}});
      store_simulation(problem);
    } else {
      refine(problem);
    }
  }

  /// Fits the simulation with smoothed dry friction, then from this result with the actual
  /// friction, whose kinks cause many local optima. Keeps the better fit.
  void refine(SimulationProblem& sharp) {
    const Mechanism smoothed = raise_stick_speeds(result_.mechanism, input_.data, result_.step);
    SimulationProblem smooth(smoothed, input_.data, initial_states_, settings_.step,
                             settings_.angle_noise);
    const bool is_smoothed = differs_in_friction(smoothed, result_.mechanism);
    result_.refinement_termination =
        fit_simulation(smooth, is_smoothed ? SolveKind::kSmoothedFriction : SolveKind::kFirst);
    if (is_stop_requested(monitor_) || !is_smoothed) {
      store_fit(smooth);
      return;
    }
    std::vector<State> initial;
    for (int s = 0; s < static_cast<int>(input_.data.size()); ++s) {
      initial.push_back(smooth.initial_state(s));
    }
    Mechanism start = result_.mechanism;
    start.parameters = smooth.mechanism().parameters;
    sharp = SimulationProblem(start, input_.data, initial, settings_.step, settings_.angle_noise);
    const Termination termination = fit_simulation(sharp, SolveKind::kRigFriction);
    const bool is_better = sharp.cost() <= smooth.cost();
    if (is_better || is_stop_requested(monitor_)) result_.refinement_termination = termination;
    store_fit(is_better ? sharp : smooth);
  }

  static double sensor_rmse(const SimulationProblem& problem, int sensor) {
    return std::sqrt(problem.squared_error(sensor) / problem.observation_count(sensor));
  }

  static bool is_predictable(const SimulationProblem& problem) {
    for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
      if (!(sensor_rmse(problem, sensor) < kPredictableRmse)) return false;
    }
    return true;
  }

  Termination fit_simulation(SimulationProblem& problem, SolveKind kind) {
    const LmSummary summary = solve_stage(problem, {EstimationStage::kSimulationFit, kind});
    result_.refined = true;
    for (IterationRecord record : summary.history) {
      record.iteration += result_.refinement_iterations;
      record.solve = kind == SolveKind::kRigFriction ? 1 : 0;
      record.kind = kind;
      result_.refinement_history.push_back(std::move(record));
    }
    result_.refinement_iterations += summary.iterations;
    return summary.termination;
  }

  void store_fit(const SimulationProblem& problem) {
    result_.mechanism = problem.mechanism();
    store_simulation(problem);
    const ParameterInformation information = compute_information(problem);
    if (!information.valid) return;
    Eigen::VectorXd variances = compute_noise_group_variances(information, settings_.angle_noise);
    std::vector<std::vector<Eigen::VectorXd>> errors;
    for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
      errors.push_back(residuals_of(problem, sensor));
    }
    inflate_variances_for_autocorrelation(result_.mechanism, errors, variances, result_.notes);
    uncertainty_ =
        compute_parameter_uncertainty(result_.mechanism, book_.free_parameters(),
                                      book_.estimated_parameters(), information, variances);
  }

  void store_simulation(const SimulationProblem& problem) {
    const std::vector<Encoder> sensors = used_encoders(result_.mechanism);
    for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
      result_.simulation.push_back(
          {sensors[static_cast<std::size_t>(sensor)].name, sensor_rmse(problem, sensor)});
    }
    for (std::size_t s = 0; s < input_.data.size(); ++s) {
      result_.trajectories[s].simulated = problem.simulated_angles(static_cast<int>(s));
    }
  }

  std::vector<Eigen::VectorXd> residuals_of(const SimulationProblem& problem, int sensor) const {
    std::vector<Eigen::VectorXd> residuals;
    for (std::size_t s = 0; s < input_.data.size(); ++s) {
      const Eigen::MatrixXd& simulated = problem.simulated_angles(static_cast<int>(s));
      Eigen::VectorXd series(simulated.rows());
      for (Eigen::Index k = 0; k < series.size(); ++k) {
        series[k] = wrap_angle_difference(simulated(k, sensor) - input_.data[s].angles(k, sensor));
      }
      residuals.push_back(std::move(series));
    }
    return residuals;
  }

  CalibrationOptions options_;
  CalibrationMonitor monitor_;
  LmOptions lm_options_;
  EstimateTable book_;
  ShadowInput input_;
  TrajectorySettings settings_;
  std::vector<State> initial_states_;
  ParameterUncertainty uncertainty_;
  Calibration result_;
};

/// Returns the first changed option that only a SPOOK simulator has, or the end of kOptionRows.
const OptionRow* find_simulator_option(const CalibrationOptions& options) {
  return std::ranges::find_if(kOptionRows, [&](const OptionRow& row) {
    return row.group == OptionGroup::kSimulator && !has_default_value(row, options);
  });
}

}  // namespace

EstimateKind select_estimate_kind(const Mechanism& mechanism, const CalibrationOptions& options) {
  const OptionRow* const row = find_simulator_option(options);
  const bool simulator = row != std::end(kOptionRows);
  if (options.linear && (simulator || options.kind == EstimateKind::kShadow)) {
    throw std::invalid_argument(
        "the option linear applies to physical parameters only; omit it, or the options of a "
        "SPOOK simulator");
  }
  if (options.linear) return EstimateKind::kPhysical;
  if (!options.kind) {
    return simulator || has_load_friction_in_loop(mechanism) ? EstimateKind::kShadow
                                                             : EstimateKind::kPhysical;
  }
  if (*options.kind == EstimateKind::kPhysical && simulator) {
    throw std::invalid_argument("the option " + std::string(row->name) +
                                " applies to shadow parameters (of a SPOOK simulator) only; "
                                "request shadow parameters, or omit the option");
  }
  return *options.kind;
}

Calibration calibrate(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                      const CalibrationOptions& options, const CalibrationMonitor& monitor) {
  const std::vector<Recording> used = split_held_out_sensors(mechanism, recordings);
  const EstimateKind kind = select_estimate_kind(mechanism, options);
  Calibration result = kind == EstimateKind::kShadow
                           ? ShadowCalibration(mechanism, used, options, monitor).run()
                       : options.linear ? calibrate_linear(mechanism, used, options, monitor)
                                        : calibrate_physical(mechanism, used, options, monitor);
  if (!options.kind && has_load_friction_in_loop(mechanism)) {
    result.notes.insert(result.notes.begin(),
                        Message(MessageCode::kLoadedLoop, {{"step", Quantity{result.step, "s"}}}));
  }
  result.verdict = judge_model(result);
  return result;
}

}  // namespace estimator
