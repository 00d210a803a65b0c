#pragma once

#include <string>

#include "estimator/assessment/calibration.hpp"

namespace service {

/// Returns an HTML section that compares the estimates from separate pieces of the data. It shows
/// their consistency, a forest plot, and the standard deviations from sensor noise and from the
/// scatter between pieces. Empty if there is nothing to compare.
std::string piece_section(const estimator::Calibration& calibration);

}  // namespace service
