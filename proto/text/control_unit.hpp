#pragma once

#include <string>
#include <string_view>

#include "proto/text/text_file.hpp"

namespace proto {

/// Control unit of a motor that PWM drives: the share of the supply, from −1 to 1.
inline constexpr std::string_view kDutyUnit = "duty";

/// Largest magnitude of a motor's control signal [its unit]; 0: not stated. That of a duty is 1.
/// @param stated  in the rig file; 0: not stated
/// @param motor   place of the motor in its file
/// @throws InputError for a duty above 1
double read_control_max(const std::string& unit, double stated, const TextLocator& motor);

}  // namespace proto
