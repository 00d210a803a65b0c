#pragma once

#include <string>

#include "firmware_iface/result.hpp"

namespace firmware_iface {

/// The periodic traffic between unit and host.
struct Traffic {
  int encoder_count = 2;
  double sample_rate_Hz = 1000.0;  ///< of SAMPLE one way and COMMAND the other
  bool compact = false;
  int inertial_count = 0;  ///< inertial sensors read, at most so many with one sample
  int motor_count = 1;
  bool marks = false;  ///< index pulses and home switches
};

/// What a line carries and what the traffic needs, for the busier direction (samples).
struct BaudBudget {
  /// One SAMPLE on the line, stuffing and delimiter included, and the INERTIAL behind it: it must
  /// be gone before the next sample, however seldom it comes, or that would be late.
  int frame_size_bytes = 0;
  double available_bytes_per_s = 0.0;  ///< at 10 bits a byte
  double needed_bytes_per_s = 0.0;
  bool fits = false;  ///< needs at most kLineShareMax of the line

  /// The rest is for replies, and lets a backlog drain.
  static constexpr double kLineShareMax = 0.96;
};

BaudBudget baud_budget(int baud_rate, const Traffic& traffic);

/// kLineTooSlow with the arithmetic and the ways out when the line does not carry the traffic.
Result<BaudBudget> check_baud_budget(int baud_rate, const Traffic& traffic);

}  // namespace firmware_iface
