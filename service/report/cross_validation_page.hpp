#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Sections with the pieces, error matrices and the parameters of each fold, for use in a page.
std::string cross_validation_sections(const estimator::CrossValidation& validation);

/// Returns the result of a cross-validation as one self-contained HTML page: error matrices (a row
/// per fold, a column per piece, held-out pieces on the diagonal), the parameters of every fold,
/// and the trajectories of the held-out pieces.
std::string cross_validation_page(const estimator::CrossValidation& validation,
                                  const CalibrationContext& context);

}  // namespace service
