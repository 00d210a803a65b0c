#pragma once

#include <functional>

#include "estimator/calibrate/validation.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// Windows over which predictions are compared with recordings.
struct ValidationWindows {
  double length = 0.0;  ///< window length [s]; 0: whole segments
  double start = 0.0;   ///< initial part from which the state is estimated [s]; 0: the whole window
};

/// Callback before each window, with its index from 0 and the number of windows.
using WindowCallback = std::function<void(int index, int count)>;

/// Evaluates parameter values of a request, or of its rig file, on recordings. Stores in the
/// input's context the wall time, and the kind, step and weight that belong to the values.
/// @param input  returned by `load_input` for the request
/// @throws InputError
estimator::Validation run_validation(const CalibrationRequest& request,
                                     const ValidationWindows& windows, CalibrationInput& input,
                                     const estimator::CalibrationMonitor& monitor,
                                     const WindowCallback& on_window);

}  // namespace service
