#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Errors of the pieces held out, over all folds.
struct PredictionErrors {
  double observation = 0.0;                            ///< RMS of the folds' RMSE [rad]
  std::vector<estimator::SimulationError> simulation;  ///< the same, open loop, per hinge
};

PredictionErrors prediction_errors(const estimator::CrossValidation& validation);

/// Whether the calibration of every fold converged.
bool has_converged(const estimator::CrossValidation& validation);

/// The result as JSON: the proto3 mapping of rigcal.v1.CrossValidationResult, every field present.
std::string cross_validation_json(const estimator::CrossValidation& validation,
                                  const CalibrationContext& context);

}  // namespace service
