#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"

namespace service {

/// Estimated motion as CSV: a row a sample; the time in its recording, then of every joint angle,
/// rate and acceleration, each with its standard deviation behind it.
/// @param mechanism  whose joints these are
std::string state_csv(const estimator::Mechanism& mechanism,
                      const std::vector<estimator::StateEstimate>& estimates);

}  // namespace service
