#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/finding.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "service/text/table_notation.hpp"

namespace service {

/// Formats the result of a cross-validation as text. It gives for each held-out piece the errors of
/// the estimated states and of the open-loop simulation [mrad], and for each parameter its
/// variation over the folds, then the findings and the warnings of all folds.
/// @param wall_time  duration of the cross-validation [s]
std::string format_cross_validation(const estimator::CrossValidation& validation, double wall_time,
                                    const std::vector<estimator::Finding>& findings = {});

/// Returns the common notations of the parameters' means and their variation over the folds.
std::vector<TableNotation> notations_of(const std::vector<estimator::ParameterSpread>& spreads);

}  // namespace service
