#pragma once

#include <array>
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

/// Finds messages in a byte stream that may be damaged in any way. Whatever came before, the frame
/// after the next delimiter is read correctly. Holds one frame; never allocates.
class FrameDecoder {
 public:
  /// Takes the next byte. True when it completed a good frame; message() is then its message.
  bool push(std::uint8_t byte) noexcept;

  /// Type and body of the frame completed last, valid until the next push().
  std::span<const std::uint8_t> message() const noexcept {
    return {message_.data(), message_size_bytes_};
  }

  const FrameCounters& counters() const noexcept { return counters_; }

  /// Forgets a frame in progress, e.g. after the line was flushed; keeps the counters.
  void reset() noexcept;

 private:
  bool finish_frame() noexcept;

  std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> stuffed_{};
  std::size_t stuffed_size_bytes_ = 0;
  bool skipping_ = false;  // too long: wait for the delimiter
  std::array<std::uint8_t, MESSAGE_SIZE_BYTES_MAX> message_{};
  std::size_t message_size_bytes_ = 0;
  FrameCounters counters_;
};

}  // namespace firmware_iface
