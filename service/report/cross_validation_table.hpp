#pragma once

#include <string>

#include "estimator/calibrate/cross_validation.hpp"

namespace service {

/// The result of a cross-validation for people: per piece held out the error of the estimated
/// states and of the open-loop simulation [mrad], and every parameter over the folds.
std::string format_cross_validation(const estimator::CrossValidation& validation, double wall_time);

}  // namespace service
