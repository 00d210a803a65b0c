#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/calibration/simulation_truth.hpp"

namespace service {

/// Formats a table that compares estimates with the true parameter values of a simulated rig. It
/// has the true value, the estimate, the standard deviation, and the error. The error is given in
/// percent of the true value, unless that is zero, and in standard deviations. Parameters without a
/// true value are omitted.
/// @throws proto::InputError if no parameter has a true value
std::string format_truth_comparison(const std::vector<estimator::ParameterEstimate>& estimates,
                                    const TrueParameters& truth);

}  // namespace service
