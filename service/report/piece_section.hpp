#pragma once

#include <string>

#include "estimator/assess/calibration.hpp"

namespace service {

/// Section on estimates from separate pieces: their consistency, a forest plot of the parameters,
/// and standard deviations from noise and from the scatter. Empty if there is nothing to compare.
std::string piece_section(const estimator::Calibration& calibration);

}  // namespace service
