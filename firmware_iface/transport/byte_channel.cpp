#include "firmware_iface/transport/byte_channel.hpp"

#include <algorithm>
#include <cassert>

#include "firmware_iface/wire/limits.h"

namespace firmware_iface {

ByteChannel::ByteChannel(const LineSettings& settings)
    : settings_(settings), random_(settings.faults.seed), ring_(kCapacityBytes) {
  assert(settings.baud_rate >= 0);
  if (settings.baud_rate > 0) {
    byte_time_ =
        Nanoseconds(std::int64_t{BITS_PER_BYTE_ON_THE_LINE} * 1'000'000'000 / settings.baud_rate);
  }
}

void ByteChannel::set_faults(const LineFaults& faults) noexcept {
  settings_.faults = faults;
  random_.seed(faults.seed);
}

bool ByteChannel::draw_random_event(double probability) noexcept {
  // Own distributions, because those of the standard library may differ between implementations.
  // The engine does not, so a seed gives the same run everywhere.
  return probability > 0.0 && static_cast<double>(random_() >> 11) * 0x1.0p-53 < probability;
}

std::uint64_t ByteChannel::draw_uniform_below(std::uint64_t bound) noexcept {
  return random_() % bound;
}

void ByteChannel::push(std::span<const std::uint8_t> frame, Nanoseconds now) noexcept {
  const LineFaults& faults = settings_.faults;
  if (draw_random_event(faults.frame_lost)) {
    ++counters_.frames_lost;
    return;
  }
  const auto hold = [&](Nanoseconds longest) {
    const auto bound = static_cast<std::uint64_t>(std::max<std::int64_t>(longest.count(), 1));
    line_free_ = std::max(line_free_, now) +
                 Nanoseconds(static_cast<std::int64_t>(draw_uniform_below(bound)));
  };
  if (draw_random_event(faults.frame_delayed)) {
    ++counters_.frames_delayed;
    hold(faults.delay_max);
  }
  if (draw_random_event(faults.stall)) {
    ++counters_.stalls;
    hold(faults.stall_max);
  }
  if (draw_random_event(faults.burst)) {
    ++counters_.bursts;
    const std::uint64_t longest =
        static_cast<std::uint64_t>(std::max(faults.burst_size_bytes_max, 1));
    for (std::uint64_t left = 1 + draw_uniform_below(longest); left > 0; --left) {
      push_byte(static_cast<std::uint8_t>(draw_uniform_below(256)), now);
    }
  }
  push_frame(frame, now);
  if (draw_random_event(faults.frame_duplicated)) {
    ++counters_.frames_duplicated;
    push_frame(frame, now);
  }
}

void ByteChannel::push_frame(std::span<const std::uint8_t> frame, Nanoseconds now) noexcept {
  const LineFaults& faults = settings_.faults;
  for (std::uint8_t value : frame) {
    if (draw_random_event(faults.byte_lost)) {
      ++counters_.bytes_lost;
      continue;
    }
    if (draw_random_event(faults.bit_flipped)) {
      ++counters_.bits_flipped;
      value = static_cast<std::uint8_t>(value ^ (1U << draw_uniform_below(8)));
    }
    push_byte(value, now);
    if (draw_random_event(faults.byte_duplicated)) {
      ++counters_.bytes_duplicated;
      push_byte(value, now);
    }
  }
}

void ByteChannel::push_byte(std::uint8_t value, Nanoseconds now) noexcept {
  if (count_ == ring_.size()) {
    ++counters_.bytes_overflowed;
    return;
  }
  line_free_ = std::max(line_free_, now) + byte_time_;
  ring_[(begin_ + count_) % ring_.size()] = {line_free_ + settings_.latency, value};
  ++count_;
}

std::size_t ByteChannel::pop(std::span<std::uint8_t> buffer, Nanoseconds now) noexcept {
  std::size_t size_bytes = 0;
  while (size_bytes < buffer.size() && count_ > 0 && ring_[begin_].arrival <= now) {
    buffer[size_bytes++] = ring_[begin_].value;
    begin_ = (begin_ + 1) % ring_.size();
    --count_;
  }
  return size_bytes;
}

std::optional<Nanoseconds> ByteChannel::next_arrival() const noexcept {
  if (count_ == 0) return std::nullopt;
  return ring_[begin_].arrival;
}

std::optional<Nanoseconds> ByteChannel::next_frame_end() const noexcept {
  if (count_ == 0) return std::nullopt;
  for (std::size_t k = 0; k + 1 < count_; ++k) {
    const TimedByte& byte = ring_[(begin_ + k) % ring_.size()];
    if (byte.value == 0) return byte.arrival;
  }
  return ring_[(begin_ + count_ - 1) % ring_.size()].arrival;
}

}  // namespace firmware_iface
