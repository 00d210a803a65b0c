#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "estimator/assess/prediction_error.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A stretch of a recording, simulated from an initial state of its own.
struct ValidationWindow {
  std::string recording;
  double start = 0.0, end = 0.0;        ///< of the readings that are judged [s]
  std::vector<PredictionError> errors;  ///< one a sensor
  /// Whether the initial state was fitted to the open-loop simulation. Where the motion cannot be
  /// predicted from its start it is that of the estimated states.
  bool fitted = false;
};

/// How well given parameters predict recordings. Only initial states are estimated.
struct Validation {
  std::vector<std::string> sensors;
  std::vector<JointKind> kinds;  ///< of the sensors
  std::vector<double> noise;     ///< of the sensors' readings, from their differences [rad or m]
  double start_window = 0.0;     ///< as asked for [s]
  std::vector<ValidationWindow> windows;
  std::vector<SegmentTrajectory> trajectories;  ///< one a window
  double step = 0.0;                            ///< asked for; 0: chosen [s]
  int still = 0;                   ///< windows in which nothing moves; they are not judged
  bool stopped = false;            ///< by the monitor's flag
  std::vector<std::string> notes;  ///< each once
};

/// Simulates every segment open loop with the parameters of `estimate` and compares it with its
/// readings. The segment's initial state is the one that fits best
///
/// - all its readings, where `start_window` is 0. That flatters what grows fast from small
///   differences: a few numbers of the state take up part of what the parameters get wrong;
/// - the readings of its first `start_window` seconds, and later ones are judged, which the state
///   has not seen. That charges the parameters with what those readings leave open of the state.
///
/// @param rig           what the input is checked against (evaluate_physical)
/// @param estimate      a mechanism of the same build
/// @param recordings    whose segments are the windows
/// @param start_window  [s], physical parameters alone
/// @param on_window     called before each window with its index from 0; may be empty
/// @throws std::invalid_argument as `evaluate`, or where a start window leaves nothing to judge
Validation validate(const Mechanism& rig, const Mechanism& estimate,
                    const std::vector<Recording>& recordings, const CalibrationOptions& options,
                    double start_window = 0.0, const CalibrationMonitor& monitor = {},
                    const std::function<void(int)>& on_window = {});

}  // namespace estimator
