#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The reading errors of given parameter values on recordings. Only the states are estimated.
struct ParameterEvaluation {
  double cost = 0.0;              ///< sum of squared residuals of the estimated states
  double observation_rmse = 0.0;  ///< root-mean-square reading error of the estimated states [rad]
  Termination termination = Termination::kNumericalFailure;  ///< result of the state estimation
  int iterations = 0;
  /// Open-loop simulation errors, with initial states fitted to these recordings.
  std::vector<OpenLoopError> simulation;
  /// See Calibration::simulation_horizon [s].
  double simulation_horizon = std::numeric_limits<double>::infinity();
  Termination simulation_termination = Termination::kNumericalFailure;
  int simulation_iterations = 0;
  std::vector<SegmentTrajectory> trajectories;
  std::vector<Message> notes;  ///< anomalies, for users
};

/// Computes the errors of given parameter values on recordings. First estimates all states jointly,
/// then the initial state of each segment for the best open-loop simulation. All parameters are
/// fixed, and parameter priors are not used.
/// @param options  as for `calibrate`; give its `step` and `state_error_weight` to compare costs
/// @throws std::invalid_argument as `calibrate`, but free parameters are not required
ParameterEvaluation evaluate_parameters(const Mechanism& mechanism,
                                        const std::vector<Recording>& recordings,
                                        const CalibrationOptions& options = {},
                                        const CalibrationMonitor& monitor = {});

/// One fold of a cross-validation: a calibration without one part of the recordings, and its
/// evaluation on this held-out part.
struct CrossValidationFold {
  Calibration calibration;         ///< calibration on all other parts
  ParameterEvaluation evaluation;  ///< evaluation on the held-out part
};

/// The scatter of one parameter's estimates over the folds of a cross-validation.
struct ParameterSpread {
  std::string name;
  std::string unit;
  double mean = 0.0;  ///< mean over the folds that identify the parameter
  /// Standard deviation of the estimate from all parts, by the delete-one jackknife:
  /// √((n−1)/n Σ (χ_i − mean)²) for the estimates χ_i of n folds. NaN if a fold does not identify
  /// the parameter.
  double standard_deviation = 0.0;
  /// Mean standard deviation of the parameter over the folds that identify it.
  double reported_standard_deviation = 0.0;
  std::vector<int> unidentified;  ///< indices of the folds that do not identify the parameter
};

/// Returns the spread of each parameter over the folds.
std::vector<ParameterSpread> compute_parameter_spreads(
    const std::vector<CrossValidationFold>& folds);

/// The result of a cross-validation. Error matrices have one row per fold and one column per part
/// of the recordings. Fold i holds out part i, so diagonal entries are prediction errors, and all
/// other entries are fit errors.
struct CrossValidation {
  std::vector<std::string> parts;          ///< names
  std::vector<CrossValidationFold> folds;  ///< one fold per part; fewer if stopped
  std::vector<std::string> joints;         ///< names of the measured joints
  std::vector<JointKind> kinds;            ///< joint kinds of `joints`
  /// Root-mean-square reading error of the estimated states, folds × parts [rad].
  Eigen::MatrixXd observation;
  /// Root-mean-square errors of the open-loop simulation, one matrix per joint [rad or m].
  std::vector<Eigen::MatrixXd> simulation;
  std::vector<ParameterSpread> parameters;
  bool stopped = false;  ///< the monitor's stop flag ended the cross-validation early
};

/// Cross-validates a calibration: holds out each part of the recordings in turn, calibrates on all
/// other parts, and evaluates the estimates on the held-out part.
/// @param parts    at least two parts of the recordings, with unique names
/// @param on_fold   called before each fold with its index from 0; may be empty
/// @throws std::invalid_argument naming the fold, see `calibrate`
CrossValidation cross_validate(const Mechanism& mechanism, const std::vector<Recording>& parts,
                               const CalibrationOptions& options = {},
                               const CalibrationMonitor& monitor = {},
                               const std::function<void(int)>& on_fold = {});

/// Computes the errors of a calibration's estimates on recordings (`evaluate_parameters`), with the
/// time step and the state error weight of the calibration.
/// @param rig  the rig description, used to check the input, since an estimate with inconsistent
///             inertia may still predict well
ParameterEvaluation evaluate_calibration(const Mechanism& rig, const Calibration& calibration,
                                         const std::vector<Recording>& recordings,
                                         CalibrationOptions options,
                                         const CalibrationMonitor& monitor);

}  // namespace estimator
