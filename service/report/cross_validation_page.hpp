#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns HTML sections on a cross-validation, with the pieces of data, the error matrices and the
/// parameters of each fold.
std::string cross_validation_sections(const estimator::CrossValidation& validation);

/// Returns the result of a cross-validation as one self-contained HTML page. It shows error
/// matrices, the parameters of every fold, and the trajectories of the held-out pieces. An error
/// matrix has a row per fold, a column per piece, and the held-out pieces on the diagonal.
std::string cross_validation_page(const estimator::CrossValidation& validation,
                                  const CalibrationContext& context);

}  // namespace service
