#pragma once

#include <string>

#include "service/result/calibration_message.hpp"

namespace service {

/// Section on the recorded data. For each recording it shows rate, clock, jitter, and the numbers
/// of used, omitted and missing samples, as a time line and as a list of segments and gaps.
std::string data_section(const CalibrationContext& context);

}  // namespace service
