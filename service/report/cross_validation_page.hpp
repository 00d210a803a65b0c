#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Pieces, matrices of errors and parameters of every fold, without page and trajectories.
std::string cross_validation_sections(const estimator::CrossValidation& validation);

/// The result of a cross-validation as one self-contained HTML page: matrices of errors (a row for
/// each fold, a column for each piece, the pieces held out on the diagonal), the parameters of
/// every fold, and the trajectories of the pieces held out. No scripts, no external resources.
std::string cross_validation_page(const estimator::CrossValidation& validation,
                                  const CalibrationContext& context);

}  // namespace service
