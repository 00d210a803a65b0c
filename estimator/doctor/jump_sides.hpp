#pragma once

#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Whether one slip, or one loss of time, may be all that a model does not explain: of every
/// recording one half or the other lies on one side of it, and pieces of that half are then
/// explained. Parameters are fitted to each half anew, and encoders' offsets with them, since the
/// slip may lie before.
bool may_be_one_jump(const Mechanism& estimate, const std::vector<Recording>& recordings,
                     const CalibrationMonitor& monitor);

}  // namespace estimator
