#pragma once

#include <string>

#include "estimator/assess/calibration.hpp"

namespace service {

/// What pieces of the recordings say alone: whether they agree, a forest plot of parameters by
/// piece, and deviations from noise and from the scatter beside one another. Empty where there is
/// nothing to compare.
std::string piece_section(const estimator::Calibration& calibration);

}  // namespace service
