#pragma once

#include <string>
#include <string_view>

namespace proto {

/// A table in lines of a serial monitor, which writes the time of receipt before each line.
struct SerialMonitorText {
  std::string table;       ///< has as many lines as the text
  std::string assumption;  ///< what became of the times of receipt; empty: no such text
};

/// Returns the table in a text whose lines have the form "10:11:12.000 -> 48213,703". The times of
/// receipt, which jitter, are the column "receive_time" if the board does not send its own clock.
SerialMonitorText convert_serial_monitor(std::string_view text);

}  // namespace proto
