#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "firmware_iface/transport/descriptor.hpp"

namespace daq {

using Nanoseconds = std::chrono::nanoseconds;

inline double microseconds(Nanoseconds duration) {
  return static_cast<double>(duration.count()) * 1e-3;
}

using firmware_iface::monotonic_now;  // the clock of all deadlines here

/// Sleeps until an absolute time of CLOCK_MONOTONIC; returns at once if it has passed.
void sleep_until(Nanoseconds deadline) noexcept;

/// Next deadline of a periodic timer: the first of the times deadline + k·period (k ≥ 1) after
/// `now`, and the number of skipped times before it.
struct NextDeadline {
  Nanoseconds deadline;
  std::int64_t skipped;
};
NextDeadline compute_next_deadline(Nanoseconds deadline, Nanoseconds period,
                                   Nanoseconds now) noexcept;

/// Timer with absolute deadlines, one period apart. If a caller is late, it skips and counts the
/// missed deadlines. Later deadlines do not change.
class PeriodicTimer {
 public:
  /// Creates a timer whose first deadline is one period from now. `period` > 0.
  explicit PeriodicTimer(Nanoseconds period) noexcept;

  /// Returns the deadline of the last call of wait(). Before the first call, returns the first
  /// deadline.
  Nanoseconds deadline() const noexcept { return deadline_; }

  /// Sleeps until the next deadline; returns the number of deadlines skipped.
  std::int64_t wait() noexcept;

 private:
  Nanoseconds period_;
  Nanoseconds deadline_;
};

/// Histogram of durations in bins of 1 µs. One real-time thread adds durations without allocation
/// or locks. Any thread may read concurrently and gets a recent state.
class TimingHistogram {
 public:
  static constexpr int kBins = 2000;  ///< durations of 2 ms and more share the last bin

  /// Adds a duration to the histogram. A negative duration counts as zero.
  void add(Nanoseconds duration) noexcept;

  std::int64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  Nanoseconds max() const noexcept { return Nanoseconds(max_.load(std::memory_order_relaxed)); }
  Nanoseconds mean() const noexcept;

  /// Returns the quantile `fraction` of the durations, 0 < fraction ≤ 1, as the upper edge of its
  /// bin [µs]; max() if the quantile is in the last bin, zero if nothing was added.
  double percentile_us(double fraction) const noexcept;

  /// Returns a text chart of the distribution, one row per doubling of the duration.
  std::string text_chart() const;

 private:
  std::array<std::atomic<std::int64_t>, kBins> bins_{};
  std::atomic<std::int64_t> count_{0};
  std::atomic<std::int64_t> sum_{0};  // [ns]
  std::atomic<std::int64_t> max_{0};  // [ns]
};

}  // namespace daq
