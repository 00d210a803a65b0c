#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Fit of a mechanism with fixed parameters to recordings.
struct Evaluation {
  double cost = 0.0;              ///< Σ‖r‖² of the estimated states
  double observation_rmse = 0.0;  ///< of the estimated states [rad]
  Termination termination = Termination::kNumericalFailure;  ///< of the state estimation
  int iterations = 0;
  /// Open-loop errors, from initial states fitted to these recordings.
  std::vector<SimulationError> simulation;
  Termination simulation_termination = Termination::kNumericalFailure;
  int simulation_iterations = 0;
  std::vector<SegmentTrajectory> trajectories;
  std::vector<std::string> notes;  ///< anomalies, for people
};

/// Estimates only the states of the recordings, with all parameters fixed. First estimates the
/// states jointly with all residuals, then the initial state of each segment for the best open-loop
/// simulation. Parameter priors are not used.
///
/// @param options  as for `calibrate`; give its `step` and `state_error_weight` to compare costs
/// @throws std::invalid_argument as `calibrate`, but free parameters are not required
Evaluation evaluate(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                    const CalibrationOptions& options = {}, const CalibrationMonitor& monitor = {});

/// Calibration without one part of the recordings, and evaluation on that part.
struct Fold {
  Calibration calibration;  ///< on all parts but the one held out
  Evaluation evaluation;    ///< on the part held out
};

/// One parameter's estimates over the folds.
struct ParameterSpread {
  std::string name;
  std::string unit;
  double mean = 0.0;
  /// Delete-one jackknife, √((n−1)/n Σ (χ_i − mean)²) over n folds: standard deviation of the
  /// overall estimate, from the scatter between parts.
  double standard_deviation = 0.0;
  /// Mean of the standard deviations of the folds' calibrations; infinite if one is.
  double reported_standard_deviation = 0.0;
};

/// Cross-validation result. Matrices are folds × parts: fold i holds out part i, so that diagonal
/// entries are prediction errors and the others fit errors.
struct CrossValidation {
  std::vector<std::string> pieces;          ///< names
  std::vector<Fold> folds;                  ///< one per part; fewer if stopped
  std::vector<std::string> joints;          ///< measured joints
  std::vector<JointKind> kinds;             ///< of `joints`
  Eigen::MatrixXd observation;              ///< RMSE of the estimated states, as in Calibration
  std::vector<Eigen::MatrixXd> simulation;  ///< open-loop RMSE of each of `joints` [rad or m]
  std::vector<ParameterSpread> parameters;
  bool stopped = false;  ///< by the monitor's flag
};

/// Cross-validates: for every part, calibrates on the others and evaluates that part.
///
/// @param pieces    at least two, with unique names
/// @param on_fold   called before each fold with its index from 0; may be empty
/// @throws std::invalid_argument naming the fold, see `calibrate`
CrossValidation cross_validate(const Mechanism& mechanism, const std::vector<Recording>& pieces,
                               const CalibrationOptions& options = {},
                               const CalibrationMonitor& monitor = {},
                               const std::function<void(int)>& on_fold = {});

}  // namespace estimator
