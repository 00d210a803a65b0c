#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Readings that are there in recordings as they were read, and no more after their repair.
std::vector<HeldReading> held_readings(const std::vector<estimator::Recording>& read,
                                       const std::vector<estimator::Recording>& repaired);

}  // namespace service
