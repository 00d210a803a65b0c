#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Estimates parameters of a SPOOK simulator at a time step (EstimateKind::kShadow): joint
/// estimation of states and parameters [Mar], then a fit of the simulation. As `calibrate`.
Calibration calibrate_shadow(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                             const CalibrationOptions& options, const CalibrationMonitor& monitor);

}  // namespace estimator
