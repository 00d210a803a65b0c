#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns the sensor readings that the repair of recordings rejected. They are in the original
/// recordings `read` and missing in the repaired recordings.
std::vector<RejectedReading> rejected_readings(const std::vector<estimator::Recording>& read,
                                               const std::vector<estimator::Recording>& repaired);

}  // namespace service
