#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proto {

using Bytes = std::vector<std::uint8_t>;

inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Appends an unsigned integer, little-endian.
template <std::unsigned_integral T>
void put(Bytes& out, T value) {
  for (std::size_t k = 0; k < sizeof(T); ++k) {
    out.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * k)));
  }
}

inline void append_bytes(Bytes& out, std::span<const std::uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Appends a text, preceded by its length as an unsigned 32-bit integer.
inline void append_text(Bytes& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  append_bytes(out, as_bytes(text));
}

/// Overwrites an unsigned integer that was appended at `offset`.
template <std::unsigned_integral T>
void overwrite_at(Bytes& out, std::size_t offset, T value) {
  for (std::size_t k = 0; k < sizeof(T); ++k) {
    out[offset + k] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * k));
  }
}

/// Reads little-endian fields from bytes, one after another. Reading past the end returns zeros and
/// empty views, makes ok() false, and accesses no memory outside the bytes.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  T take() {
    const std::span<const std::uint8_t> bytes = read_bytes(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      value |= static_cast<std::uint64_t>(bytes[k]) << (8 * k);
    }
    return static_cast<T>(value);
  }

  std::span<const std::uint8_t> read_bytes(std::uint64_t size) {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
    return taken;
  }

  std::string_view read_text() { return as_text(read_bytes(take<std::uint32_t>())); }

  bool ok() const { return ok_; }

  /// Returns whether exactly all bytes have been read.
  bool done() const { return ok_ && rest_.empty(); }

  std::size_t remaining_size() const { return rest_.size(); }

 private:
  std::span<const std::uint8_t> rest_;
  bool ok_ = true;
};

/// Returns the CRC-32 of zlib and MCAP (0x04C11DB7 reflected, all bits inverted at both ends).
/// @param crc  CRC of the preceding bytes, 0 at the start
std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t crc = 0);

}  // namespace proto
