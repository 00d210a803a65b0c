#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "proto/recording/arrays/byte_source.hpp"

namespace proto {

/// How numbers are stored in a file.
struct NumberType {
  enum class Kind { kSigned, kUnsigned, kFloat };
  Kind kind = Kind::kFloat;
  std::size_t size_bytes = 8;  ///< 1, 2, 4 or 8; 2, 4 or 8 for floats
  bool swapped = false;        ///< bytes are in the other order than on this computer
};

/// Returns one number; `bytes` has the size of the type.
double decode_number(const NumberType& type, const std::uint8_t* bytes);

/// Reads numbers that are `stride` bytes apart, the first at `offset` of each stride, one after
/// another. Returns nullopt if the bytes end before.
std::optional<std::vector<double>> read_numbers(ByteSource& source, const NumberType& type,
                                                std::size_t count, std::size_t stride,
                                                std::size_t offset);

}  // namespace proto
