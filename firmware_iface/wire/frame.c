#include "firmware_iface/wire/frame.h"

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/coding/cobs.h"
#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/message_type.h"

enum { PLAIN_SIZE_BYTES_MAX = MESSAGE_SIZE_BYTES_MAX + CRC_SIZE_BYTES_MAX };

/* Writes the CRC of the message, 2 or 4 bytes depending on its type. */
static void put_crc(const uint8_t* message, size_t size_bytes, uint8_t* out) {
  const uint8_t type = message[0];
  if (message_crc_size_bytes(type) == 2) {
    const uint16_t seed = (uint16_t)((LAYOUT_HASH ^ (LAYOUT_HASH >> 16)) & 0xFFFFU);
    put_u16(out, crc16_5935(seed, message, size_bytes));
  } else {
    const bool hello = type == MESSAGE_HELLO || type == MESSAGE_HELLO_REPLY;
    put_u32(out, crc32c(hello ? HELLO_CRC_SEED : LAYOUT_HASH, message, size_bytes));
  }
}

size_t frame_encode(const uint8_t* message, size_t size_bytes, uint8_t* out,
                    size_t capacity_bytes) {
  uint8_t plain[PLAIN_SIZE_BYTES_MAX];
  if (size_bytes == 0 || !message_size_is_valid(message[0], size_bytes)) return 0;
  const size_t crc_size_bytes = message_crc_size_bytes(message[0]);
  if (capacity_bytes < size_bytes + crc_size_bytes + FRAME_OVERHEAD_BYTES) return 0;
  for (size_t k = 0; k < size_bytes; ++k) plain[k] = message[k];
  put_crc(message, size_bytes, plain + size_bytes);
  const size_t stuffed = cobs_encode(plain, size_bytes + crc_size_bytes, out, capacity_bytes - 1);
  out[stuffed] = 0;
  return stuffed + 1;
}

frame_status frame_decode(const uint8_t* stuffed, size_t stuffed_size_bytes, uint8_t* message,
                          size_t* size_bytes) {
  uint8_t plain[PLAIN_SIZE_BYTES_MAX];
  uint8_t crc[CRC_SIZE_BYTES_MAX];
  size_t plain_size_bytes = 0;
  if (stuffed_size_bytes > (size_t)PLAIN_SIZE_BYTES_MAX + 1) return FRAME_BAD_LENGTH;
  if (!cobs_decode(stuffed, stuffed_size_bytes, plain, sizeof(plain), &plain_size_bytes)) {
    return FRAME_BAD_STUFFING;
  }
  if (plain_size_bytes == 0) return FRAME_BAD_LENGTH;
  if (!message_type_is_known(plain[0])) return FRAME_UNKNOWN_TYPE;
  const size_t crc_size_bytes = message_crc_size_bytes(plain[0]);
  if (plain_size_bytes < crc_size_bytes ||
      !message_size_is_valid(plain[0], plain_size_bytes - crc_size_bytes)) {
    return FRAME_BAD_LENGTH;
  }
  const size_t message_size_bytes = plain_size_bytes - crc_size_bytes;
  put_crc(plain, message_size_bytes, crc);
  for (size_t k = 0; k < crc_size_bytes; ++k) {
    if (crc[k] != plain[message_size_bytes + k]) return FRAME_BAD_CRC;
  }
  for (size_t k = 0; k < message_size_bytes; ++k) message[k] = plain[k];
  *size_bytes = message_size_bytes;
  return FRAME_OK;
}

frame_status frame_receiver_push(frame_receiver* receiver, uint8_t byte) {
  if (byte != 0) {
    if (receiver->stuffed_size_bytes == FRAME_SIZE_BYTES_MAX) {
      receiver->is_too_long = true;
    } else {
      receiver->stuffed[receiver->stuffed_size_bytes++] = byte;
    }
    return FRAME_PENDING;
  }
  const size_t stuffed_size_bytes = receiver->stuffed_size_bytes;
  const bool is_too_long = receiver->is_too_long;
  receiver->stuffed_size_bytes = 0;
  receiver->is_too_long = false;
  if (is_too_long) return FRAME_TOO_LONG;
  if (stuffed_size_bytes == 0) return FRAME_PENDING;
  return frame_decode(receiver->stuffed, stuffed_size_bytes, receiver->message,
                      &receiver->message_size_bytes);
}
