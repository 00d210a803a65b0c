#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// Estimates motion and loads in recordings with the parameter values of a request or of its rig
/// file. If the values come from a result, their uncertainty is propagated.
/// @param input  returned by `load_input` for the request
/// @param options  without the parameter uncertainty, which is set here
/// @param notes  messages, appended to
/// @throws InputError, also for shadow parameters, which belong to a simulator
std::vector<estimator::StateEstimate> run_state_estimation(
    const CalibrationRequest& request, CalibrationInput& input,
    const estimator::CalibrationMonitor& monitor, estimator::StateOptions options,
    std::vector<std::string>& notes);

}  // namespace service
