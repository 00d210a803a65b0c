#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace proto {

/// Text that others chose, as it may go to a person's terminal: nothing in it moves the cursor,
/// turns the direction of writing, or ends the line. Control characters (C0, DEL, C1), line
/// separators and the controls of writing direction become "\u001b", bytes that are not UTF-8
/// "\x9b"; everything else stays as it is.
std::string printable(std::string_view text);

/// The same for whole lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

/// Length of what the text ends with that more bytes could make a character of UTF-8 of.
std::size_t unfinished_character(std::string_view text);

}  // namespace proto
