#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "daq/realtime/periodic_timer.hpp"

namespace daq {

/// Distribution of a duration in bins of 1 µs. One real-time thread adds durations; any thread may
/// read concurrently and gets a recent state. Adding neither allocates nor locks.
class TimingHistogram {
 public:
  static constexpr int kBins = 2000;  ///< durations of 2 ms and more share the last bin

  /// Adds a duration; negative ones count as zero.
  void add(Nanoseconds duration) noexcept;

  std::int64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  Nanoseconds max() const noexcept { return Nanoseconds(max_.load(std::memory_order_relaxed)); }
  Nanoseconds mean() const noexcept;

  /// Returns the quantile `fraction` of the durations, 0 < fraction ≤ 1, as the upper edge of its
  /// bin [µs]. Returns max() if it is in the last bin, zero if nothing was added.
  double percentile_us(double fraction) const noexcept;

  /// Returns a text chart of the distribution, one row per doubling of the duration.
  std::string picture() const;

 private:
  std::array<std::atomic<std::int64_t>, kBins> bins_{};
  std::atomic<std::int64_t> count_{0};
  std::atomic<std::int64_t> sum_{0};  // [ns]
  std::atomic<std::int64_t> max_{0};  // [ns]
};

}  // namespace daq
