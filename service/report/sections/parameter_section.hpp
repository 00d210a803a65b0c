#pragma once

#include <string>

#include "estimator/assessment/calibration.hpp"

namespace service {

/// Returns an HTML section on the estimated parameters, with values and plots of 95 % confidence
/// intervals, priors, bounds and initial values.
std::string parameter_section(const estimator::Calibration& calibration);

}  // namespace service
