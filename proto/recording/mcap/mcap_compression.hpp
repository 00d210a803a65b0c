#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "proto/recording/mcap/byte_cursor.hpp"

namespace proto {

/// Returns whether chunks with a compression can be read: "zstd", "lz4" (frames), or "" for none.
bool is_known_compression(std::string_view compression);

/// Decompresses the records of a chunk into `out`.
/// @param compression  "zstd" or "lz4"
/// @param size         uncompressed size given in the chunk; allocated beforehand
/// @return false if the bytes are damaged, or do not expand to exactly `size`
bool expand_records(std::string_view compression, std::span<const std::uint8_t> records,
                    std::size_t size, Bytes& out);

}  // namespace proto
