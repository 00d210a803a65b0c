#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Estimates parameters of a SPOOK simulator at a given time step (EstimateKind::kShadow): first
/// states and parameters jointly [Mar], then by a fit of the simulation. As `calibrate`.
Calibration calibrate_shadow(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                             const CalibrationOptions& options, const CalibrationMonitor& monitor);

}  // namespace estimator
