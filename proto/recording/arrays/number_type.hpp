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

/// Representation of numbers in a file.
struct NumberType {
  enum class Kind { kSigned, kUnsigned, kFloat };
  Kind kind = Kind::kFloat;
  std::size_t size_bytes = 8;  ///< 1, 2, 4 or 8; 2, 4 or 8 for floats
  bool swapped = false;        ///< the byte order is opposite to that of this computer
};

/// Returns one number; `bytes` has the size of the type.
double decode_number(const NumberType& type, const std::uint8_t* bytes);

/// Numbers at the same position in each of several records.
struct NumberField {
  NumberType type;
  std::size_t offset = 0;  ///< position in the record [byte]
};

/// Reads fields of `count` records of `stride` bytes, one after another. Returns the numbers of
/// each field, or nullopt if there are too few bytes.
std::optional<std::vector<std::vector<double>>> read_records(ByteSource& source,
                                                             std::span<const NumberField> fields,
                                                             std::size_t count, std::size_t stride);

/// Reads `count` consecutive numbers. Returns nullopt if there are too few bytes.
std::optional<std::vector<double>> read_numbers(ByteSource& source, const NumberType& type,
                                                std::size_t count);

}  // namespace proto
