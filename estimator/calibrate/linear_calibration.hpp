#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Estimates physical parameters by linear regression of inverse dynamics along the low-pass
/// filtered motion (InverseDynamicsRegression), without any simulation. Noise of the filtered rates
/// biases the estimates, because it enters the regressor (errors in variables). Standard deviations
/// result from the scatter of the torque imbalance. The model is assessed by predicted torques.
///
/// Sensor parameters other than encoder offsets keep their values. Arguments as for `calibrate`.
/// @throws std::invalid_argument for closed loops, a joint without encoder, or too little motion
Calibration calibrate_linear(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                             const CalibrationOptions& options, const CalibrationMonitor& monitor);

}  // namespace estimator
