#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// Estimates motion and loads in recordings with the values of a request, or of its rig file. Where
/// the values are those of a result, how well they are known counts.
/// @param input  what `load_input` made of the request
/// @param options  all but the spread of the parameters
/// @param notes  for people, added to
/// @throws InputError, also where the values are those of a simulator and not of the system
std::vector<estimator::StateEstimate> run_state_estimation(
    const CalibrationRequest& request, CalibrationInput& input,
    const estimator::CalibrationMonitor& monitor, estimator::StateOptions options,
    std::vector<std::string>& notes);

}  // namespace service
