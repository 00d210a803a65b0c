#pragma once

#include <limits>

namespace daq {

/// What a command is held to; infinite: not limited.
struct CommandLimits {
  double command_max = std::numeric_limits<double>::infinity();             ///< magnitude
  double command_slew_per_s_max = std::numeric_limits<double>::infinity();  ///< magnitude
};

/// Those of a rig file's safety section.
/// @param command_slew_per_s_max  0: not stated, then from zero to command_max in a usual period
inline CommandLimits rig_command_limits(double command_max, double command_slew_per_s_max) {
  constexpr double kUsualPeriod_s = 1e-3;
  return {command_max,
          command_slew_per_s_max == 0.0 ? command_max / kUsualPeriod_s : command_slew_per_s_max};
}

}  // namespace daq
