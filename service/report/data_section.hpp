#pragma once

#include <string>

#include "service/result/calibration_message.hpp"

namespace service {

/// What was measured and what of it was used: for each recording its rate, clock, jitter, samples
/// used, left out and missing, drawn along time and listed by segments and gaps.
std::string data_section(const CalibrationContext& context);

}  // namespace service
