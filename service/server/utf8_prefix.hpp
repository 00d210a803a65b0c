#pragma once

#include <cstddef>
#include <string>

namespace service {

/// Returns the longest prefix of a UTF-8 text of at most `size_bytes_max` bytes that ends between
/// characters. A message with a partial character would not parse.
inline std::string utf8_prefix(const std::string& text, std::size_t size_bytes_max) {
  if (text.size() <= size_bytes_max) return text;
  std::size_t size = size_bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace service
