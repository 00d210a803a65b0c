#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// Counts of one encoder over a stretch of time.
struct EncoderTrack {
  double first = 0.0;  ///< at the beginning [counts]
  double last = 0.0;   ///< at the end, mean of the last tenth of a second [counts]
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  std::int64_t step_max = 0;     ///< largest change from one sample to the next, signed
  std::int64_t recent_span = 0;  ///< highest minus lowest of the last half second
  std::uint64_t sample_count = 0;
  std::uint64_t missing_count = 0;  ///< samples in which the encoder was not read

  double change() const { return last - first; }
  std::int64_t span() const { return highest - lowest; }
};

/// Follows the counts of all encoders of a unit.
class EncoderWatch {
 public:
  void add(const firmware_iface::UnitSample& sample);

  int encoder_count() const { return encoder_count_; }
  EncoderTrack track(std::size_t encoder) const;

  /// Time from the first sample to the last.
  double duration_s() const;

  /// True once the encoder has counted for half a second without more than flicker.
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
  std::array<EncoderTrack, ENCODERS_MAX> tracks_{};
  std::array<bool, ENCODERS_MAX> seen_{};
};

/// An encoder at rest on the border between two counts goes to and fro.
inline constexpr std::int64_t kFlickerCounts = 2;

}  // namespace daq
