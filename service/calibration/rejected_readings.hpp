#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns the readings that a repair rejected: present in `read`, missing in `repaired`.
std::vector<RejectedReading> rejected_readings(const std::vector<estimator::Recording>& read,
                                               const std::vector<estimator::Recording>& repaired);

}  // namespace service
