#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"

namespace service {

/// Checks before a calibration starts that it can finish within its time limit.
/// @param step        requested simulation step [s]; 0 if rigcal chooses the step
/// @param duration_s  time limit of the calibration [s]; infinite if there is no limit
/// @throws proto::InputError for an invalid step, or if even one iteration would take too long
void check_work_budget(const std::vector<estimator::Recording>& recordings, double step,
                       double duration_s);

}  // namespace service
