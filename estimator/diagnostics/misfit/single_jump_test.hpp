#pragma once

#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns whether a single encoder slip or loss of time may explain the whole misfit. If so, at
/// least one half of every recording contains no jump, and the model fits excerpts of this half.
/// Parameters are fitted to each half separately. Encoder offsets are free, since the slip may
/// precede the half.
bool is_single_jump_plausible(const Mechanism& estimate, const std::vector<Recording>& recordings,
                              const CalibrationMonitor& monitor);

}  // namespace estimator
