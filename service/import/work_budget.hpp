#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"

namespace service {

/// Before a calibration starts: refuses a step that is none for these recordings, and more steps
/// than can be computed within the time, however fast they converge.
/// @param step        h that was asked for [s]; 0: chosen from the data
/// @param duration_s  longest time that the calibration may take [s]; infinite: any
/// @throws proto::InputError
void check_work(const std::vector<estimator::Recording>& recordings, double step,
                double duration_s);

}  // namespace service
