#pragma once

#include <string>

#include "firmware_iface/result.hpp"

namespace firmware_iface {

/// Periodic traffic between unit and host.
struct Traffic {
  int encoder_count = 2;
  double sample_rate_Hz = 1000.0;  ///< rate of SAMPLE from and COMMAND to the unit
  bool compact = false;
  int inertial_count = 0;  ///< largest number of inertial sensors read with one sample
  int motor_count = 1;
  bool marks = false;  ///< index pulses and home switches
};

/// Capacity of a line and need of the traffic, in the busier direction (from the unit).
struct BaudBudget {
  /// Size of one SAMPLE on the line, with stuffing and delimiter, plus the INERTIAL after it,
  /// however rare: both must be sent before the next sample is due.
  int frame_size_bytes = 0;
  double available_bytes_per_s = 0.0;  ///< at 10 bits per byte
  double needed_bytes_per_s = 0.0;
  bool fits = false;  ///< needs at most kLineShareMax of the capacity

  /// The rest is for replies and for clearing a backlog.
  static constexpr double kLineShareMax = 0.96;
};

BaudBudget baud_budget(int baud_rate, const Traffic& traffic);

/// Returns kLineTooSlow, with the numbers and remedies, if the line is too slow for the traffic.
Result<BaudBudget> check_baud_budget(int baud_rate, const Traffic& traffic);

}  // namespace firmware_iface
