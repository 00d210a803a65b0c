#pragma once

#include <string>

#include "estimator/assess/calibration.hpp"

namespace service {

/// The estimates: values with 95 % intervals, drawn against prior, bounds and start.
std::string parameter_section(const estimator::Calibration& calibration);

}  // namespace service
