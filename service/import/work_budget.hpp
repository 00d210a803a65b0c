#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"

namespace service {

/// Checks the work of a calibration before it starts. Refuses an invalid step, and more steps than
/// can be computed within the time even with one iteration.
/// @param step        requested h [s]; 0: chosen from the data
/// @param duration_s  time limit of the calibration [s]; infinite: none
/// @throws proto::InputError
void check_work_budget(const std::vector<estimator::Recording>& recordings, double step,
                       double duration_s);

}  // namespace service
