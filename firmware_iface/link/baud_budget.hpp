#pragma once

#include <string>

#include "firmware_iface/result.hpp"

namespace firmware_iface {

/// Periodic traffic between unit and host.
struct LinkTraffic {
  int encoder_count = 2;
  double sample_rate_Hz = 1000.0;  ///< rate of SAMPLE from and COMMAND to the unit
  bool compact = false;
  int inertial_count = 0;  ///< largest number of inertial sensors read with one sample
  int motor_count = 1;
  bool marks = false;  ///< SAMPLE has index pulses and home switches
};

/// Capacity of a serial line and the capacity that the periodic traffic needs, in the busier
/// direction (from the unit to the host).
struct BaudBudget {
  /// Size of one SAMPLE frame plus the INERTIAL frame after it, with stuffing and delimiters. An
  /// INERTIAL frame that is sent only rarely counts too, because both frames must be sent before
  /// the next sample is due.
  int frame_size_bytes = 0;
  double available_bytes_per_s = 0.0;  ///< at 10 bits per byte
  double needed_bytes_per_s = 0.0;
  bool fits = false;  ///< needs at most kLineShareMax of the capacity

  /// Largest share of the line's capacity for periodic traffic. The rest is for replies and
  /// backlogs.
  static constexpr double kLineShareMax = 0.96;
};

BaudBudget compute_baud_budget(int baud_rate, const LinkTraffic& traffic);

/// Returns the baud budget; the error kLineTooSlow, with numbers and remedies, if the line is too
/// slow for the traffic.
Result<BaudBudget> check_baud_budget(int baud_rate, const LinkTraffic& traffic);

}  // namespace firmware_iface
