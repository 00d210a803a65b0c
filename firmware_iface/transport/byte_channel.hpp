#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// What goes wrong on a line, drawn from `seed`. Probabilities; all zero is a perfect line.
struct LineFaults {
  std::uint64_t seed = 1;
  double frame_lost = 0.0;        ///< per frame (per push)
  double frame_duplicated = 0.0;  ///< per frame: it arrives twice
  double frame_delayed = 0.0;     ///< per frame: it and what follows come up to delay_max later
  Nanoseconds delay_max = std::chrono::milliseconds(3);
  double stall = 0.0;  ///< per frame: nothing moves for up to stall_max
  Nanoseconds stall_max = std::chrono::milliseconds(100);
  double burst = 0.0;  ///< per frame: 1 to burst_size_bytes_max random bytes come before it
  int burst_size_bytes_max = 40;
  double byte_lost = 0.0;        ///< per byte
  double byte_duplicated = 0.0;  ///< per byte
  double bit_flipped = 0.0;      ///< per byte: one of its bits
};

/// How often each fault occurred.
struct LineFaultCounters {
  std::uint64_t frames_lost = 0;
  std::uint64_t frames_duplicated = 0;
  std::uint64_t frames_delayed = 0;
  std::uint64_t stalls = 0;
  std::uint64_t bursts = 0;
  std::uint64_t bytes_lost = 0;
  std::uint64_t bytes_duplicated = 0;
  std::uint64_t bits_flipped = 0;
  std::uint64_t bytes_overflowed = 0;  ///< did not fit the channel's buffer
};

struct LineSettings {
  int baud_rate = 0;       ///< paces the bytes, 10 bits each; 0: they arrive at once
  Nanoseconds latency{0};  ///< added to every byte
  LineFaults faults;
};

/// One direction of a serial line: bytes go in with a time and come out when they would arrive,
/// in order, damaged as the settings say. A state machine without a clock of its own; allocates
/// only when built.
class ByteChannel {
 public:
  static constexpr std::size_t kCapacityBytes = 8192;

  explicit ByteChannel(const LineSettings& settings);

  /// One frame starts onto the line at `now`, or when the bytes before it have left.
  void push(std::span<const std::uint8_t> frame, Nanoseconds now) noexcept;

  /// Takes out up to buffer.size() bytes that have arrived by `now`.
  std::size_t pop(std::span<std::uint8_t> buffer, Nanoseconds now) noexcept;

  /// When the next byte arrives; empty when none is under way.
  std::optional<Nanoseconds> next_arrival() const noexcept;

  /// When the next delimiter arrives, or the last byte where there is none; empty when nothing is
  /// under way. A reader who waits for frames need not wake before.
  std::optional<Nanoseconds> next_frame_end() const noexcept;

  const LineFaultCounters& counters() const noexcept { return counters_; }

  /// Faults from now on: a test switches them off to end a run in order.
  void set_faults(const LineFaults& faults) noexcept;

 private:
  struct TimedByte {
    Nanoseconds arrival{0};
    std::uint8_t value = 0;
  };

  bool happens(double probability) noexcept;
  std::uint64_t draw_below(std::uint64_t bound) noexcept;
  void push_frame(std::span<const std::uint8_t> frame, Nanoseconds now) noexcept;
  void push_byte(std::uint8_t value, Nanoseconds now) noexcept;

  LineSettings settings_;
  Nanoseconds byte_time_{0};
  Nanoseconds line_free_{0};  // when the line can take the next byte
  std::mt19937_64 random_;
  std::vector<TimedByte> ring_;
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
  LineFaultCounters counters_;
};

}  // namespace firmware_iface
