#pragma once

#include <functional>

#include "estimator/calibrate/validation.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// Time windows in which a validation compares predictions with recordings.
struct ValidationWindows {
  double length = 0.0;  ///< window length [s]; 0 for whole segments
  double start = 0.0;   ///< part that determines the initial state [s]; 0 for all of it
};

/// Function that is called before each prediction window, with the index of the window, from 0, and
/// the number of windows.
using WindowCallback = std::function<void(int index, int count)>;

/// Evaluates given parameter values on recordings. The values are those of the request, or of its
/// rig file. Their kind, step and weight and the wall time are stored in the context of `input`.
/// @param input  returned by `load_input` for the request
/// @throws InputError for unusable input
estimator::Validation run_validation(const CalibrationRequest& request,
                                     const ValidationWindows& windows, CalibrationInput& input,
                                     const estimator::CalibrationMonitor& monitor,
                                     const WindowCallback& on_window);

}  // namespace service
