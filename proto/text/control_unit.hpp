#pragma once

#include <string>
#include <string_view>

#include "proto/text/text_file.hpp"

namespace proto {

/// Control unit of a PWM motor: the share of the supply voltage, from −1 to 1.
inline constexpr std::string_view kDutyUnit = "duty";

/// Returns the largest magnitude of a motor's control signal [its unit]; 0: not given. For a duty
/// it is at most 1, and 1 by default.
/// @param stated  value in the rig file; 0: not given
/// @param motor   location of the motor in its file
/// @throws InputError for a duty above 1
double read_control_max(const std::string& unit, double stated, const TextLocator& motor);

}  // namespace proto
