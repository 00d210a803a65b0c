#pragma once

#include <string>

#include "proto/rig.pb.h"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns the limits of a motor's command. A limit given for the motor takes precedence over the
/// limit given for all motors.
inline CommandSafety command_safety(const rigcal::v1::Safety& safety, const std::string& motor) {
  CommandSafety limits{safety.command_max(), safety.command_slew_per_s_max()};
  for (const rigcal::v1::MotorSafety& own : safety.motor()) {
    if (own.joint() != motor) continue;
    if (own.command_max() > 0.0) limits.command_max = own.command_max();
    if (own.command_slew_per_s_max() > 0.0) {
      limits.command_slew_per_s_max = own.command_slew_per_s_max();
    }
  }
  return limits;
}

}  // namespace service
