#include "firmware_iface/conformance/messages.hpp"

#include <cassert>

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/coding/cobs.h"
#include "firmware_iface/wire/coding/crc32c.h"
#include "firmware_iface/wire/frame.h"

namespace firmware_iface::conformance {

Bytes message_of(const hello_head& head) {
  Bytes message(HELLO_SIZE_BYTES);
  hello_encode(&head, message.data());
  return message;
}

Bytes message_of(const describe_request& request) {
  Bytes message(DESCRIBE_SIZE_BYTES);
  describe_request_encode(&request, message.data());
  return message;
}

Bytes message_of(const configure_request& request) {
  Bytes message(CONFIGURE_SIZE_BYTES);
  configure_request_encode(&request, message.data());
  return message;
}

Bytes message_of(const clear_request& request) {
  Bytes message(CLEAR_SIZE_BYTES);
  clear_request_encode(&request, message.data());
  return message;
}

Bytes message_of(const command_request& request, int motor_count) {
  Bytes message(COMMAND_SIZE_BYTES_MAX);
  message.resize(
      command_request_encode(&request, static_cast<std::uint8_t>(motor_count), message.data()));
  return message;
}

Bytes compact_message_of(const command_request& request) {
  Bytes message(COMMAND_COMPACT_SIZE_BYTES);
  command_compact_encode(&request, message.data());
  return message;
}

Bytes with_crc(Bytes message, std::uint32_t seed) {
  const std::size_t size_bytes = message.size();
  const std::uint32_t crc = crc32c(seed, message.data(), size_bytes);
  message.resize(size_bytes + 4);
  put_u32(message.data() + size_bytes, crc);
  return message;
}

Bytes stuffed(const Bytes& plain) {
  Bytes frame(plain.size() + FRAME_OVERHEAD_BYTES);
  const std::size_t size_bytes =
      cobs_encode(plain.data(), plain.size(), frame.data(), frame.size());
  assert(size_bytes == plain.size() + 1);
  frame[size_bytes] = 0;
  return frame;
}

Bytes frame_of(const Bytes& message) {
  Bytes frame(FRAME_SIZE_BYTES_MAX);
  const std::size_t size_bytes =
      frame_encode(message.data(), message.size(), frame.data(), frame.size());
  assert(size_bytes > 0);
  frame.resize(size_bytes);
  return frame;
}

}  // namespace firmware_iface::conformance
