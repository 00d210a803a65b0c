#pragma once

#include <string>

#include "estimator/assessment/calibration.hpp"

namespace service {

/// Returns an HTML section on the identifiability of the parameters. It shows unidentifiable
/// directions in words and numbers, poorly identified parameters, and the correlation matrix. It
/// also shows how much the uncertainty of other parameters increases each standard deviation.
std::string identifiability_section(const estimator::Calibration& calibration);

}  // namespace service
