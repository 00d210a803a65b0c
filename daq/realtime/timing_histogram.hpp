#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "daq/realtime/periodic_timer.hpp"

namespace daq {

/// Distribution of a duration in bins of 1 µs. One real-time thread adds; any thread may read
/// while it does and then sees a recent state. Adding neither allocates nor locks.
class TimingHistogram {
 public:
  static constexpr int kBins = 2000;  ///< durations of 2 ms and more share the last bin

  /// Negative durations count as zero.
  void add(Nanoseconds duration) noexcept;

  std::int64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  Nanoseconds max() const noexcept { return Nanoseconds(max_.load(std::memory_order_relaxed)); }
  Nanoseconds mean() const noexcept;

  /// Upper edge of the bin below which the share `fraction` of all durations lies [µs], 0 <
  /// fraction ≤ 1. For durations in the last bin this is max(). Zero when nothing was added.
  double percentile_us(double fraction) const noexcept;

  /// A text picture of the distribution, one row per doubling of the duration.
  std::string picture() const;

 private:
  std::array<std::atomic<std::int64_t>, kBins> bins_{};
  std::atomic<std::int64_t> count_{0};
  std::atomic<std::int64_t> sum_{0};  // [ns]
  std::atomic<std::int64_t> max_{0};  // [ns]
};

}  // namespace daq
