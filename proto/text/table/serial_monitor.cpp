#include "proto/text/table/serial_monitor.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "proto/text/table/table_cells.hpp"
#include "proto/text/table/table_layout.hpp"

namespace proto {
namespace {

/// Returns whether most of the first lines have a time of receipt.
bool has_receive_times(std::string_view text) {
  constexpr int kLinesToCheck = 32;
  int lines = 0, with_time = 0;
  for (LineReader reader(text); lines < kLinesToCheck && reader.next();) {
    if (is_blank_or_comment(reader.line())) continue;
    ++lines;
    with_time += end_of_receive_time(reader.line()) != std::string_view::npos ? 1 : 0;
  }
  return with_time > 0 && 5 * with_time >= 4 * lines;
}

/// Returns the rest of a line after the time of receipt; the whole line if there is none.
std::string_view after_receive_time(std::string_view line) {
  const std::size_t end = end_of_receive_time(line);
  return end == std::string_view::npos ? line : trim_blanks(line.substr(end));
}

/// Returns whether the first of several cells of each line rises: the board sends its own clock.
bool has_own_clock(std::string_view text) {
  double last = -std::numeric_limits<double>::infinity();
  int rises = 0, falls = 0, others = 0;
  for (LineReader reader(text); reader.next();) {
    const std::string_view rest = after_receive_time(reader.line());
    const std::size_t end = rest.find_first_of(",;\t ");
    const std::optional<CellNumber> first = parse_cell(rest.substr(0, end));
    if (end == std::string_view::npos || !first || std::isnan(first->value)) {
      ++others;
      continue;
    }
    ++(first->value > last ? rises : first->value < last ? falls : others);
    last = first->value;
  }
  return rises > others && 100 * falls <= rises;  // a counter may start again
}

}  // namespace

SerialMonitorText convert_serial_monitor(std::string_view text) {
  if (!has_receive_times(text)) return {};
  SerialMonitorText found;
  const bool has_clock = has_own_clock(text);
  for (LineReader reader(text); reader.next();) {
    const std::string_view rest = after_receive_time(reader.line());
    if (!has_clock && !rest.empty() && rest.size() < reader.line().size()) {
      const std::size_t mark = rest.find_first_of(";\t");
      const char delimiter = mark != rest.npos             ? rest[mark]
                             : rest.find(',') != rest.npos ? ','
                             : rest.find(' ') != rest.npos ? ' '
                                                           : ',';
      const bool is_row = parse_cell(rest.substr(0, rest.find(delimiter))).has_value();
      const std::string_view line = trim_blanks(reader.line());
      found.table += is_row ? line.substr(0, line.find(' ')) : "receive_time";
      found.table += delimiter;
    }
    found.table += rest;
    if (!reader.is_unfinished()) found.table += '\n';
  }
  found.assumption = has_clock
                         ? "text of a serial monitor, without its times of receipt"
                         : "text of a serial monitor, with the times of receipt as first column";
  return found;
}

}  // namespace proto
