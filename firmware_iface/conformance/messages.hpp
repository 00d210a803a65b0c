#pragma once

#include <cstdint>
#include <vector>

#include "firmware_iface/wire/clear.h"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/configure.h"
#include "firmware_iface/wire/describe.h"
#include "firmware_iface/wire/hello.h"

namespace firmware_iface::conformance {

using Bytes = std::vector<std::uint8_t>;

// Messages, starting with the type byte.
Bytes message_of(const hello_head& head);
Bytes message_of(const describe_request& request);
Bytes message_of(const configure_request& request);
Bytes message_of(const clear_request& request);
Bytes message_of(const command_request& request, int motor_count);
Bytes compact_message_of(const command_request& request);

/// Returns a message with its CRC-32C appended. Unlike frame_encode it accepts any length and any
/// seed.
Bytes with_crc(Bytes message, std::uint32_t seed = LAYOUT_HASH);

/// Returns the COBS encoding of up to 254 bytes, with the delimiter of the frame appended.
Bytes stuffed(const Bytes& plain);

/// Returns the valid frame of a message.
Bytes frame_of(const Bytes& message);

}  // namespace firmware_iface::conformance
