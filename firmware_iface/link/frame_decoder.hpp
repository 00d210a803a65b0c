#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "firmware_iface/wire/frame.h"

namespace firmware_iface {

/// Frames that were dropped, by what was wrong with them, and the frames that were not.
struct FrameCounters {
  std::uint64_t good = 0;
  std::uint64_t bad_stuffing = 0;
  std::uint64_t bad_length = 0;
  std::uint64_t unknown_type = 0;
  std::uint64_t bad_crc = 0;
  std::uint64_t too_long = 0;  ///< no delimiter within the longest frame

  std::uint64_t damaged() const noexcept {
    return bad_stuffing + bad_length + unknown_type + bad_crc + too_long;
  }
};

/// A frame_receiver (wire/frame.h) that counts. Holds one frame; never allocates.
class FrameDecoder {
 public:
  /// Takes the next byte. True when it completed a good frame; message() is then its message.
  bool push(std::uint8_t byte) noexcept;

  /// Type and body of the frame completed last, valid until the next push().
  std::span<const std::uint8_t> message() const noexcept {
    return {receiver_.message, receiver_.message_size_bytes};
  }

  const FrameCounters& counters() const noexcept { return counters_; }

  /// Forgets a frame in progress, e.g. after the line was flushed; keeps the counters.
  void reset() noexcept { receiver_ = {}; }

 private:
  frame_receiver receiver_{};
  FrameCounters counters_;
};

}  // namespace firmware_iface
