#pragma once

#include <cstdint>
#include <span>

namespace proto {

/// Returns the CRC-32 of zlib and MCAP (0x04C11DB7 reflected, all bits inverted at both ends).
/// @param crc  CRC of the preceding bytes, 0 at the start
std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t crc = 0);

}  // namespace proto
