#include "firmware_iface/link/frame_decoder.hpp"

namespace firmware_iface {

bool FrameDecoder::push(std::uint8_t byte) noexcept {
  switch (frame_receiver_push(&receiver_, byte)) {
    case FRAME_PENDING:
      break;
    case FRAME_OK:
      ++counters_.good;
      return true;
    case FRAME_TOO_LONG:
      ++counters_.too_long;
      break;
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

}  // namespace firmware_iface
