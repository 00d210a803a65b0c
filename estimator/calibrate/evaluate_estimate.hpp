#pragma once

#include <vector>

#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Calls `evaluate` with the parameters, step and weight of a calibration.
/// @param rig  the calibrated mechanism; an estimate with inconsistent inertia may still predict
Evaluation evaluate_estimate(const Mechanism& rig, const Calibration& calibration,
                             const std::vector<Recording>& recordings, CalibrationOptions options,
                             const CalibrationMonitor& monitor);

}  // namespace estimator
