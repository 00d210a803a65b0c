#pragma once

#include <vector>

#include "estimator/calibrate/state_estimate.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// Estimates the motion in recordings with the values of a request, or of its rig file.
/// @param input  what `load_input` made of the request
/// @throws InputError, also where the values are those of a simulator and not of the system
std::vector<estimator::StateEstimate> run_state_estimation(
    const CalibrationRequest& request, CalibrationInput& input,
    const estimator::CalibrationMonitor& monitor);

}  // namespace service
