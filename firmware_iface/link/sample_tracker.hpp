#pragma once

#include <array>
#include <cstdint>

#include "firmware_iface/link/encoder_unwrap.hpp"
#include "firmware_iface/link/unit_sample.hpp"
#include "firmware_iface/wire/sample.h"

namespace firmware_iface {

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
  enum class Verdict {
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
                const UnitFacts& facts) noexcept;

  /// Evaluates a sample report. For kNext, fills sequence, lost_before, unit_time_us, received,
  /// counts and validity of `sample`; otherwise leaves it unchanged.
  Verdict process_report(const sample_report& report, Nanoseconds received,
                         UnitSample& sample) noexcept;

  /// Returns the sequence of the next sample, i.e. the number of received and lost samples so far.
  std::uint64_t next_sequence() const noexcept { return next_sequence_; }

 private:
  bool is_repeated(std::uint64_t sequence, std::int64_t elapsed_us,
                   std::uint64_t mask) const noexcept;

  CounterBits bits_ = kFullBits;
  double period_us_ = 0.0;
  int encoder_count_ = 0;
  std::uint64_t next_sequence_ = 0;
  std::int64_t last_time_us_ = 0;        // of sample next_sequence_ − 1, as if it were periodic
  std::int64_t host_minus_unit_us_ = 0;  // smallest so far, with an allowance for clock drift
  std::array<EncoderUnwrap, ENCODERS_MAX> unwrap_{};
};

}  // namespace firmware_iface
