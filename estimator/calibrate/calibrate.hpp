#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The kind of estimate that these options stand for.
/// @throws std::invalid_argument where they contradict one another
EstimateKind chosen_kind(const Mechanism& mechanism, const CalibrationOptions& options);

/// Estimates the free parameters of `mechanism` and the states of all recordings jointly.
///
/// @throws std::invalid_argument naming the recording or parameter and what to do, when the input
///         cannot be used: no free parameter, too few samples, a parameter without effect, …
Calibration calibrate(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                      const CalibrationOptions& options = {},
                      const CalibrationMonitor& monitor = {});

}  // namespace estimator
