#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/import/simulation_truth.hpp"

namespace service {

/// Estimates beside the parameters a simulated rig was made with: truth, estimate, standard
/// deviation, error in percent of the truth (in the parameter's unit where that is zero) and in
/// standard deviations. Parameters the truth does not know are left out.
/// @throws proto::InputError when it knows none
std::string format_truth(const std::vector<estimator::ParameterEstimate>& estimates,
                         const TrueParameters& truth);

}  // namespace service
