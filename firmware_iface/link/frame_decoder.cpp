#include "firmware_iface/link/frame_decoder.hpp"

namespace firmware_iface {

bool FrameDecoder::push(std::uint8_t byte) noexcept {
  if (byte == 0) return finish_frame();
  if (skipping_) return false;
  if (stuffed_size_bytes_ == stuffed_.size()) {
    skipping_ = true;
    return false;
  }
  stuffed_[stuffed_size_bytes_++] = byte;
  return false;
}

bool FrameDecoder::finish_frame() noexcept {
  const std::size_t stuffed_size_bytes = stuffed_size_bytes_;
  const bool too_long = skipping_;
  stuffed_size_bytes_ = 0;
  skipping_ = false;
  if (too_long) {
    ++counters_.too_long;
    return false;
  }
  if (stuffed_size_bytes == 0) return false;  // delimiters may be repeated to clear the line
  switch (
      frame_decode(stuffed_.data(), stuffed_size_bytes, message_.data(), &message_size_bytes_)) {
    case FRAME_OK:
      ++counters_.good;
      return true;
    case FRAME_BAD_STUFFING:
      ++counters_.bad_stuffing;
      break;
    case FRAME_BAD_LENGTH:
      ++counters_.bad_length;
      break;
    case FRAME_UNKNOWN_TYPE:
      ++counters_.unknown_type;
      break;
    case FRAME_BAD_CRC:
      ++counters_.bad_crc;
      break;
  }
  return false;
}

void FrameDecoder::reset() noexcept {
  stuffed_size_bytes_ = 0;
  skipping_ = false;
}

}  // namespace firmware_iface
