#pragma once

#include <string>

#include "service/result/calibration_message.hpp"

namespace service {

/// Returns an HTML section on the recorded data. For each recording it shows sampling rate, clock
/// error, jitter, and the numbers of used, omitted and missing samples. A time line and a list show
/// segments and gaps.
std::string data_section(const CalibrationContext& context);

}  // namespace service
