#pragma once

#include <lz4frame.h>
#include <zstd.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/recording/mcap/mcap_format.hpp"

namespace test_support {

/// Bytes as an MCAP chunk compresses them: "zstd" or "lz4".
inline proto::Bytes compressed(std::string_view compression, std::span<const std::uint8_t> bytes) {
  const bool zstd = compression == "zstd";
  proto::Bytes out(zstd ? ZSTD_compressBound(bytes.size())
                        : LZ4F_compressFrameBound(bytes.size(), nullptr));
  const std::size_t size =
      zstd ? ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3)
           : LZ4F_compressFrame(out.data(), out.size(), bytes.data(), bytes.size(), nullptr);
  if (zstd ? ZSTD_isError(size) != 0 : LZ4F_isError(size) != 0) {
    throw std::runtime_error("cannot compress");
  }
  out.resize(size);
  return out;
}

/// Appends a chunk of compressed records.
inline void put_compressed_chunk(proto::Bytes& file, std::string_view compression,
                                 std::uint64_t start_ns, std::uint64_t end_ns,
                                 std::span<const std::uint8_t> records) {
  const proto::Bytes packed = compressed(compression, records);
  append_record(file, proto::McapChunk{start_ns, end_ns, records.size(), proto::crc32(records),
                                       compression, packed});
}

/// A finished MCAP file with its chunks compressed, and without a summary.
inline proto::Bytes compress_chunks(std::span<const std::uint8_t> plain,
                                    std::string_view compression) {
  proto::Bytes out(plain.begin(), plain.begin() + proto::kMcapMagic.size());
  for (std::size_t at = proto::kMcapMagic.size(); at < plain.size();) {
    const auto opcode = static_cast<proto::McapOpcode>(plain[at]);
    const auto size = proto::ByteCursor(plain.subspan(at + 1)).take<std::uint64_t>();
    const auto whole =
        plain.subspan(at, proto::kMcapRecordHeaderSize + static_cast<std::size_t>(size));
    at += whole.size();
    if (opcode == proto::McapOpcode::kDataEnd) break;
    if (opcode == proto::McapOpcode::kMessageIndex) continue;
    const auto chunk = opcode == proto::McapOpcode::kChunk
                           ? proto::parse_chunk(whole.subspan(proto::kMcapRecordHeaderSize))
                           : std::nullopt;
    if (chunk) {
      put_compressed_chunk(out, compression, chunk->start_time_ns, chunk->end_time_ns,
                           chunk->records);
    } else {
      proto::append_bytes(out, whole);
    }
  }
  proto::append_data_end(out, 0);
  proto::put(out, static_cast<std::uint8_t>(proto::McapOpcode::kFooter));
  proto::put(out, std::uint64_t{proto::kMcapFooterContentSize});
  proto::append_bytes(out, proto::Bytes(proto::kMcapFooterContentSize, 0));
  proto::append_bytes(out, proto::kMcapMagic);
  return out;
}

}  // namespace test_support
