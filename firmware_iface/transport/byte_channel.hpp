#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Probabilities of random faults of a simulated line. The random faults are generated from `seed`.
/// With all probabilities 0 the line is perfect.
struct LineFaults {
  std::uint64_t seed = 1;
  double frame_lost = 0.0;        ///< per frame (per push)
  double frame_duplicated = 0.0;  ///< per frame: it arrives twice
  double frame_delayed = 0.0;  ///< per frame: it and all later bytes arrive up to delay_max later
  Nanoseconds delay_max = std::chrono::milliseconds(3);
  double stall = 0.0;  ///< per frame: the line stops for up to stall_max
  Nanoseconds stall_max = std::chrono::milliseconds(100);
  double burst = 0.0;  ///< per frame: 1 to burst_size_bytes_max random bytes precede it
  int burst_size_bytes_max = 40;
  double byte_lost = 0.0;        ///< per byte
  double byte_duplicated = 0.0;  ///< per byte
  double bit_flipped = 0.0;      ///< per byte: one of its bits
};

/// Number of occurrences of each fault of a line.
struct LineFaultCounters {
  std::uint64_t frames_lost = 0;
  std::uint64_t frames_duplicated = 0;
  std::uint64_t frames_delayed = 0;
  std::uint64_t stalls = 0;
  std::uint64_t bursts = 0;
  std::uint64_t bytes_lost = 0;
  std::uint64_t bytes_duplicated = 0;
  std::uint64_t bits_flipped = 0;
  std::uint64_t bytes_overflowed = 0;  ///< exceeded the channel's buffer
};

struct LineSettings {
  int baud_rate = 0;       ///< limits the rate of bytes, 10 bits each; 0: they arrive at once
  Nanoseconds latency{0};  ///< added to every byte
  LineFaults faults;
};

/// One direction of a simulated serial line. Bytes are pushed with a time and can be read, in
/// order, from their arrival time on, with random faults as configured. Has no clock; allocates
/// only in the constructor.
class ByteChannel {
 public:
  static constexpr std::size_t kCapacityBytes = 8192;

  explicit ByteChannel(const LineSettings& settings);

  /// Sends a frame at the time `now`, or as soon as all earlier bytes have been sent.
  void push(std::span<const std::uint8_t> frame, Nanoseconds now) noexcept;

  /// Reads at most buffer.size() bytes that have arrived by the time `now`. Returns their number.
  std::size_t pop(std::span<std::uint8_t> buffer, Nanoseconds now) noexcept;

  /// Returns the arrival time of the next byte; nullopt if no bytes are on the way.
  std::optional<Nanoseconds> next_arrival() const noexcept;

  /// Returns the arrival time of the end of the next frame, or of the last byte if no frame is
  /// complete; nullopt if no bytes are on the way. A reader of frames need not wake earlier.
  std::optional<Nanoseconds> next_frame_end() const noexcept;

  const LineFaultCounters& counters() const noexcept { return counters_; }

  /// Replaces the fault probabilities from now on, e.g. so that a test ends without faults.
  void set_faults(const LineFaults& faults) noexcept;

 private:
  struct TimedByte {
    Nanoseconds arrival{0};
    std::uint8_t value = 0;
  };

  bool draw_random_event(double probability) noexcept;
  std::uint64_t draw_uniform_below(std::uint64_t bound) noexcept;
  void push_frame(std::span<const std::uint8_t> frame, Nanoseconds now) noexcept;
  void push_byte(std::uint8_t value, Nanoseconds now) noexcept;

  LineSettings settings_;
  Nanoseconds byte_time_{0};
  Nanoseconds line_free_{0};  // when the line can accept the next byte
  std::mt19937_64 random_;
  std::vector<TimedByte> ring_;
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
  LineFaultCounters counters_;
};

}  // namespace firmware_iface
