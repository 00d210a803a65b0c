#pragma once

#include <limits>

namespace daq {

/// Limits of a motor's command [its unit]; infinite if not limited.
struct CommandLimits {
  double command_max = std::numeric_limits<double>::infinity();             ///< magnitude
  double command_slew_per_s_max = std::numeric_limits<double>::infinity();  ///< magnitude
};

/// Returns the command limits given in a rig file's safety section.
/// @param command_slew_per_s_max  0 if not given; the command may then change from zero to
///     command_max in 1 ms
inline CommandLimits rig_command_limits(double command_max, double command_slew_per_s_max) {
  constexpr double kUsualPeriod_s = 1e-3;
  return {command_max,
          command_slew_per_s_max == 0.0 ? command_max / kUsualPeriod_s : command_slew_per_s_max};
}

}  // namespace daq
