#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Prediction errors on the held-out pieces, over all folds.
struct PredictionErrors {
  double observation = 0.0;                            ///< RMS of the folds' RMSE [rad]
  std::vector<estimator::SimulationError> simulation;  ///< the same in open loop, per joint
};

PredictionErrors prediction_errors(const estimator::CrossValidation& validation);

/// Whether the calibration of every fold converged.
bool has_converged(const estimator::CrossValidation& validation);

/// Returns the result as JSON, all fields of rigcal.v1.CrossValidationResult.
std::string cross_validation_json(const estimator::CrossValidation& validation,
                                  const CalibrationContext& context);

}  // namespace service
