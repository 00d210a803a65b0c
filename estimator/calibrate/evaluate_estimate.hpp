#pragma once

#include <vector>

#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Evaluates the estimates of a calibration on recordings (`evaluate`), with the time step and
/// state error weight of the calibration.
/// @param rig  the rig description, used to check the input, since an estimate with inconsistent
///             inertia may still predict well
Evaluation evaluate_estimate(const Mechanism& rig, const Calibration& calibration,
                             const std::vector<Recording>& recordings, CalibrationOptions options,
                             const CalibrationMonitor& monitor);

}  // namespace estimator
