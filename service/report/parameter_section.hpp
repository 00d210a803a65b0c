#pragma once

#include <string>

#include "estimator/assess/calibration.hpp"

namespace service {

/// Section of the estimates: values and plots of 95 % intervals, priors, bounds and initial values.
std::string parameter_section(const estimator::Calibration& calibration);

}  // namespace service
