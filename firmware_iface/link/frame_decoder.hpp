#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "firmware_iface/wire/frame.h"

namespace firmware_iface {

/// Numbers of valid frames, and of dropped frames by reason.
struct FrameCounters {
  std::uint64_t good = 0;
  std::uint64_t bad_stuffing = 0;
  std::uint64_t bad_length = 0;
  std::uint64_t unknown_type = 0;
  std::uint64_t bad_crc = 0;
  std::uint64_t too_long = 0;  ///< no delimiter within the longest frame

  std::uint64_t damaged_count() const noexcept {
    return bad_stuffing + bad_length + unknown_type + bad_crc + too_long;
  }
};

/// Finds the frames in a byte stream, and counts valid and dropped frames. Buffers one frame; never
/// allocates.
class FrameDecoder {
 public:
  /// Adds a byte. Returns true if the byte completes a valid frame; message() then returns the
  /// frame's message.
  bool push(std::uint8_t byte) noexcept;

  /// Returns the message (type and body) of the last valid frame. The reference is valid until the
  /// next push().
  std::span<const std::uint8_t> message() const noexcept {
    return {receiver_.message, receiver_.message_size_bytes};
  }

  const FrameCounters& counters() const noexcept { return counters_; }

  /// Discards an incomplete frame, e.g. after the line was flushed; keeps the counters.
  void reset() noexcept { receiver_ = {}; }

 private:
  frame_receiver receiver_{};
  FrameCounters counters_;
};

}  // namespace firmware_iface
