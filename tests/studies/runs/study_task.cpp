#include "tests/studies/runs/study_task.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/signal/step_grid.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/work/fingerprint.hpp"

namespace service {
namespace {

using estimator::SegmentTrajectory;

/// Default time step for estimating the work of a task [s].
constexpr double kStep = 0.004;

struct CalibrationTask {
  RunLabels place;
  std::shared_ptr<const StudyData> data;
  estimator::Mechanism mechanism;  ///< mechanism with initial values
  estimator::CalibrationOptions options;
  bool states_only = false;  ///< true if parameters are fixed
  bool keep_trajectories = false;
};

template <typename Value>
void add(Fingerprint& key, const Value& value) {
  if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>) {
    key.add(static_cast<std::uint64_t>(value));
  } else {
    key.add(value);
  }
}

template <typename Value>
void add(Fingerprint& key, const std::optional<Value>& value) {
  add(key, value.has_value());
  if (value) add(key, *value);
}

void add(Fingerprint& key, const Eigen::Matrix3d& matrix) { key.add(Eigen::MatrixXd(matrix)); }

// Each of these names every member: a new member does not compile until it is named here and added
// to the key. Members that do not affect a result are named and left out.

void add(Fingerprint& key, const estimator::Parameter& parameter) {
  const auto& [name, unit, value, lower, upper, free, prior_mean, prior_sd, tolerance] = parameter;
  const auto add_all = [&key](const auto&... members) { (add(key, members), ...); };
  add_all(name, unit, value, lower, upper, free, prior_mean, prior_sd, tolerance);
}

void add(Fingerprint& key, const estimator::Body& body) {
  const auto& [name, massless, cad_uncertainty, present_in_recordings] = body;
  add(key, name);
  add(key, massless);
  add(key, cad_uncertainty);
  for (const std::string& recording : present_in_recordings) add(key, recording);
}

void add(Fingerprint& key, const estimator::Joint& joint) {
  const auto& [name, kind, type, place, body_a, body_b, frame_a, frame_b, transition_speed,
               assembly_guess, measured, motor, stops, initial, spook] = joint;
  const auto& [compliance_linear, compliance_angular, damping_time, stick_speed] = spook;
  const auto& [motorised, gear_ratio, cogging_order, control_noise, is_prescribed] = motor;
  const auto& [stops_lower, stops_upper] = stops;
  const auto& [start_angle, start_rate] = initial;
  const auto add_all = [&key](const auto&... members) { (add(key, members), ...); };
  add_all(name, kind, static_cast<int>(type), place, body_a, body_b, frame_a, frame_b,
          compliance_linear, compliance_angular, damping_time, stick_speed, transition_speed,
          assembly_guess, measured, motorised, gear_ratio, cogging_order, control_noise,
          is_prescribed, stops_lower, stops_upper);
  for (const estimator::GaussianPrior& start : {start_angle, start_rate}) {
    add(key, start.mean);
    add(key, start.standard_deviation);
  }
}

void add(Fingerprint& key, const estimator::FixedJoint& weld) {
  const auto& [name, body_a, body_b, frame_a, frame_b] = weld;
  const auto add_all = [&key](const auto&... members) { (add(key, members), ...); };
  add_all(name, body_a, body_b, frame_a, frame_b);
}

void add(Fingerprint& key, const estimator::Mechanism& mechanism) {
  const auto& [name, bodies, joints, welds, couplings, body_encoders, sensors, contacts, parameters,
               ties, withheld] = mechanism;
  add(key, name);
  for (const estimator::Body& body : bodies) add(key, body);
  for (const estimator::Joint& joint : joints) add(key, joint);
  for (const estimator::FixedJoint& weld : welds) add(key, weld);
  for (const estimator::MimicJoint& coupling : couplings) {
    add(key, coupling.joint);
    add(key, coupling.follows);
    add(key, coupling.ratio);
    add(key, coupling.offset);
  }
  for (const estimator::BodyEncoder& encoder : body_encoders) {
    add(key, encoder.name);
    add(key, encoder.body_a);
    add(key, encoder.body_b);
  }
  for (const estimator::Sensor& sensor : sensors) {
    add(key, sensor.name);
    add(key, sensor.body);
    add(key, sensor.frame);
    add(key, static_cast<int>(sensor.kind));
    add(key, sensor.joint);
  }
  for (const estimator::GroundContact& contact : contacts) {
    add(key, contact.name);
    add(key, contact.body);
    add(key, static_cast<int>(contact.kind));
  }
  for (const std::string& sensor : withheld) add(key, sensor);
  for (const estimator::Parameter& parameter : parameters) add(key, parameter);
  for (const estimator::ParameterDependency& tie : ties) {
    add(key, tie.parameter);
    add(key, tie.constant);
    for (const estimator::DependencyTerm& term : tie.terms) {
      add(key, term.parameter);
      add(key, term.factor);
    }
  }
}

void add(Fingerprint& key, const estimator::CalibrationOptions& options) {
  for (const auto& row : estimator::kOptionRows) key.add(format_option(row, options));
}

std::string key_of(const CalibrationTask& task) {
  // The place identifies a run in the study's tables; all else affects the result.
  const auto& [place, data, mechanism, options, states_only, keep_trajectories] = task;
  Fingerprint key;
  key.add(RIGCAL_VERSION).add(data->fingerprint);
  add(key, mechanism);
  add(key, options);
  add(key, states_only);
  add(key, keep_trajectories);
  return key.hex();
}

/// Returns the time step rounded to the nearest integer multiple, or fraction, of the sampling
/// period. Clock errors of some ppm make a period inexact, so 10 ms is not exactly ten periods.
/// Steps with larger differences are unchanged; the estimator rejects them.
double round_step(double step, const StudyData& data) {
  constexpr double kClockTolerance = 1e-3;
  for (const estimator::Segment& segment : data.recordings.front().segments) {
    return estimator::nearest_compatible_step(step, segment.period, kClockTolerance);
  }
  return step;
}

bool is_physical(const CalibrationTask& task) {
  return task.options.kind == estimator::EstimateKind::kPhysical;
}

int node_count(const std::vector<SegmentTrajectory>& trajectories) {
  Eigen::Index nodes = 0;
  for (const SegmentTrajectory& trajectory : trajectories) nodes += trajectory.measured.rows();
  return static_cast<int>(nodes);
}

int observation_count(const std::vector<SegmentTrajectory>& trajectories) {
  Eigen::Index count = 0;
  for (const SegmentTrajectory& trajectory : trajectories) {
    count += (trajectory.measured.array() == trajectory.measured.array()).count();
  }
  return static_cast<int>(count);
}

/// Splits the cost of a run into observation error and state error, each divided by the number of
/// time steps. The cost of physical parameters is whitened, so only their observation error is
/// comparable.
void fill_errors(double observation_rmse, const std::vector<SegmentTrajectory>& trajectories,
                 bool physical, StudyRun& run) {
  run.nodes = node_count(trajectories);
  const double squares = observation_rmse * observation_rmse * observation_count(trajectories);
  run.observation_error = squares / run.nodes;
  if (physical) {
    run.cost = squares;
    return;
  }
  run.state_error = (run.cost - squares) / run.place.state_error_weight / run.nodes;
}

void fill_joints(const std::vector<estimator::OpenLoopError>& errors,
                 const std::vector<SegmentTrajectory>& trajectories, bool keep_trajectories,
                 StudyRun& run) {
  for (std::size_t j = 0; j < errors.size(); ++j) {
    RunJoint joint;
    joint.name = errors[j].joint;
    joint.kind = errors[j].kind;
    joint.rmse = errors[j].rmse;
    if (keep_trajectories) {
      const auto column = static_cast<Eigen::Index>(j);
      const auto measured = trajectories.front().measured.col(column);
      const auto simulated = trajectories.front().simulated.col(column);
      joint.measured.assign(measured.begin(), measured.end());
      joint.simulated.assign(simulated.begin(), simulated.end());
    }
    run.joints.push_back(std::move(joint));
  }
  if (!keep_trajectories) return;
  run.start = trajectories.front().start;
  run.spacing = trajectories.front().step;
  if (trajectories.front().control.cols() == 0) return;
  const auto control = trajectories.front().control.col(0);
  run.control.assign(control.begin(), control.end());
}

/// Stores the iteration history of a calibration in a run. The history contains only varied
/// parameters, because parameters without effect were fixed.
void fill_history(const estimator::Calibration& calibration, StudyRun& run) {
  for (const estimator::IterationRecord& record : calibration.history) {
    RunIteration& iteration = run.history.emplace_back();
    iteration.iteration = record.iteration;
    iteration.cost = record.cost;
    Eigen::Index at = 0;
    for (const estimator::ParameterEstimate& estimate : calibration.parameters) {
      const auto index =
          static_cast<std::size_t>(calibration.mechanism.find_parameter(estimate.name));
      const bool varied = calibration.mechanism.parameters[index].free;
      iteration.values.push_back(varied ? record.parameters[at++] : estimate.value);
    }
  }
}

void fill(const estimator::Calibration& calibration, const CalibrationTask& task, StudyRun& run) {
  run.termination =
      to_string(calibration.refined ? calibration.refinement_termination : calibration.termination);
  // Refers to the solver only, not to the model's fit: a study varies incomplete models.
  run.converged = is_converged(calibration.refined ? calibration.refinement_termination
                                                   : calibration.termination);
  run.iterations = calibration.iterations;
  run.cost = calibration.cost;
  for (const estimator::ParameterEstimate& p : calibration.parameters) {
    run.parameters.push_back(
        {p.name, p.unit, p.value, p.standard_deviation, p.initial, p.at_bound});
  }
  for (const estimator::ParameterCombination& base : calibration.base) {
    run.base.push_back({base.description, base.unit, base.value, base.standard_deviation});
  }
  fill_history(calibration, run);
  fill_errors(calibration.observation_rmse, calibration.trajectories, is_physical(task), run);
  fill_joints(calibration.simulation, calibration.trajectories, task.keep_trajectories, run);
}

void fill(const estimator::ParameterEvaluation& evaluation, const CalibrationTask& task,
          StudyRun& run) {
  run.termination = to_string(evaluation.termination);
  run.converged = is_converged(evaluation.termination);
  run.iterations = evaluation.iterations;
  run.cost = evaluation.cost;
  fill_errors(evaluation.observation_rmse, evaluation.trajectories, is_physical(task), run);
  fill_joints(evaluation.simulation, evaluation.trajectories, task.keep_trajectories, run);
}

void compute(const CalibrationTask& task, StudyRun& run, const std::atomic<bool>* stop) {
  estimator::CalibrationMonitor monitor;
  monitor.stop = stop;
  const std::vector<estimator::Recording>& recordings = task.data->recordings;
  if (task.states_only) {
    fill(evaluate_parameters(task.mechanism, recordings, task.options, monitor), task, run);
  } else {
    fill(estimator::calibrate(task.mechanism, recordings, task.options, monitor), task, run);
  }
}

}  // namespace

estimator::CalibrationOptions make_options(const StudyMethod& method,
                                           const StudySettings& settings) {
  estimator::CalibrationOptions options;
  options.max_iterations = settings.max_iterations;
  options.compare_parts = false;  // not used in the studies' tables
  if (method.physical) {
    options.kind = estimator::EstimateKind::kPhysical;
    return options;
  }
  options.kind = estimator::EstimateKind::kShadow;  // as in the paper
  options.step = settings.step;
  options.state_error_weight = settings.state_error_weight;
  options.compliance = settings.compliance;
  options.damping_time = settings.damping_time;
  options.residual_form = method.residual;
  options.state_form = method.states;
  options.weighting_compliance = method.weighting_compliance;
  options.refine_simulation = false;
  options.start_from_physical = method.approach;
  options.repair = false;  // the paper's data are used unchanged
  return options;
}

StudyTask make_task(RunLabels place, std::shared_ptr<const StudyData> data,
                    const estimator::Mechanism& mechanism,
                    const estimator::CalibrationOptions& options, bool states_only,
                    bool keep_trajectories) {
  CalibrationTask task{std::move(place), std::move(data), mechanism,
                       options,          states_only,     keep_trajectories};
  task.place.recording = task.data->name;
  if (options.step > 0.0) task.options.step = round_step(options.step, *task.data);
  task.place.step = task.options.step;
  task.place.compliance = options.compliance;
  task.place.state_error_weight = options.state_error_weight;
  const double step = task.options.step > 0.0 ? task.options.step : kStep;
  return {.place = task.place,
          .key = key_of(task),
          .work = task.data->duration / step,
          .compute = [task](StudyRun& run, const std::atomic<bool>* stop) {
            compute(task, run, stop);
          }};
}

estimator::Mechanism with_estimates(estimator::Mechanism mechanism, const StudyRun& run) {
  for (const RunParameter& estimate : run.parameters) {
    const int index = mechanism.find_parameter(estimate.name);
    mechanism.parameters[static_cast<std::size_t>(index)].value = estimate.value;
  }
  estimator::apply_dependencies(mechanism);
  return mechanism;
}

StudyRun run_task(const StudyTask& task, const std::atomic<bool>* stop) {
  StudyRun run;
  run.key = task.key;
  run.place = task.place;
  const auto start = std::chrono::steady_clock::now();
  try {
    task.compute(run, stop);
  } catch (const std::invalid_argument& fault) {
    run.termination = "refused";
    run.error = fault.what();
  }
  run.wall_time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

}  // namespace service
