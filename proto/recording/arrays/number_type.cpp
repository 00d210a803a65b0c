#include "proto/recording/arrays/number_type.hpp"

#include <cmath>
#include <limits>

namespace proto {
namespace {

template <typename Number>
double decoded(const std::uint8_t* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof(Number));
  return static_cast<double>(number);
}

/// IEEE 754 binary16.
double decoded_half(const std::uint8_t* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  const int exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
  const double size = exponent == 0 ? std::ldexp(fraction, -24)
                      : exponent == 31
                          ? (fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                          : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

}  // namespace

double decode_number(const NumberType& type, const std::uint8_t* bytes) {
  std::uint8_t own[8] = {};
  std::memcpy(own, bytes, type.size_bytes);
  if (type.swapped) std::reverse(own, own + type.size_bytes);
  const bool is_signed = type.kind == NumberType::Kind::kSigned;
  if (type.kind == NumberType::Kind::kFloat) {
    return type.size_bytes == 8   ? decoded<double>(own)
           : type.size_bytes == 4 ? static_cast<double>(decoded<float>(own))
                                  : decoded_half(own);
  }
  switch (type.size_bytes) {
    case 1:
      return is_signed ? decoded<std::int8_t>(own) : decoded<std::uint8_t>(own);
    case 2:
      return is_signed ? decoded<std::int16_t>(own) : decoded<std::uint16_t>(own);
    case 4:
      return is_signed ? decoded<std::int32_t>(own) : decoded<std::uint32_t>(own);
    default:
      return is_signed ? decoded<std::int64_t>(own) : decoded<std::uint64_t>(own);
  }
}

std::optional<std::vector<std::vector<double>>> read_records(ByteSource& source,
                                                             std::span<const NumberField> fields,
                                                             std::size_t count,
                                                             std::size_t stride) {
  // Compressed data may end early: the vectors grow with the data.
  constexpr std::size_t kReadSize = std::size_t{1} << 16;
  const std::size_t piece_count = std::max<std::size_t>(1, kReadSize / stride);
  std::vector<std::uint8_t> piece;
  std::vector<std::vector<double>> numbers(fields.size());
  if (source.remaining_max() / stride >= count) {
    for (std::vector<double>& each : numbers) each.reserve(count);
  }
  for (std::size_t done = 0; done < count;) {
    const std::size_t taken = std::min(piece_count, count - done);
    piece.resize(taken * stride);
    if (!source.read(piece)) return std::nullopt;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::uint8_t* at = piece.data() + fields[i].offset;
      for (std::size_t k = 0; k < taken; ++k, at += stride) {
        numbers[i].push_back(decode_number(fields[i].type, at));
      }
    }
    done += taken;
  }
  return numbers;
}

std::optional<std::vector<double>> read_numbers(ByteSource& source, const NumberType& type,
                                                std::size_t count) {
  const NumberField field{type};
  auto numbers = read_records(source, std::span(&field, 1), count, type.size_bytes);
  if (!numbers) return std::nullopt;
  return std::move(numbers->front());
}

}  // namespace proto
