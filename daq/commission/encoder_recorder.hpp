#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// Counts of one encoder over a time interval.
struct EncoderCounts {
  double first = 0.0;  ///< at the beginning [counts]
  double last = 0.0;   ///< at the end, mean of the last tenth of a second [counts]
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  std::int64_t step_max = 0;     ///< largest change between two samples, signed
  std::int64_t recent_span = 0;  ///< highest minus lowest in the last half second
  std::uint64_t sample_count = 0;
  std::uint64_t missing_count = 0;  ///< samples without a reading of the encoder

  double change() const { return last - first; }
  std::int64_t span() const { return highest - lowest; }
};

/// Tracks the counts of all encoders of a unit.
class EncoderRecorder {
 public:
  void add(const firmware_iface::UnitSample& sample);

  int encoder_count() const { return encoder_count_; }
  EncoderCounts track(std::size_t encoder) const;

  /// Returns the time from the first to the last sample.
  double duration_s() const;

  /// Returns whether the encoder's count varied by at most kFlickerCounts in the last half second.
  bool is_still(std::size_t encoder) const;

 private:
  struct Recent {
    std::int64_t unit_time_us;
    std::uint16_t valid;
    std::array<std::int64_t, ENCODERS_MAX> counts;
  };

  int encoder_count_ = 0;
  std::int64_t first_time_us_ = 0;
  std::deque<Recent> recent_;  // of the last half second
  std::array<EncoderCounts, ENCODERS_MAX> tracks_{};
  std::array<bool, ENCODERS_MAX> seen_{};
};

/// Largest variation of the count of an encoder at rest, which may flicker at the edge between two
/// counts.
inline constexpr std::int64_t kFlickerCounts = 2;

}  // namespace daq
