#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"

namespace service {

/// Formats the result of a cross-validation as text. It gives for each held-out piece the errors of
/// the estimated states and of the open-loop simulation [mrad], and for each parameter its
/// variation over the folds.
/// @param wall_time  duration of the cross-validation [s]
std::string format_cross_validation(const estimator::CrossValidation& validation, double wall_time);

}  // namespace service
