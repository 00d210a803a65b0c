#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"

// Messages and frames of the line between host and unit as bytes.
namespace test_support {

using WireBytes = std::vector<std::uint8_t>;

/// Returns the frame of a message, with its delimiter; empty if it is no valid message.
inline WireBytes frame_of(std::span<const std::uint8_t> message) {
  WireBytes frame(FRAME_SIZE_BYTES_MAX);
  frame.resize(frame_encode(message.data(), message.size(), frame.data(), frame.size()));
  return frame;
}

/// Returns what one of the wire's encoders writes. Those of messages of a fixed size return none.
template <typename Result, typename Message>
WireBytes encoded(Result (*encode)(const Message*, std::uint8_t*), std::size_t size_bytes_max,
                  const Message& message) {
  WireBytes out(size_bytes_max);
  if constexpr (std::is_void_v<Result>) {
    encode(&message, out.data());
  } else {
    out.resize(encode(&message, out.data()));
  }
  return out;
}

inline WireBytes message_of(const hello_head& m) {
  return encoded(hello_encode, HELLO_SIZE_BYTES, m);
}
inline WireBytes message_of(const hello_reply& m) {
  return encoded(hello_reply_encode, HELLO_REPLY_SIZE_BYTES, m);
}
inline WireBytes message_of(const describe_request& m) {
  return encoded(describe_request_encode, DESCRIBE_SIZE_BYTES, m);
}
inline WireBytes message_of(const describe_reply& m) {
  return encoded(describe_reply_encode, DESCRIBE_REPLY_SIZE_BYTES, m);
}
inline WireBytes message_of(const configure_request& m) {
  return encoded(configure_request_encode, CONFIGURE_SIZE_BYTES, m);
}
inline WireBytes message_of(const configure_reply& m) {
  return encoded(configure_reply_encode, CONFIGURE_REPLY_SIZE_BYTES, m);
}
inline WireBytes message_of(const clear_request& m) {
  return encoded(clear_request_encode, CLEAR_SIZE_BYTES, m);
}
inline WireBytes message_of(const clear_reply& m) {
  return encoded(clear_reply_encode, CLEAR_REPLY_SIZE_BYTES, m);
}
inline WireBytes message_of(const fault_report& m) {
  return encoded(fault_report_encode, FAULT_SIZE_BYTES, m);
}
inline WireBytes message_of(const inertial_report& m) {
  return encoded(inertial_report_encode, INERTIAL_SIZE_BYTES_MAX, m);
}
inline WireBytes message_of(const sample_report& m, sample_shape shape) {
  WireBytes out(SAMPLE_SIZE_BYTES_MAX);
  out.resize(sample_report_encode(&m, shape, out.data()));
  return out;
}
inline WireBytes compact_message_of(const sample_report& m, sample_shape shape) {
  WireBytes out(SAMPLE_COMPACT_SIZE_BYTES_MAX);
  out.resize(sample_compact_encode(&m, shape, out.data()));
  return out;
}
inline WireBytes message_of(const command_request& m, std::size_t motor_count) {
  WireBytes out(COMMAND_SIZE_BYTES_MAX);
  out.resize(command_request_encode(&m, static_cast<std::uint8_t>(motor_count), out.data()));
  return out;
}
inline WireBytes compact_message_of(const command_request& m) {
  return encoded(command_compact_encode, COMMAND_COMPACT_SIZE_BYTES, m);
}

}  // namespace test_support
