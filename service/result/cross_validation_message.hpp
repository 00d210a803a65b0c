#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Prediction errors of a cross-validation on the held-out pieces of data, over all folds.
struct PredictionErrors {
  double observation = 0.0;                            ///< RMS error of the estimated states [rad]
  std::vector<estimator::SimulationError> simulation;  ///< open-loop errors per joint
};

/// Returns the prediction errors of a cross-validation, as root mean squares over the folds.
PredictionErrors prediction_errors(const estimator::CrossValidation& validation);

/// Checks whether the calibrations of all folds of a cross-validation converged.
bool has_converged(const estimator::CrossValidation& validation);

/// Returns the result of a cross-validation as JSON, with all fields of
/// rigcal.v1.CrossValidationResult.
std::string cross_validation_json(const estimator::CrossValidation& validation,
                                  const CalibrationContext& context);

}  // namespace service
