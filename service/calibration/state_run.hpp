#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// Estimates motion and loads in recordings with given parameter values. The values are those of
/// the request, or of its rig file. The uncertainty of values from a calibration result is
/// propagated to the states.
/// @param input  returned by `load_input` for the request
/// @param options  options without the parameter uncertainty, which this function sets
/// @param notes  messages are appended to it
/// @throws InputError for unusable input, or for shadow parameters, which are valid only for a
///         simulator
std::vector<estimator::StateEstimate> run_state_estimation(
    const CalibrationRequest& request, CalibrationInput& input,
    const estimator::CalibrationMonitor& monitor, estimator::StateOptions options,
    std::vector<std::string>& notes);

}  // namespace service
