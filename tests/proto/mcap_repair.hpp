#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/recording/mcap/mcap_format.hpp"

namespace test_support {

/// Corrects the checksum of every chunk that can be reached from the start of the file. Damage to a
/// chunk's content then passes the checksum.
inline void repair_chunk_checksums(std::vector<std::uint8_t>& file) {
  constexpr std::size_t kCrcOffset = proto::kMcapRecordHeaderSize + 24;
  constexpr std::size_t kRecordsOffset = kCrcOffset + 4 + 4 + 8;  // after an empty compression
  for (std::size_t at = proto::kMcapMagic.size();
       at + proto::kMcapRecordHeaderSize <= file.size();) {
    const auto opcode = static_cast<proto::McapOpcode>(file[at]);
    const auto size = proto::ByteCursor(std::span(file).subspan(at + 1)).take<std::uint64_t>();
    if (size > file.size() - at - proto::kMcapRecordHeaderSize) return;
    const std::size_t end = at + proto::kMcapRecordHeaderSize + static_cast<std::size_t>(size);
    if (opcode == proto::McapOpcode::kChunk && end >= at + kRecordsOffset) {
      const auto records = std::span(file).subspan(at + kRecordsOffset, end - at - kRecordsOffset);
      const bool plain =
          proto::ByteCursor(std::span(file).subspan(at + kCrcOffset + 4)).take<std::uint32_t>() ==
          0;
      // A compressed chunk's checksum covers the expanded data, so it is removed here.
      proto::overwrite_at(file, at + kCrcOffset, plain ? proto::crc32(records) : std::uint32_t{0});
    }
    at = end;
  }
}

}  // namespace test_support
