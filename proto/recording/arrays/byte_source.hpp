#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "proto/recording/mcap/file.hpp"

namespace proto {

/// Compression of bytes in a file: none, zlib format, or raw deflate data.
enum class Packing { kNone, kZlib, kDeflate };

/// Reads a part of a file in order, and decompresses it.
class ByteSource {
 public:
  /// @param offset, size  part of the file; must lie within the file
  /// @param budget        number of bytes that all sources of a file together may still decompress.
  ///                      This source reduces it, and sets it to zero if it is too small. May be
  ///                      null for Packing::kNone
  ByteSource(const InputFile& file, std::uint64_t offset, std::uint64_t size, Packing packing,
             std::uint64_t* budget = nullptr);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Reads bytes until `out` is full. Returns false at the end of the data, if the data are
  /// damaged, or if the size limit is reached. Then every further call fails, too.
  bool read(std::span<std::uint8_t> out);

  /// Reads and discards bytes. Returns false in the same cases as read().
  bool skip(std::uint64_t size);

  /// Returns the number of bytes that were read or skipped, counted after decompression.
  std::uint64_t position() const { return position_; }

  /// Returns an upper bound on the number of remaining bytes. It is exact if the bytes are not
  /// compressed.
  std::uint64_t remaining_max() const;

 private:
  bool fill();

  const InputFile& file_;
  std::uint64_t offset_;
  std::uint64_t end_;
  std::uint64_t* budget_;
  std::uint64_t position_ = 0;
  bool ok_ = true;
  std::unique_ptr<struct Inflater> inflater_;  // null: not compressed
  std::vector<std::uint8_t> packed_;           // input of the inflater
};

}  // namespace proto
