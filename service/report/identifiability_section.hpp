#pragma once

#include <string>

#include "estimator/assess/calibration.hpp"

namespace service {

/// Section on identifiability: unidentifiable directions in words and numbers, poorly identified
/// parameters, how much each standard deviation is increased by the uncertainty of the other
/// parameters, and the correlation matrix.
std::string identifiability_section(const estimator::Calibration& calibration);

}  // namespace service
