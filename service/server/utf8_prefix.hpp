#pragma once

#include <cstddef>
#include <string>

namespace service {

/// The first bytes of a UTF-8 text, at most so many, without cutting a character: a message with
/// half a character would not parse.
inline std::string utf8_prefix(const std::string& text, std::size_t size_bytes_max) {
  if (text.size() <= size_bytes_max) return text;
  std::size_t size = size_bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace service
