#include "proto/text/csv_table.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "proto/text/table_cells.hpp"
#include "proto/text/table_layout.hpp"
#include "proto/text/text_encoding.hpp"

namespace proto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kFaultsMax = 100'000;  // a file with more is no recording
constexpr double kDay = 86'400.0;            // [s]

/// Returns whether a cell begins with a letter and is not "inf".
bool is_enumeration(std::string_view cell) {
  if (cell.empty() || std::isalpha(static_cast<unsigned char>(cell.front())) == 0) return false;
  double value = 0.0;
  return std::from_chars(cell.data(), cell.data() + cell.size(), value).ptr !=
         cell.data() + cell.size();
}

/// Numbers names in order of their first occurrence.
class NameNumbers {
 public:
  double number(std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<double>(numbers_.size()))
        .first->second;
  }

 private:
  std::map<std::string, double> numbers_;
};

/// Returns the items in quotes, separated by commas.
std::string quoted_list(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "\"" : ", \"") + item + "\"";
  return list;
}

std::string join_assumptions(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "text format: " : ", ") + item;
  return text;
}

/// A table in lines of a serial monitor, which writes the time of receipt before each line.
struct SerialMonitorText {
  std::string table;       ///< has as many lines as the text
  std::string assumption;  ///< what became of the times of receipt; empty: no such text
};

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

/// Returns the table in a text whose lines have the form "10:11:12.000 -> 48213,703". The times of
/// receipt, which jitter, are the column "receive_time" if the board does not send its own clock.
SerialMonitorText convert_serial_monitor(std::string_view text) {
  if (!has_receive_times(text)) return {};
  SerialMonitorText found;
  const bool has_clock = has_own_clock(text);
  for (LineReader reader(text); reader.next();) {
    const std::string_view rest = after_receive_time(reader.line());
    if (!has_clock && !rest.empty() && rest.size() < reader.line().size()) {
      const std::size_t mark = rest.find_first_of(";\t");
      const char delimiter = mark != rest.npos ? rest[mark] : rest.find(',') != rest.npos ? ','
                             : rest.find(' ') != rest.npos                               ? ' '
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

/// Text of a table with its layout.
struct LaidOutText {
  DecodedText decoded;
  SerialMonitorText monitor;
  TableLayout layout;

  LaidOutText(const std::string& path, std::string_view contents,
              const std::vector<std::string>& names)
      : decoded(decode_text(path, contents)),
        monitor(convert_serial_monitor(decoded.text())),
        layout(find_table_layout(
            path, monitor.assumption.empty() ? decoded.text() : monitor.table, names)) {
    for (const std::string& assumption : {monitor.assumption, decoded.encoding}) {
      if (assumption.empty()) continue;
      layout.assumptions.insert(layout.assumptions.begin(), assumption);
    }
  }
  LaidOutText(const LaidOutText&) = delete;
  LaidOutText& operator=(const LaidOutText&) = delete;
};

/// Returns the index of a column, or of the whole seconds of a time stamp in two columns.
int find_field(const std::string& path, const TableLayout& layout, const std::string& name) {
  const auto stamp = std::ranges::find(layout.stamps, name, &TimeStampColumn::name);
  if (stamp != layout.stamps.end()) return stamp->seconds;
  const auto begin = layout.names.begin();
  const auto found = std::find(begin, layout.names.end(), name);
  const std::string where = path + ":" + std::to_string(layout.header_line);
  if (found == layout.names.end()) {
    throw InputError(where + ": no column \"" + name + "\"; " +
                     (layout.has_header
                          ? "the file has " + quoted_list(layout.names) +
                                "; correct the name in the rig file's recording { }"
                          : "the file has no header line, its columns are " +
                                quoted_list(layout.names) +
                                (layout.mismatch.empty() ? "" : " (" + layout.mismatch + ")") +
                                "; name them in the rig file's recording { columns: ... }"));
  }
  if (std::find(found + 1, layout.names.end(), name) != layout.names.end()) {
    throw InputError(where + ": two columns have the name \"" + name + "\"; rename one");
  }
  return static_cast<int>(found - begin);
}

/// Decides what a comma within numbers means, from all numbers that were read.
class CommaMeaning {
 public:
  /// Returns why the numbers up to this one are ambiguous; empty if they are not.
  std::string check(const CellNumber& number, std::string_view cell, int line) {
    const bool is_point = number.notation == CellNotation::kDecimalPoint;
    if (!is_point && number.notation != CellNotation::kDecimalComma) return "";
    std::string& first = is_point ? point_ : comma_;
    if (first.empty()) {
      first = "\"" + std::string(unquote_cell(cell).substr(0, 40)) + "\"";
      (is_point ? point_line_ : comma_line_) = line;
    }
    if (!is_point) is_certain_ |= !may_group_thousands(unquote_cell(cell));
    if (point_.empty() || comma_.empty()) return "";
    return comma_ + " in line " + std::to_string(comma_line_) + " has a comma, " + point_ +
           " in line " + std::to_string(point_line_) + " a point: the comma can mark " + kReadings +
           "; write all numbers with decimal points";
  }

  /// Returns why the commas are ambiguous after all rows; empty if they are not.
  std::string check_all() const {
    if (comma_.empty() || is_certain_) return "";
    return comma_ + ": the comma can mark " + kReadings + "; write decimal points";
  }

  bool has_commas() const { return !comma_.empty(); }
  int comma_line() const { return comma_line_; }

 private:
  static constexpr const char* kReadings = "decimals (1,234 is 1.234) or thousands (1234)";

  /// Returns whether the comma of a number can separate thousands: "1,234" but not "0,123".
  static bool may_group_thousands(std::string_view cell) {
    if (cell.front() == '-' || cell.front() == '+') cell.remove_prefix(1);
    const std::size_t comma = cell.find(',');
    return comma >= 1 && comma <= 3 && cell.front() != '0' && cell.size() == comma + 4;
  }

  std::string point_, comma_;  ///< first number with a decimal point, with a comma
  int point_line_ = 0, comma_line_ = 0;
  bool is_certain_ = false;  ///< a comma cannot separate thousands
};

/// Reader of the rows of a text table.
class RowReader {
 public:
  RowReader(const LaidOutText& source, const std::vector<ColumnRequest>& requests, CsvTable& table)
      : layout_(source.layout),
        requests_(requests),
        table_(table),
        numbers_(requests.size()),
        days_(requests.size(), 0.0),
        missing_at_end_(requests.size(), false) {}

  void read() {
    LineReader reader(layout_.rows, layout_.lines_before_rows);
    while (reader.next()) {
      if (is_blank_or_comment(reader.line())) continue;
      settle_missing_cells(false);
      const std::size_t faults = table_.faults.size();
      read_row(reader.line(), reader.number());
      const std::size_t digits = decimals_of(cells_.empty() ? "" : cells_.back());
      const bool is_cut = table_.faults.size() > faults ||
                          (table_.row_count() > kRowsToCompare && digits < decimals_min_);
      if (reader.is_unfinished() && is_cut) drop_last_row();
      decimals_min_ = std::min(decimals_min_, digits);
    }
    settle_missing_cells(true);
    if (const std::string why = commas_.check_all(); !why.empty()) {
      throw InputError(table_.path + ":" + std::to_string(commas_.comma_line()) + ": " + why);
    }
    note_numbers();
  }

 private:
  /// Returns the number of characters after the decimal point or comma of a cell.
  static std::size_t decimals_of(std::string_view cell) {
    const std::size_t point = cell.find_last_of(".,");
    return point == std::string_view::npos ? 0 : cell.size() - point - 1;
  }

  std::size_t columns() const { return table_.header.size(); }

  bool fits(std::vector<std::string_view>& cells) const {
    if (cells.size() + 1 == columns() && table_.header.back().empty()) cells.emplace_back();
    if (cells.size() > columns() && layout_.has_extra_cells) cells.resize(columns());
    if (cells.size() == columns() + 1 && trim_blanks(cells.back()).empty()) cells.pop_back();
    return cells.size() == columns();
  }

  void read_row(std::string_view line, int number) {
    split_cells(line, layout_.delimiter, cells_);
    table_.lines.push_back(number);
    const int row = table_.row_count() - 1;
    if (!fits(cells_)) {
      for (std::vector<double>& values : table_.values) values.push_back(kNaN);
      add_fault(row, table_.path + ":" + std::to_string(number) + ": the row has " +
                         std::to_string(cells_.size()) + " cells, the header " +
                         std::to_string(columns()) + "; correct or remove the row");
      return;
    }
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const std::string_view cell = cells_[static_cast<std::size_t>(table_.fields[i])];
      double value = requests_[i].kind == CellKind::kName ? numbers_[i].number(unquote_cell(cell))
                                                          : read_number(row, i, cell);
      if (const int nanoseconds = table_.nanoseconds[i]; nanoseconds >= 0) {
        value += 1e-9 * read_number(row, i, cells_[static_cast<std::size_t>(nanoseconds)]);
      }
      table_.values[i].push_back(value);
    }
  }

  double read_number(int row, std::size_t i, std::string_view cell) {
    const std::optional<CellNumber> number = parse_cell(cell);
    if (!number) {
      add_cell_fault(row, i, cell);
      return kNaN;
    }
    if (number->notation == CellNotation::kMissing) {
      const bool is_fault = requests_[i].missing == MissingCells::kForbidden ||
                            requests_[i].missing == MissingCells::kForbiddenByRigFile;
      if (is_fault) add_cell_fault(row, i, cell);
      missing_at_end_[i] = requests_[i].missing == MissingCells::kAllowedAtTheEnd;
      return kNaN;
    }
    const int line = table_.lines.back();
    if (const std::string why = commas_.check(*number, cell, line); !why.empty()) {
      throw InputError(table_.where(row, static_cast<int>(i)) + ": column \"" + requests_[i].name +
                       "\": " + why);
    }
    has_dates_ |= number->notation == CellNotation::kDate;
    has_durations_ |= number->notation == CellNotation::kDuration;
    if (number->notation != CellNotation::kClock) return number->value;
    has_clocks_ = true;
    // A time of day that falls by more than half a day has passed midnight.
    double time = number->value + days_[i];
    const std::vector<double>& before = table_.values[i];
    if (!before.empty() && time < before.back() - 0.5 * kDay) {
      days_[i] += kDay;
      time += kDay;
    }
    return time;
  }

  /// Missing cells that only the last row may have are faults once a row follows.
  void settle_missing_cells(bool is_last_row) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (missing_at_end_[i] && !is_last_row) add_cell_fault(table_.row_count() - 1, i, "");
      missing_at_end_[i] = false;
    }
  }

  void drop_last_row() {
    const int row = table_.row_count() - 1;
    std::erase_if(table_.faults, [&](const CsvFault& fault) { return fault.row == row; });
    for (std::vector<double>& values : table_.values) values.pop_back();
    table_.lines.pop_back();
    missing_at_end_.assign(requests_.size(), false);
    table_.layout += std::string(table_.layout.empty() ? "text format: " : ", ") +
                     "the last line is cut off and left out";
  }

  void add_cell_fault(int row, std::size_t i, std::string_view cell) {
    const std::string who =
        table_.where(row, static_cast<int>(i)) + ": column \"" + requests_[i].name + "\": ";
    const std::string_view content = unquote_cell(cell);
    const std::string shown(content.substr(0, 40));
    const std::optional<CellNumber> number = parse_cell(cell);
    if (number && number->notation == CellNotation::kMissing) {
      const bool may_be_allowed = requests_[i].missing == MissingCells::kForbiddenByRigFile;
      return add_fault(
          row,
          who + (shown.empty() ? "an empty cell" : "\"" + shown + "\"") +
              " instead of a number; remove the row (it then counts as a gap)" +
              (may_be_allowed ? ", or write allow_missing: true for an angle that was not measured"
                              : ""));
    }
    if (const std::string why = describe_ambiguous_time(cell); !why.empty()) {
      return add_fault(row, who + why);
    }
    if (row == 0 && is_enumeration(content)) {
      return add_fault(row, who + "holds text, such as \"" + shown + "\"; use a column of numbers",
                       true);
    }
    add_fault(row, who + "\"" + shown + "\" is not a finite number; correct or remove the row");
  }

  void add_fault(int row, std::string message, bool is_text = false) {
    table_.faults.push_back({row, std::move(message), is_text});
    if (table_.faults.size() > kFaultsMax) require_no_fault(table_);
  }

  void note_numbers() {
    std::vector<std::string> notes;
    if (commas_.has_commas()) notes.emplace_back("decimal commas");
    if (has_dates_) notes.emplace_back("dates in seconds");
    if (has_clocks_) notes.emplace_back("times of day in seconds");
    if (has_durations_) notes.emplace_back("durations in seconds");
    for (const std::string& note : notes) {
      table_.layout += (table_.layout.empty() ? "text format: " : ", ") + note;
    }
  }

  const TableLayout& layout_;
  const std::vector<ColumnRequest>& requests_;
  CsvTable& table_;
  std::vector<NameNumbers> numbers_;
  std::vector<double> days_;          ///< per request: midnights that times of day passed [s]
  std::vector<bool> missing_at_end_;  ///< per request: the current row lacks it
  std::vector<std::string_view> cells_;
  CommaMeaning commas_;
  bool has_dates_ = false, has_clocks_ = false, has_durations_ = false;
  /// Fewest decimals in the last cell of a row. A last line with fewer decimals is cut off.
  static constexpr int kRowsToCompare = 20;
  std::size_t decimals_min_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

std::string CsvTable::where(int row, int request) const {
  if (!sources.empty()) {
    return path + ": " + sources[static_cast<std::size_t>(request)] + ", row " +
           std::to_string(lines[static_cast<std::size_t>(row)]);
  }
  return path + ":" + std::to_string(lines[static_cast<std::size_t>(row)]) + ":" +
         std::to_string(fields[static_cast<std::size_t>(request)] + 1);
}

CsvHeader parse_csv_header(const std::string& path, std::string_view text,
                           const std::vector<std::string>& names) {
  const LaidOutText source(path, text, names);
  CsvHeader header{
      {}, source.layout.stamps.size(), join_assumptions(source.layout.assumptions)};
  for (const TimeStampColumn& stamp : source.layout.stamps) header.names.push_back(stamp.name);
  header.names.insert(header.names.end(), source.layout.names.begin(), source.layout.names.end());
  return header;
}

CsvTable read_csv(const std::string& path, std::string_view text,
                  const std::vector<ColumnRequest>& requests,
                  const std::vector<std::string>& names) {
  const LaidOutText source(path, text, names);
  CsvTable table;
  table.path = path;
  table.layout = join_assumptions(source.layout.assumptions);
  table.header = source.layout.names;
  for (const ColumnRequest& request : requests) {
    table.fields.push_back(find_field(path, source.layout, request.name));
    const auto& stamps = source.layout.stamps;
    const auto stamp = std::ranges::find(stamps, request.name, &TimeStampColumn::name);
    table.nanoseconds.push_back(stamp == stamps.end() ? -1 : stamp->nanoseconds);
  }
  table.values.resize(requests.size());
  RowReader(source, requests, table).read();
  if (table.lines.empty()) {
    throw InputError(path + ": has a header but no rows; record something first");
  }
  return table;
}

void require_no_fault(const CsvTable& table) {
  if (table.faults.empty()) return;
  const CsvFault& first = *std::ranges::min_element(table.faults, {}, &CsvFault::row);
  if (first.is_text) throw TextColumnError(first.message);
  throw InputError(first.message);
}

void keep_rows(const std::vector<std::size_t>& rows, CsvTable& table) {
  const auto keep = [&](auto& column) {
    auto kept = column;
    kept.resize(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) kept[k] = column[rows[k]];
    column = std::move(kept);
  };
  std::vector<int> new_rows(table.lines.size(), -1);
  for (std::size_t k = 0; k < rows.size(); ++k) new_rows[rows[k]] = static_cast<int>(k);
  for (CsvFault& fault : table.faults) fault.row = new_rows[static_cast<std::size_t>(fault.row)];
  std::erase_if(table.faults, [](const CsvFault& fault) { return fault.row < 0; });
  for (std::vector<double>& values : table.values) keep(values);
  keep(table.lines);
  if (!rows.empty()) table.first_row += static_cast<int>(rows.front());
}

CsvTable parse_csv(const std::string& path, std::string_view text,
                   const std::vector<ColumnRequest>& requests) {
  CsvTable table = read_csv(path, text, requests);
  require_no_fault(table);
  return table;
}

}  // namespace proto
