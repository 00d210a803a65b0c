#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/import/simulation_truth.hpp"

namespace service {

/// Formats estimates beside the true parameters of a simulated rig: truth, estimate, standard
/// deviation, and the error in percent of the truth (in the parameter's unit if that is zero) and
/// in standard deviations. Parameters without a true value are omitted.
/// @throws proto::InputError if no parameter has a true value
std::string format_truth_comparison(const std::vector<estimator::ParameterEstimate>& estimates,
                                    const TrueParameters& truth);

}  // namespace service
