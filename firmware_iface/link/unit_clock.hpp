#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Linear fit from the time of the unit's clock to the time of the host's clock:
///
///   host = host_reference + (unit − unit_reference) / (1 + rate_error).
struct ClockFit {
  bool valid = false;            ///< from about half a second on; then all numbers are finite
  double rate_error_ppm = 0.0;   ///< unit seconds per host second, minus 1; positive: unit fast
  double rate_sigma_ppm = 0.0;   ///< standard deviation of rate_error_ppm
  double residual_rms_us = 0.0;  ///< of the block minima in use
  std::int64_t unit_reference_us = 0;
  Nanoseconds host_reference{0};
  std::size_t blocks_used = 0;
  std::size_t blocks_rejected = 0;  ///< outliers: blocks in which every sample was delayed
};

/// Estimates the line that relates the unit's clock to the host's clock. Each sample has two time
/// stamps, one from the unit at its latch and one from the host on arrival. Their difference
/// contains a delay that is never negative and sometimes long, so only the fastest sample of each
/// block of time enters the least-squares fit. Blocks whose fastest sample is still delayed are
/// rejected by their distance from the median residual (3 robust standard deviations, to both
/// sides, iterated).
///
/// Memory is fixed: when all blocks are in use, neighbours are merged and the block length doubles,
/// so the line always covers the whole session. Never allocates; O(blocks) once per block.
class UnitClockEstimator {
 public:
  static constexpr std::size_t kBlocksMax = 256;
  static constexpr std::int64_t kFirstBlockUs = 125'000;

  /// Adds the two times of a sample: the unwrapped unit clock at its latch, and the host clock on
  /// arrival.
  void add_sample_times(std::int64_t unit_us, Nanoseconds host) noexcept;

  /// Discards all samples, e.g. after the unit was reset.
  void reset() noexcept { *this = UnitClockEstimator(); }

  const ClockFit& fit() const noexcept { return fit_; }

 private:
  // Fastest sample of a block, relative to the first sample.
  struct FastestSample {
    double unit_s;
    double delay_s;        // (host − host_first) − (unit − unit_first)
    bool is_used = false;  // in the fit
  };

  // delay = offset + slope · unit
  struct Line {
    double offset, slope;
    double spread;  // Σ (unit − mean)² of the used blocks
    std::size_t count;
  };

  static double residual(const FastestSample& block, double slope) noexcept {
    return block.delay_s - slope * block.unit_s;
  }
  double present_slope() const noexcept;
  // Returns the delay of a sample relative to the present line, up to a constant.
  double lateness(const FastestSample& sample) const noexcept;
  std::span<FastestSample> blocks() noexcept { return std::span(blocks_).first(block_count_); }
  void finish_block() noexcept;
  void merge_blocks() noexcept;
  void refit() noexcept;
  std::optional<Line> fit_line() noexcept;
  double median_residual(double slope) noexcept;
  double median_distance(double slope) noexcept;
  void reject_outliers(double slope) noexcept;

  bool started_ = false;
  std::int64_t unit_first_us_ = 0;
  Nanoseconds host_first_{0};
  std::int64_t block_length_us_ = kFirstBlockUs;
  std::int64_t block_end_us_ = 0;
  bool block_open_ = false;
  FastestSample current_{};
  std::array<FastestSample, kBlocksMax> blocks_{};
  std::array<double, kBlocksMax> scratch_{};
  std::size_t block_count_ = 0;
  ClockFit fit_;
};

}  // namespace firmware_iface
