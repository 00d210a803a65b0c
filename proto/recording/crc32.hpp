#pragma once

#include <cstdint>
#include <span>

namespace proto {

/// CRC-32 of zlib, gzip and MCAP (polynomial 0x04C11DB7 reflected, all bits inverted at both ends).
/// @param crc  value for the bytes before these, 0 at the start
std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t crc = 0);

}  // namespace proto
