#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Straight line from unit time to host time:
///
///   host = host_reference + (unit − unit_reference) / (1 + rate_error).
struct ClockFit {
  bool valid = false;            ///< from about half a second on; all numbers are finite
  double rate_error_ppm = 0.0;   ///< unit seconds per host second, minus 1; positive: unit fast
  double rate_sigma_ppm = 0.0;   ///< standard deviation of rate_error_ppm
  double residual_rms_us = 0.0;  ///< of the block minima that were used
  std::int64_t unit_reference_us = 0;
  Nanoseconds host_reference{0};
  std::size_t blocks_used = 0;
  std::size_t blocks_rejected = 0;  ///< outliers: blocks in which every sample was slow
};

/// Maps the unit's clock to the host's. A sample is stamped by the unit when latched and by the
/// host when read; the difference is the clocks' relation plus a delay that is never negative and
/// sometimes long. So only the fastest sample of each block of time enters a least-squares line,
/// and blocks whose fastest is still slow are rejected by their distance to the median residual
/// (3 robust standard deviations, from below and above, iterated).
///
/// Memory is fixed: when all blocks are in use, neighbours are merged and blocks double in length,
/// so the line always spans the whole session. Never allocates; O(blocks) once per block.
class UnitClock {
 public:
  static constexpr std::size_t kBlocksMax = 256;
  static constexpr std::int64_t kFirstBlockUs = 125'000;

  /// One sample: unwrapped unit clock when latched, host clock when received.
  void observe(std::int64_t unit_us, Nanoseconds host) noexcept;

  /// Starts anew, e.g. after the unit was reset.
  void reset() noexcept { *this = UnitClock(); }

  const ClockFit& fit() const noexcept { return fit_; }

 private:
  // The fastest sample of a block, relative to the first sample observed.
  struct Block {
    double unit_s;
    double delay_s;  // (host − host_first) − (unit − unit_first)
  };

  void close_block() noexcept;
  void merge_blocks() noexcept;
  void refit() noexcept;
  bool fit_line(double& offset, double& slope) const noexcept;
  std::size_t reject_outliers(double offset, double slope) noexcept;

  bool started_ = false;
  std::int64_t unit_first_us_ = 0;
  Nanoseconds host_first_{0};
  std::int64_t block_length_us_ = kFirstBlockUs;
  std::int64_t block_end_us_ = 0;
  bool block_open_ = false;
  Block current_{};
  std::array<Block, kBlocksMax> blocks_{};
  std::array<bool, kBlocksMax> used_{};
  std::array<double, kBlocksMax> scratch_{};
  std::size_t block_count_ = 0;
  ClockFit fit_;
};

}  // namespace firmware_iface
