#pragma once

#include <chrono>
#include <cstdint>

#include "firmware_iface/transport/descriptor.hpp"

namespace daq {

using Nanoseconds = std::chrono::nanoseconds;

inline double microseconds(Nanoseconds duration) {
  return static_cast<double>(duration.count()) * 1e-3;
}

using firmware_iface::monotonic_now;  // the clock of all deadlines here

/// Sleeps until an absolute time of CLOCK_MONOTONIC; returns at once if it has passed.
void sleep_until(Nanoseconds deadline) noexcept;

/// Result of next_deadline: the first of the times deadline + k·period, k ≥ 1, that is after `now`,
/// and the number of such times skipped before it.
struct NextDeadline {
  Nanoseconds deadline;
  std::int64_t skipped;
};
NextDeadline next_deadline(Nanoseconds deadline, Nanoseconds period, Nanoseconds now) noexcept;

/// Timer with absolute deadlines, one period apart. A late caller skips the missed deadlines and
/// gets their number. The later deadlines do not move.
class PeriodicTimer {
 public:
  /// Creates a timer whose first deadline is one period from now. `period` > 0.
  explicit PeriodicTimer(Nanoseconds period) noexcept;

  /// Returns the deadline of the last wait(); the first deadline if there was no wait().
  Nanoseconds deadline() const noexcept { return deadline_; }

  /// Sleeps until the next deadline; returns the number of deadlines skipped.
  std::int64_t wait() noexcept;

 private:
  Nanoseconds period_;
  Nanoseconds deadline_;
};

}  // namespace daq
