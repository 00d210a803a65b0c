#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace proto {

/// Escapes text from untrusted sources for output on a terminal, so that it cannot move the cursor,
/// change the writing direction or end the line. Control characters (C0, DEL, C1), line separators
/// and direction marks become "\u001b", bytes that are not UTF-8 become "\x9b". All other
/// characters are kept.
std::string escape_for_terminal(std::string_view text);

/// Escapes several lines as escape_for_terminal does, but keeps line ends and tabs.
std::string escape_lines_for_terminal(std::string_view text);

/// Returns whether a text consists of complete UTF-8 characters.
bool is_utf8(std::string_view text);

/// Returns the longest prefix of a text that has at most `size_bytes_max` bytes and consists of
/// complete UTF-8 characters, as Protobuf requires. If the text has bytes that are not UTF-8, it is
/// first escaped as by escape_lines_for_terminal.
std::string to_utf8(std::string_view text, std::size_t size_bytes_max = std::string_view::npos);

/// Returns the size of an incomplete UTF-8 character at the end of the text [byte].
std::size_t incomplete_character_size(std::string_view text);

/// Escapes text for an element or attribute of HTML or SVG.
std::string escape_markup(std::string_view text);

}  // namespace proto
