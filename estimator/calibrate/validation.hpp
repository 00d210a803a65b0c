#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/joint_kind.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The differences between the readings of a sensor and an open-loop simulation.
struct PredictionError {
  double squares = 0.0;  ///< sum of squared errors [rad² or m²]
  std::size_t readings = 0;
  double largest = 0.0;  ///< largest error [rad or m]; NaN, like `squares`, if a simulation failed

  void add(const PredictionError& other);
  /// Returns the root-mean-square error [rad or m]; NaN without readings.
  double rmse() const;
};

/// Returns the error of the open-loop simulation of one sensor from row `first` of the trajectory
/// on. Skips missing readings, and the first row of a SPOOK simulation, which begins at the second
/// row.
PredictionError compute_prediction_error(const SegmentTrajectory& trajectory, Eigen::Index sensor,
                                         JointKind kind, Eigen::Index first = 0);

/// Returns the root-mean-square error of the open-loop simulation over all sensors [rad]. Errors of
/// sliding joints are divided by JointUnits::scale.
double compute_pooled_rmse(const std::vector<SegmentTrajectory>& trajectories,
                           const std::vector<JointKind>& kinds);

/// An interval of a recording that is simulated open loop from its own initial state.
struct ValidationWindow {
  std::string recording;
  double start = 0.0, end = 0.0;        ///< interval of the compared readings [s]
  std::vector<PredictionError> errors;  ///< one per sensor
  /// Whether the initial state was fitted with the open-loop simulation. Otherwise the motion
  /// cannot be predicted from its start, and the simulation starts at the jointly estimated state.
  bool fitted = false;
};

/// The prediction errors of given parameter values on recordings. Only initial states are
/// estimated.
struct Validation {
  std::vector<std::string> sensors;
  std::vector<JointKind> kinds;  ///< joint kinds of the sensors
  std::vector<double> noise;     ///< reading noise, see `estimate_reading_noise` [rad or m]
  double start_window = 0.0;     ///< requested duration of start windows [s]
  std::vector<ValidationWindow> windows;
  std::vector<SegmentTrajectory> trajectories;  ///< one per window
  double step = 0.0;                            ///< requested integration step [s]; 0 if automatic
  int still = 0;               ///< number of windows skipped because they contain no motion
  bool stopped = false;        ///< the monitor's stop flag ended the validation early
  std::vector<Message> notes;  ///< notes without duplicates
};

/// Simulates every segment open loop with the parameters of `estimate`, and compares the simulation
/// with the readings. The initial state of the segment is fitted
///
/// - to all its readings, if `start_window` is 0. This underestimates the errors of unstable or
///   chaotic motion, because the initial state absorbs part of the parameter errors;
/// - to the readings of its first `start_window` seconds otherwise. Only later readings are
///   compared. Errors then include the uncertainty of the initial state.
/// @param rig           rig description, used to check the input (evaluate_physical_parameters)
/// @param estimate      a mechanism of the same structure
/// @param recordings    each segment is a window
/// @param start_window  [s], physical parameters only
/// @param on_window     called before each window with its index from 0; may be empty
/// @throws std::invalid_argument as `evaluate_parameters`, or if a start window leaves nothing to
/// compare
Validation validate_parameters(const Mechanism& rig, const Mechanism& estimate,
                               const std::vector<Recording>& recordings,
                               const CalibrationOptions& options, double start_window = 0.0,
                               const CalibrationMonitor& monitor = {},
                               const std::function<void(int)>& on_window = {});

}  // namespace estimator
