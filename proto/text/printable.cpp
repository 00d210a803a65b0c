#include "proto/text/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace proto {
namespace {

/// A UTF-8 character at the start of a text; its size is 0 if there is none.
struct Character {
  char32_t code = 0;
  std::size_t size = 0;
};

/// Returns the size of a character from its first byte [byte]; 0 if no character starts with it.
std::size_t size_by_first(std::uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

bool continues(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0U) == 0x80U; }

/// Decodes the first UTF-8 character of a text. Rejects overlong forms and surrogates, because
/// terminals treat them differently.
Character first_character(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text.front());
  const std::size_t size = size_by_first(first);
  if (size == 0 || text.size() < size) return {};
  char32_t code = size == 1 ? first : first & (0xFFU >> (size + 1));
  for (std::size_t k = 1; k < size; ++k) {
    if (!continues(text[k])) return {};
    code = (code << 6U) | (static_cast<std::uint8_t>(text[k]) & 0x3FU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return {};
  return {code, size};
}

bool is_control(char32_t code) {
  if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return true;  // C0, DEL, C1
  if (code == 0x2028 || code == 0x2029) return true;               // line and paragraph separator
  return code == 0x061C || code == 0x200E || code == 0x200F ||     // marks of direction
         (code >= 0x202A && code <= 0x202E) ||                     // embeddings and overrides
         (code >= 0x2066 && code <= 0x2069);                       // isolates
}

void append_code(std::string& out, const char* format, unsigned code) {
  char text[16];
  std::snprintf(text, sizeof text, format, code);
  out += text;
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t size = std::max<std::size_t>(character.size, 1);
    if (character.size == 0) {
      append_code(out, "\\x%02x", static_cast<std::uint8_t>(text.front()));
    } else if (is_control(character.code) && kept.find(text.front()) == std::string_view::npos) {
      append_code(out, "\\u%04x", static_cast<unsigned>(character.code));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

std::string escape_for_terminal(std::string_view text) { return escaped(text, ""); }

std::string escape_lines_for_terminal(std::string_view text) { return escaped(text, "\n\t"); }

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = (text.front() & 0x80) == 0 ? 1 : first_character(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string to_utf8(std::string_view text, std::size_t size_bytes_max) {
  if (!is_utf8(text)) return to_utf8(escape_lines_for_terminal(text), size_bytes_max);
  std::size_t size = std::min(size_bytes_max, text.size());
  while (size < text.size() && continues(text[size])) --size;
  return std::string(text.substr(0, size));
}

std::size_t incomplete_character_size(std::string_view text) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(3, text.size()); ++length) {
    const char byte = text[text.size() - length];
    if (continues(byte)) continue;
    return size_by_first(static_cast<std::uint8_t>(byte)) > length ? length : 0;
  }
  return 0;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace proto
