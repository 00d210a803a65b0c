#pragma once

#include <string>

#include "estimator/assess/calibration.hpp"

namespace service {

/// What the data tell of the parameters and what they do not: directions without effect, in words
/// and numbers; parameters known poorly; how much each owes to what is not known of the others; the
/// correlation matrix.
std::string identifiability_section(const estimator::Calibration& calibration);

}  // namespace service
