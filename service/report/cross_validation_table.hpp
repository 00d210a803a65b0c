#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"

namespace service {

/// Formats the result of a cross-validation for people: for each held-out piece the errors of the
/// estimated states and of the open-loop simulation [mrad], and every parameter over the folds.
std::string format_cross_validation(const estimator::CrossValidation& validation, double wall_time);

}  // namespace service
