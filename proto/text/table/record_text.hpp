#pragma once

#include <string>
#include <string_view>

namespace proto {

/// A table from a text with records of named values.
struct RecordText {
  /// The table. A record that begins in line n of the text is in line n + 1, after a header line.
  std::string table;
  std::string assumption;  ///< format of the text, for a note; empty: no such text
};

/// Returns the table in a text of records:
///
/// - lines such as "angle:1.23,speed:0.5" for Arduino's serial plotter, optionally after a time of
///   receipt such as "10:11:12.000 -> ";
/// - JSON: an object per line, an array of objects or of rows, or an object of columns;
/// - YAML documents separated by "---", as `ros2 topic echo` prints them.
///
/// Nested values have names such as "header.stamp.sec" and "position[0]".
/// @throws InputError for a JSON text that is not a table
RecordText convert_records(const std::string& path, std::string_view text);

}  // namespace proto
