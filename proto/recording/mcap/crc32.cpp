#include "proto/recording/mcap/byte_cursor.hpp"

#include <array>
#include <cstddef>

namespace proto {
namespace {

constexpr std::uint32_t kPolynomialReflected = 0xEDB88320u;
constexpr std::size_t kSlices = 8;  // bytes processed per step

using Table = std::array<std::array<std::uint32_t, 256>, kSlices>;

// tables[s][b]: effect of byte b followed by s zero bytes.
constexpr Table make_tables() {
  Table tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1u) != 0 ? (crc >> 1) ^ kPolynomialReflected : crc >> 1;
    }
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Table kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t crc) {
  crc = ~crc;
  std::size_t at = 0;
  for (; at + kSlices <= bytes.size(); at += kSlices) {
    const std::uint8_t* b = bytes.data() + at;
    crc = kTables[7][(crc ^ b[0]) & 0xff] ^ kTables[6][((crc >> 8) ^ b[1]) & 0xff] ^
          kTables[5][((crc >> 16) ^ b[2]) & 0xff] ^ kTables[4][((crc >> 24) ^ b[3]) & 0xff] ^
          kTables[3][b[4]] ^ kTables[2][b[5]] ^ kTables[1][b[6]] ^ kTables[0][b[7]];
  }
  for (; at < bytes.size(); ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ bytes[at]) & 0xff];
  return ~crc;
}

}  // namespace proto
