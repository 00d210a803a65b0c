#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns whether the options select physical parameters or shadow parameters (of a SPOOK
/// simulator).
/// @throws std::invalid_argument if the options contradict one another
EstimateKind select_estimate_kind(const Mechanism& mechanism, const CalibrationOptions& options);

/// Estimates the free parameters of `mechanism` together with the states in all recordings.
/// @throws std::invalid_argument naming the recording or parameter and the remedy, for unusable
///         input such as no free parameter, too few samples, or a parameter without effect
Calibration calibrate(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                      const CalibrationOptions& options = {},
                      const CalibrationMonitor& monitor = {});

}  // namespace estimator
