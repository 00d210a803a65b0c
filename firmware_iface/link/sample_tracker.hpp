#pragma once

#include <array>
#include <cstdint>

#include "firmware_iface/link/encoder_unwrap.hpp"
#include "firmware_iface/link/unit_sample.hpp"
#include "firmware_iface/wire/sample.h"

namespace firmware_iface {

/// How many bits of the counters travel in a sample.
struct CounterBits {
  int sequence;
  int tick_us;
  int encoder_counts;
};
inline constexpr CounterBits kFullBits{16, 32, 32};
inline constexpr CounterBits kCompactBits{8, 24, 24};

/// Rebuilds sequence, time and counts of one stream and finds its gaps. Sequence and clock advance
/// together, one period a sample; a report in which they disagree is not believed.
class SampleTracker {
 public:
  enum class Verdict {
    kNext,         ///< the next sample, possibly after a gap
    kRepeated,     ///< one from before, by its clock and its sequence
    kImplausible,  ///< sequence and clock contradict each other
  };

  SampleTracker() = default;

  /// @param bits           what the stream's format carries
  /// @param start_tick_us  unit clock of sample 0
  /// @param period_us      unit time between samples; 0: not periodic (host-paced)
  /// @param asked          host clock when the stream was first asked for, before sample 0
  /// @param facts          the unit's encoders
  SampleTracker(CounterBits bits, std::uint32_t start_tick_us, double period_us, Nanoseconds asked,
                const UnitFacts& facts) noexcept;

  /// With kNext fills sequence, lost_before, unit_time_us, received, counts and validity of
  /// `sample`; else leaves it alone.
  Verdict follow(const sample_report& report, Nanoseconds received, UnitSample& sample) noexcept;

  /// Sequence of the next sample: received and lost ones before it.
  std::uint64_t next_sequence() const noexcept { return next_sequence_; }

 private:
  bool is_repeated(std::uint64_t sequence, std::int64_t elapsed_us,
                   std::uint64_t mask) const noexcept;

  CounterBits bits_ = kFullBits;
  double period_us_ = 0.0;
  int encoder_count_ = 0;
  std::uint64_t next_sequence_ = 0;
  std::int64_t last_time_us_ = 0;        // of sample next_sequence_ − 1, were it periodic
  std::int64_t host_minus_unit_us_ = 0;  // the least seen, but for the clocks' drift
  std::array<EncoderUnwrap, ENCODERS_MAX> unwrap_{};
};

}  // namespace firmware_iface
