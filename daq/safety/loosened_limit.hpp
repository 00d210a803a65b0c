#pragma once

#include <string>

#include "daq/safety/safety_limits.hpp"

namespace daq {

/// Returns a limit of `present` that permits more than the same limit of `before`, as a clause such
/// as `angle_rad_max of joint "arm" was loosened from 2 to 3`; empty if there is none. Also reports
/// a check that is omitted, and limits of different joints, motors or inertial sensors. NaN is
/// looser than any number.
std::string find_loosened_limit(const SafetyLimits& present, const SafetyLimits& before);

}  // namespace daq
