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

/// How well a mechanism with fixed parameters explains recordings.
struct Evaluation {
  double cost = 0.0;              ///< Σ‖r‖² of the estimated states
  double observation_rmse = 0.0;  ///< of the estimated states [rad]
  Termination termination = Termination::kNumericalFailure;  ///< of the state estimation
  int iterations = 0;
  /// Open loop, from initial states fitted to these recordings.
  std::vector<SimulationError> simulation;
  Termination simulation_termination = Termination::kNumericalFailure;
  int simulation_iterations = 0;
  std::vector<SegmentTrajectory> trajectories;
  std::vector<std::string> notes;  ///< what is suspicious, for people
};

/// Estimates the states of the recordings, and only them, with every parameter kept: first jointly
/// with all residuals, then the initial state of each segment so that the open-loop simulation fits
/// the angles best. Parameter priors play no part.
///
/// @param options  as for `calibrate`; give its `step` and `state_error_weight` to compare costs
/// @throws std::invalid_argument as `calibrate`, but for the absence of free parameters
Evaluation evaluate(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                    const CalibrationOptions& options = {}, const CalibrationMonitor& monitor = {});

/// Calibration without one piece, and what became of that piece.
struct Fold {
  Calibration calibration;  ///< on all pieces but the one held out
  Evaluation evaluation;    ///< of the piece held out
};

/// One parameter over the folds.
struct ParameterSpread {
  std::string name;
  std::string unit;
  double mean = 0.0;
  /// Delete-one jackknife, √((n−1)/n Σ (χ_i − mean)²) over n folds: what the scatter between
  /// pieces says of the estimate from all of them.
  double standard_deviation = 0.0;
  /// Mean of what the folds' calibrations say of themselves; infinite where one sees nothing.
  double reported_standard_deviation = 0.0;
};

/// Every piece predicted from all others. Matrices are folds × pieces: fold i holds out piece i, so
/// diagonals are predictions and entries beside them fits.
struct CrossValidation {
  std::vector<std::string> pieces;          ///< names
  std::vector<Fold> folds;                  ///< one a piece; fewer when stopped
  std::vector<std::string> hinges;          ///< measured ones
  std::vector<JointKind> kinds;             ///< of `hinges`
  Eigen::MatrixXd observation;              ///< RMSE of the estimated states, as in Calibration
  std::vector<Eigen::MatrixXd> simulation;  ///< open-loop RMSE of each of `hinges` [rad or m]
  std::vector<ParameterSpread> parameters;
  bool stopped = false;  ///< by the monitor's flag
};

/// Cross-validation: for every piece, a calibration on the others and an evaluation of that one.
///
/// @param pieces    at least two, with names of their own
/// @param on_fold   called before each fold with its index from 0; may be empty
/// @throws std::invalid_argument naming the fold, see `calibrate`
CrossValidation cross_validate(const Mechanism& mechanism, const std::vector<Recording>& pieces,
                               const CalibrationOptions& options = {},
                               const CalibrationMonitor& monitor = {},
                               const std::function<void(int)>& on_fold = {});

}  // namespace estimator
