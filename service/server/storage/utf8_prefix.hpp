#pragma once

#include <cstddef>
#include <string>

namespace service {

/// Returns the longest prefix of a UTF-8 text that has at most `size_bytes_max` bytes and ends
/// between characters. Protobuf cannot parse a message whose text ends with a partial character.
inline std::string utf8_prefix(const std::string& text, std::size_t size_bytes_max) {
  if (text.size() <= size_bytes_max) return text;
  std::size_t size = size_bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace service
