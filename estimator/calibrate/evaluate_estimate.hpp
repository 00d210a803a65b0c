#pragma once

#include <vector>

#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// `evaluate` with the parameters of a calibration, and the step and weight that it chose.
/// @param rig  what was calibrated; an estimate may be no possible body and still predict
Evaluation evaluate_estimate(const Mechanism& rig, const Calibration& calibration,
                             const std::vector<Recording>& recordings, CalibrationOptions options,
                             const CalibrationMonitor& monitor);

}  // namespace estimator
