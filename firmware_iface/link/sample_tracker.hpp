#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "firmware_iface/link/unit_sample.hpp"
#include "firmware_iface/wire/sample.h"

namespace firmware_iface {

/// Reconstructs a counter of which only the low bits were sent: returns the value closest to
/// `reference` whose low `bits` bits are `low`, 1 <= bits <= 32.
inline std::int64_t extend_counter(std::int64_t reference, std::uint32_t low, int bits) noexcept {
  assert(bits >= 1 && bits <= 32);
  const std::int64_t modulus = std::int64_t{1} << bits;
  std::int64_t delta = (static_cast<std::int64_t>(low) - reference) & (modulus - 1);
  if (delta > modulus / 2) delta -= modulus;
  return reference + delta;
}

/// Unwraps the count of one encoder, which wraps around at a modulus. Correct if the encoder turns
/// less than half the modulus between two valid samples.
class EncoderUnwrapper {
 public:
  EncoderUnwrapper() = default;

  /// @param modulus  counts run from 0 to modulus − 1; 0: signed, with all `bits` bits
  /// @param bits     number of transmitted bits of a count; 2^bits is at least the modulus
  EncoderUnwrapper(std::uint32_t modulus, int bits) noexcept
      : is_signed_(modulus == 0),
        mask_((std::int64_t{1} << bits) - 1),
        modulus_(is_signed_ ? mask_ + 1 : std::int64_t{modulus}) {}

  /// Adds a transmitted count that was sign-extended. Returns false, with counts() unchanged, if
  /// the count is not below the modulus.
  bool update(std::int32_t counts_sent) noexcept {
    const std::int64_t low = counts_sent & mask_;
    if (low >= modulus_) return false;
    // The first count is used as sent, including its sign.
    const std::int64_t first = is_signed_ ? std::int64_t{counts_sent} : low;
    counts_ = started_ ? counts_ + nearest_count_change(low) : first;
    started_ = true;
    return true;
  }

  /// Returns the last valid unwrapped count; 0 before the first one.
  std::int64_t counts() const noexcept { return counts_; }

 private:
  std::int64_t nearest_count_change(std::int64_t low) const noexcept {
    std::int64_t change = (low - counts_) % modulus_;
    if (change < 0) change += modulus_;
    return change > modulus_ / 2 ? change - modulus_ : change;
  }

  bool is_signed_ = true;
  std::int64_t mask_ = 0xFFFFFFFF;
  std::int64_t modulus_ = std::int64_t{1} << 32;
  bool started_ = false;
  std::int64_t counts_ = 0;
};

/// Number of transmitted bits of each counter in a sample.
struct CounterBits {
  int sequence;
  int tick_us;
  int encoder_counts;
};
inline constexpr CounterBits kFullBits{16, 32, 32};
inline constexpr CounterBits kCompactBits{8, 24, 24};

/// Reconstructs the full sequence numbers, times and encoder counts of the samples of one stream,
/// and finds gaps. Sequence number and unit clock advance together, one period per sample. A sample
/// report in which they disagree is rejected.
class SampleTracker {
 public:
  enum class ReportVerdict {
    kNext,         ///< the next sample, possibly after a gap
    kRepeated,     ///< an earlier sample, by its clock and its sequence
    kImplausible,  ///< sequence and clock contradict each other
  };

  SampleTracker() = default;

  /// @param bits           counter bits of the stream's format
  /// @param start_tick_us  unit clock of sample 0
  /// @param period_us      unit time between samples; 0: not periodic (host-paced)
  /// @param asked          host clock when the stream was first requested, before sample 0
  /// @param facts          description of the unit's encoders
  SampleTracker(CounterBits bits, std::uint32_t start_tick_us, double period_us, Nanoseconds asked,
                const UnitDescription& facts) noexcept;

  /// Checks whether a sample report continues the stream. If so (kNext), fills sequence,
  /// lost_before, unit_time_us, received, counts and validity of `sample`; otherwise `sample` does
  /// not change.
  ReportVerdict process_sample_report(const sample_report& report, Nanoseconds received,
                                      UnitSample& sample) noexcept;

  /// Returns the sequence number of the next sample, which is the number of received and lost
  /// samples so far.
  std::uint64_t next_sequence() const noexcept { return next_sequence_; }

 private:
  bool is_repeated_sample(std::uint64_t sequence, std::int64_t elapsed_us,
                          std::uint64_t mask) const noexcept;

  CounterBits bits_ = kFullBits;
  double period_us_ = 0.0;
  int encoder_count_ = 0;
  std::uint64_t next_sequence_ = 0;
  std::int64_t last_time_us_ = 0;        // of sample next_sequence_ − 1, as if it were periodic
  std::int64_t host_minus_unit_us_ = 0;  // smallest so far, with an allowance for clock drift
  std::array<EncoderUnwrapper, ENCODERS_MAX> unwrap_{};
};

}  // namespace firmware_iface
