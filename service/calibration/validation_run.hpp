#pragma once

#include <functional>

#include "estimator/calibrate/validation.hpp"
#include "service/calibration/calibration_input.hpp"

namespace service {

/// How recordings are judged.
struct ValidationWindows {
  double length = 0.0;  ///< segments are cut into windows of this length [s]; 0: they stay whole
  double start = 0.0;   ///< what the initial state is from [s]; 0: all of a window
};

/// Told before each window: its index from 0, and how many there are.
using WindowWatcher = std::function<void(int index, int count)>;

/// Judges the values of a request, or of its rig file, by recordings. Leaves the wall time, and the
/// kind, step and weight that the values ask for, in the input's context.
/// @param input  what `load_input` made of the request
/// @throws InputError
estimator::Validation run_validation(const CalibrationRequest& request,
                                     const ValidationWindows& windows, CalibrationInput& input,
                                     const estimator::CalibrationMonitor& monitor,
                                     const WindowWatcher& on_window);

}  // namespace service
