#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/finding.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "service/result/calibration_message.hpp"
#include "service/text/table_notation.hpp"

namespace service {

/// Returns HTML sections on a cross-validation, with the parts of the data, the error matrices and
/// the parameters of each fold.
std::string render_cross_validation_sections(const estimator::CrossValidation& validation);

/// Returns the result of a cross-validation as one self-contained HTML page. It shows error
/// matrices, the parameters of every fold, and the trajectories of the held-out parts. An error
/// matrix has a row per fold, a column per part, and the held-out parts on the diagonal.
std::string render_cross_validation_page(const estimator::CrossValidation& validation,
                                         const CalibrationMetadata& context);

/// Formats the result of a cross-validation as text. It lists the errors of the estimated states
/// and of the open-loop simulation for each held-out part [mrad], and the variation of each
/// parameter over the folds. Findings and warnings of all folds follow.
/// @param wall_time  duration of the cross-validation [s]
std::string format_cross_validation(const estimator::CrossValidation& validation, double wall_time,
                                    const std::vector<estimator::Finding>& findings = {});

/// Returns the notation (power of ten and number of digits) for the mean of each parameter over the
/// folds and its variation.
std::vector<TableNotation> make_spread_notations(
    const std::vector<estimator::ParameterSpread>& spreads);

}  // namespace service
