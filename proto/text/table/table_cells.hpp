#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proto {

/// Returns a text without blanks, tabs and carriage returns at its ends.
std::string_view trim_blanks(std::string_view text);

/// Returns the content of a table cell, without the blanks and quotes around it.
std::string_view unquote_cell(std::string_view cell);

/// Largest number of columns of a table.
inline constexpr std::size_t kTableColumnsMax = 10'000;

/// Splits a line of a table into cells, at most kTableColumnsMax + 1. Delimiters within quotes are
/// text; a quote that never closes is an ordinary character.
/// @param delimiter  a blank stands for any run of blanks and tabs, and there are no empty cells
void split_cells(std::string_view line, char delimiter, std::vector<std::string_view>& cells);

/// Notation of the number in a table cell.
enum class CellNotation {
  kMissing,       ///< empty, or a word for no value such as "nan" or "N/A"
  kWhole,         ///< neither a decimal point nor a decimal comma
  kDecimalPoint,  ///< "1.5"
  kDecimalComma,  ///< "1,5"
  kDate,          ///< date and time of day, "2024-03-05T10:00:00.005Z"
  kClock,         ///< time of day, "10:00:00.005"
  kDuration       ///< "0 days 00:00:01.315" of pandas, "1.315 sec" of MATLAB
};

/// Number in a table cell.
struct CellNumber {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< finite, or NaN if missing
  CellNotation notation = CellNotation::kMissing;
};

/// Returns the number in a table cell; nullopt if the cell contains no finite number. A date gives
/// the time since 1970-01-01 [s], in UTC if the date has no offset. A time of day gives the time
/// since midnight [s], and a duration gives seconds.
std::optional<CellNumber> parse_cell(std::string_view cell);

/// Returns the position after the arrow in a line such as "10:11:12.000 -> 703", as the serial
/// monitor of Arduino writes it with the time of day; npos for any other line.
std::size_t end_of_receive_time(std::string_view line);

/// Returns a sentence if a date or time of day is ambiguous, such as "10:00" or "03/05/2024
/// 10:00:00", with both meanings and a remedy; empty for any other cell.
std::string describe_ambiguous_time(std::string_view cell);

}  // namespace proto
