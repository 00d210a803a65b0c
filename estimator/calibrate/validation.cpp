#include "estimator/calibrate/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "estimator/assessment/quantization.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/calibrate/physical_calibration.hpp"
#include "estimator/fit/input_checks.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/shooting/integration_steps.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

bool moves(const Segment& segment) {
  for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
    ValueRange range;
    range.add({&segment, 1}, sensor);
    if (range.width() > 0.0) return true;
  }
  return false;
}

struct WindowFit {
  SegmentTrajectory trajectory;
  bool fitted = false;
  std::vector<Message> notes;
};

/// Simulates a window from the initial state that fits all its readings best.
WindowFit fit_whole(const Mechanism& rig, const Mechanism& estimate, const Recording& window,
                    const CalibrationOptions& options, const CalibrationMonitor& monitor) {
  ParameterEvaluation evaluation =
      select_estimate_kind(estimate, options) == EstimateKind::kPhysical
          ? evaluate_physical_parameters(rig, estimate, {window}, options, monitor)
          : evaluate_parameters(estimate, {window}, options, monitor);
  return {std::move(evaluation.trajectories.front()),
          is_converged(evaluation.simulation_termination), std::move(evaluation.notes)};
}

/// Simulates a window from the initial state that fits its first `rows` rows best.
WindowFit fit_start(const Mechanism& rig, const Mechanism& estimate, const Recording& window,
                    int rows, const CalibrationOptions& options,
                    const CalibrationMonitor& monitor) {
  const Segment& whole = window.segments.front();
  const Recording head = {window.name, {segment_rows(whole, 0, rows)}};
  ShootingFit fit(prepare_shooting_input(rig, {head}, options), options, monitor,
                  {EstimationStage::kStateEstimation, EstimationStage::kInitialStates});
  fit.estimate_jointly(estimate);
  WindowFit result;
  result.fitted = fit.fit_simulation() && is_converged(fit.simulation_history().termination);
  ShootingInput input = prepare_shooting_input(rig, {window}, options);
  limit_integration_steps(compute_friction_step_limits(estimate, input.states), input);
  use_final_integration_steps(input);
  input.grid.interval = std::numeric_limits<double>::infinity();
  const ShootingProblem run(estimate, input.segments,
                            {fit.simulation_problem().node_states(0).leftCols(1)}, {whole.period},
                            input.grid, fit.joint_problem().noise(), monitor.threads);
  result.trajectory = fit.trajectories().front();
  result.trajectory.times = whole.times;
  result.trajectory.measured = whole.angles;
  result.trajectory.control = whole.controls;
  result.trajectory.simulated = run.predicted_angles(0);
  // States are estimated only for rows with used readings.
  Eigen::MatrixXd estimated = Eigen::MatrixXd::Constant(whole.angles.rows(), whole.angles.cols(),
                                                        std::numeric_limits<double>::quiet_NaN());
  estimated.topRows(rows) = result.trajectory.estimated;
  result.trajectory.estimated = estimated;
  return result;
}

/// Returns the number of rows used to fit the initial state; 0 if all rows are used.
/// @throws std::invalid_argument if no rows would be left to compare
int start_rows(const Recording& recording, const Segment& segment, double start_window) {
  if (!(start_window > 0.0)) return 0;
  const int rows = segment.first_sample_at_or_after(start_window);
  if (rows < segment.sample_count()) return rows;
  throw std::invalid_argument(
      recording.name + ": the window from " + number_text(segment.start, 6) +
      " s on is not longer than its start of " + number_text(start_window) +
      " s, so nothing is left to validate; use longer windows, or a shorter start");
}

void judge(const Recording& recording, const Segment& segment, Eigen::Index rows, WindowFit fit,
           Validation& result) {
  ValidationWindow window;
  window.recording = recording.name;
  window.start = segment.start + segment.time(rows);
  window.end = segment.start + segment.time(segment.sample_count() - 1);
  window.fitted = fit.fitted;
  for (std::size_t i = 0; i < result.kinds.size(); ++i) {
    window.errors.push_back(compute_prediction_error(fit.trajectory, static_cast<Eigen::Index>(i),
                                                     result.kinds[i], rows));
  }
  result.windows.push_back(std::move(window));
  result.trajectories.push_back(std::move(fit.trajectory));
  for (Message& note : fit.notes) {
    note = add_recording_name(recording.name, std::move(note));
    if (std::ranges::count(result.notes, note) == 0) result.notes.push_back(std::move(note));
  }
}

}  // namespace

void PredictionError::add(const PredictionError& other) {
  squares += other.squares;
  readings += other.readings;
  if (!(other.largest <= largest)) largest = other.largest;
}

double PredictionError::rmse() const {
  return readings > 0 ? std::sqrt(squares / static_cast<double>(readings))
                      : std::numeric_limits<double>::quiet_NaN();
}

PredictionError compute_prediction_error(const SegmentTrajectory& trajectory, Eigen::Index sensor,
                                         JointKind kind, Eigen::Index first) {
  PredictionError error;
  if (first == 0 && std::isnan(trajectory.simulated(0, sensor))) first = 1;
  for (Eigen::Index k = first; k < trajectory.measured.rows(); ++k) {
    if (std::isnan(trajectory.measured(k, sensor))) continue;
    const double difference = std::abs(joint_coordinate_difference(
        kind, trajectory.simulated(k, sensor) - trajectory.measured(k, sensor)));
    error.add({difference * difference, 1, difference});
  }
  return error;
}

double compute_pooled_rmse(const std::vector<SegmentTrajectory>& trajectories,
                           const std::vector<JointKind>& kinds) {
  PredictionError pooled;
  for (const SegmentTrajectory& trajectory : trajectories) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const double scale = joint_units(kinds[i]).scale;
      const PredictionError own =
          compute_prediction_error(trajectory, static_cast<Eigen::Index>(i), kinds[i]);
      pooled.add({own.squares / (scale * scale), own.readings, own.largest / scale});
    }
  }
  return pooled.rmse();
}

Validation validate_parameters(const Mechanism& rig, const Mechanism& estimate,
                               const std::vector<Recording>& given,
                               const CalibrationOptions& options, double start_window,
                               const CalibrationMonitor& monitor,
                               const std::function<void(int)>& on_window) {
  if (start_window > 0.0 && select_estimate_kind(estimate, options) == EstimateKind::kShadow) {
    throw std::invalid_argument(
        "a start window is supported for physical parameters only; "
        "omit it for shadow parameters (of a SPOOK simulator)");
  }
  const std::vector<Recording> recordings = split_held_out_sensors(rig, given);
  const Mechanism fixed = fix_parameters(estimate);
  Validation result;
  result.start_window = start_window;
  result.step = options.step;
  result.kinds = encoder_joint_kinds(rig);
  for (const Encoder& sensor : used_encoders(rig)) result.sensors.push_back(sensor.name);
  check_input(rig, recordings);
  require_motion(recordings);
  result.noise.assign(result.kinds.size(), 0.0);
  for (const Recording& recording : recordings) {
    for (std::size_t i = 0; i < result.noise.size(); ++i) {
      result.noise[i] = std::max(
          result.noise[i], estimate_reading_noise(recording.segments, static_cast<int>(i),
                                                  joint_units(result.kinds[i]).scale));
    }
  }
  int index = 0;
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      if (on_window) on_window(index++);
      const int rows = start_rows(recording, segment, start_window);
      if (!moves(rows > 0 ? segment_rows(segment, 0, rows) : segment)) {
        ++result.still;
        continue;
      }
      const Recording window = {recording.name, {segment}};
      WindowFit fit = rows > 0 ? fit_start(rig, fixed, window, rows, options, monitor)
                               : fit_whole(rig, fixed, window, options, monitor);
      if (is_stop_requested(monitor)) {
        result.stopped = true;
        return result;
      }
      judge(recording, segment, rows, std::move(fit), result);
    }
  }
  return result;
}

}  // namespace estimator
