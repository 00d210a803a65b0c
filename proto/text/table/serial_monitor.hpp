#pragma once

#include <string>
#include <string_view>

namespace proto {

/// A table from lines of a serial monitor, which writes the time of receipt before each line.
struct SerialMonitorText {
  std::string table;       ///< has as many lines as the text
  std::string assumption;  ///< use of the times of receipt; empty: not such a text
};

/// Returns the table in a text whose lines have the form "10:11:12.000 -> 48213,703". If the board
/// does not send its own time, the times of receipt (with jitter) become the column "receive_time".
SerialMonitorText convert_serial_monitor(std::string_view text);

}  // namespace proto
