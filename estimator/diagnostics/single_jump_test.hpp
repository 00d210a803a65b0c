#pragma once

#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns whether a single encoder slip or loss of time may explain the whole misfit. In every
/// recording, at least one half then lies on one side of the jump, and the model fits excerpts of
/// that half. Parameters are fitted to each half separately, with free encoder offsets, since the
/// slip may precede the half.
bool is_single_jump_plausible(const Mechanism& estimate, const std::vector<Recording>& recordings,
                              const CalibrationMonitor& monitor);

}  // namespace estimator
