#pragma once

#include <string>

namespace service {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

/// Returns the size of the terminal at a file descriptor; 80 columns by 24 rows if it is unknown.
TerminalSize terminal_size(int descriptor);

/// Shortens a UTF-8 text to a number of columns and replaces the removed part by "…".
std::string cut_to_width(const std::string& text, int columns);

/// Meaning of the first line of a text, shown as its colour.
enum class Tone { kPlain, kGood, kDoubtful, kBad };

/// Formats text for a terminal: wraps lines to the width, prints headings ("Findings:") in bold,
/// and colours the first line and the words "warning" and "fault" at the start of a line.
/// @param in_colour  whether to write control codes
std::string terminal_text(const std::string& text, Tone first, int columns, bool in_colour);

/// Prints text on standard output. A terminal gets it as `terminal_text` formats it, in colour
/// unless NO_COLOR is set or TERM is "dumb"; other outputs get the text unchanged.
void print_text(const std::string& text, Tone first = Tone::kPlain);

}  // namespace service
