#include "proto/text/table/csv_table.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "proto/text/table/comma_meaning.hpp"
#include "proto/text/table/record_text.hpp"
#include "proto/text/table/serial_monitor.hpp"
#include "proto/text/table/table_cells.hpp"
#include "proto/text/table/table_layout.hpp"
#include "proto/text/table/text_encoding.hpp"

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

CsvTable make_table(const std::string& path, const TableLayout& layout) {
  CsvTable table;
  table.path = path;
  table.layout = join_assumptions(layout.assumptions);
  table.header = layout.names;
  table.units = layout.units;
  return table;
}

/// Text of a table with its layout.
struct LaidOutText {
  DecodedText decoded;
  RecordText records;
  SerialMonitorText monitor;
  TableLayout layout;

  LaidOutText(const std::string& path, std::string_view contents,
              const std::vector<std::string>& names)
      : decoded(decode_text(path, contents)),
        records(convert_records(path, decoded.text())),
        monitor(
            convert_serial_monitor(records.assumption.empty() ? decoded.text() : records.table)),
        layout(find_table_layout(path, text(), names)) {
    // The header line of a table of records is not in the text.
    if (!records.assumption.empty()) --layout.lines_before_rows;
    for (const std::string& assumption :
         {monitor.assumption, records.assumption, decoded.encoding}) {
      if (assumption.empty()) continue;
      layout.assumptions.insert(layout.assumptions.begin(), assumption);
    }
  }
  std::string_view text() const {
    return !monitor.assumption.empty()   ? monitor.table
           : !records.assumption.empty() ? records.table
                                         : decoded.text();
  }
  LaidOutText(const LaidOutText&) = delete;
  LaidOutText& operator=(const LaidOutText&) = delete;
};

std::string describe_equal_names(const std::string& where, const std::string& name) {
  return where + ": two columns have the name \"" + name + "\"; rename one";
}

/// Throws InputError with all requested columns that the table lacks, if it lacks any.
void require_columns(const std::string& where, const TableLayout& layout,
                     const std::vector<ColumnRequest>& requests) {
  const std::string missing = describe_missing_columns(requests, [&](const std::string& name) {
    return std::ranges::count(layout.stamps, name, &TimeStampColumn::name) > 0 ||
           std::ranges::count(layout.names, name) > 0;
  });
  if (!missing.empty()) {
    throw InputError(where + ": " + missing + "; " +
                     (layout.has_header
                          ? "the file has " + quoted_list(layout.names) +
                                "; correct recording { } in the rig file"
                          : "the file has no header line, its columns are " +
                                quoted_list(layout.names) +
                                (layout.mismatch.empty() ? "" : " (" + layout.mismatch + ")") +
                                "; name them in the rig file's recording { columns: ... }"));
  }
}

/// Returns the index of an existing column, or of the whole seconds of a time stamp in two columns.
int find_field(const std::string& where, const TableLayout& layout, const std::string& name) {
  const auto stamp = std::ranges::find(layout.stamps, name, &TimeStampColumn::name);
  if (stamp != layout.stamps.end()) return stamp->seconds;
  const auto begin = layout.names.begin();
  const auto found = std::find(begin, layout.names.end(), name);
  if (std::find(found + 1, layout.names.end(), name) != layout.names.end()) {
    throw InputError(describe_equal_names(where, name));
  }
  return static_cast<int>(found - begin);
}

/// Reader of the rows of a text table.
class RowReader {
 public:
  /// @param is_apart  a column is closed after its first fault, and does not affect others
  RowReader(const LaidOutText& source, const std::vector<ColumnRequest>& requests, bool is_apart,
            CsvTable& table)
      : layout_(source.layout),
        requests_(requests),
        is_apart_(is_apart),
        table_(table),
        numbers_(requests.size()),
        days_(requests.size(), 0.0),
        missing_at_end_(requests.size(), false),
        is_closed_(requests.size(), false),
        commas_(requests.size()) {
    table_.values.resize(requests.size());
  }

  /// @throws InputError for a table without rows
  void read() {
    LineReader reader(layout_.rows, layout_.lines_before_rows);
    while (reader.next()) {
      if (is_blank_or_comment(reader.line())) continue;
      settle_missing_cells(false);
      if (is_apart_ && !close_columns()) break;
      const std::size_t faults = table_.faults.size();
      read_row(reader.line(), reader.number());
      const std::size_t digits = decimals_of(cells_.empty() ? "" : cells_.back());
      const bool is_cut = table_.faults.size() > faults ||
                          (table_.row_count() > kRowsToCompare && digits < decimals_min_);
      if (reader.is_unfinished() && is_cut) drop_last_row();
      decimals_min_ = std::min(decimals_min_, digits);
    }
    settle_missing_cells(true);
    if (table_.lines.empty()) {
      throw InputError(table_.path + ": has a header but no rows; record something first");
    }
    check_commas();
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
      for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (!is_closed_[i]) table_.values[i].push_back(kNaN);
      }
      add_fault(row, -1,
                table_.path + ":" + std::to_string(number) + ": the row has " +
                    std::to_string(cells_.size()) + " cells, the header " +
                    std::to_string(columns()) + "; correct or remove the row");
      return;
    }
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (is_closed_[i]) continue;
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
    commas_[i].add(*number, cell, table_.lines.back(), [&] { return place_of(row, i); });
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

  std::string place_of(int row, std::size_t i) const {
    return table_.where(row, static_cast<int>(i)) + ": column \"" + requests_[i].name + "\"";
  }

  /// Closes the columns that have a fault. Returns whether any column is still open.
  bool close_columns() {
    for (; next_fault_ < table_.faults.size(); ++next_fault_) {
      const int request = table_.faults[next_fault_].request;
      if (request < 0) return false;
      is_closed_[static_cast<std::size_t>(request)] = true;
    }
    return std::ranges::count(is_closed_, false) > 0;
  }

  /// Refuses numbers whose commas are ambiguous: in one column, or in all columns together.
  void check_commas() {
    CommaMeaning all;
    for (const CommaMeaning& each : commas_) all.add(each);
    has_commas_ = all.has_commas();
    if (!is_apart_) {
      if (const std::string why = all.check(); !why.empty()) throw InputError(why);
      return;
    }
    for (std::size_t i = 0; i < commas_.size(); ++i) {
      const std::string why = commas_[i].check(all.has_decimal_commas());
      if (!why.empty()) add_fault(0, static_cast<int>(i), why);
    }
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
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (!is_closed_[i]) table_.values[i].pop_back();
    }
    table_.lines.pop_back();
    missing_at_end_.assign(requests_.size(), false);
    table_.layout += std::string(table_.layout.empty() ? "text format: " : ", ") +
                     "the last line is cut off and left out";
  }

  void add_cell_fault(int row, std::size_t i, std::string_view cell) {
    const std::string who = place_of(row, i) + ": ";
    const int request = static_cast<int>(i);
    const std::string_view content = unquote_cell(cell);
    const std::string shown(content.substr(0, 40));
    const std::optional<CellNumber> number = parse_cell(cell);
    if (number && number->notation == CellNotation::kMissing) {
      const bool may_be_allowed = requests_[i].missing == MissingCells::kForbiddenByRigFile;
      return add_fault(
          row, request,
          who + (shown.empty() ? "an empty cell" : "\"" + shown + "\"") +
              " instead of a number; remove the row (it then counts as a gap)" +
              (may_be_allowed ? ", or write allow_missing: true for an angle that was not measured"
                              : ""));
    }
    if (const std::string why = describe_ambiguous_time(cell); !why.empty()) {
      return add_fault(row, request, who + why);
    }
    if (row == 0 && is_enumeration(content)) {
      return add_fault(row, request,
                       who + "holds text, such as \"" + shown + "\"; use a column of numbers",
                       true);
    }
    add_fault(row, request,
              who + "\"" + shown + "\" is not a finite number; correct or remove the row");
  }

  void add_fault(int row, int request, std::string message, bool is_text = false) {
    table_.faults.push_back({row, request, std::move(message), is_text});
    if (table_.faults.size() > kFaultsMax) require_no_fault(table_);
  }

  void note_numbers() {
    std::vector<std::string> notes;
    if (has_commas_) notes.emplace_back("decimal commas");
    if (has_dates_) notes.emplace_back("dates in seconds");
    if (has_clocks_) notes.emplace_back("times of day in seconds");
    if (has_durations_) notes.emplace_back("durations in seconds");
    for (const std::string& note : notes) {
      table_.layout += (table_.layout.empty() ? "text format: " : ", ") + note;
    }
  }

  const TableLayout& layout_;
  const std::vector<ColumnRequest>& requests_;
  bool is_apart_;
  CsvTable& table_;
  std::vector<NameNumbers> numbers_;
  std::vector<double> days_;          ///< per request: midnights that times of day passed [s]
  std::vector<bool> missing_at_end_;  ///< per request: the current row lacks it
  std::vector<std::string_view> cells_;
  std::vector<bool> is_closed_;       ///< per request: not read any more
  std::vector<CommaMeaning> commas_;  ///< per request
  std::size_t next_fault_ = 0;        ///< first fault that close_columns() has not seen
  bool has_commas_ = false, has_dates_ = false, has_clocks_ = false, has_durations_ = false;
  /// Fewest decimals in the last cell of a row. A last line with fewer decimals is cut off.
  static constexpr int kRowsToCompare = 20;
  std::size_t decimals_min_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

std::string CsvTable::label(int request) const {
  const auto field = static_cast<std::size_t>(fields[static_cast<std::size_t>(request)]);
  const bool has_unit = field < units.size() && !units[field].empty();
  return header[field] + (has_unit ? " [" + units[field] + "]" : "");
}

std::string CsvTable::where(int row, int request) const {
  if (!sources.empty()) {
    return path + ": " + sources[static_cast<std::size_t>(request)] + ", row " +
           std::to_string(lines[static_cast<std::size_t>(row)]);
  }
  return path + ":" + std::to_string(lines[static_cast<std::size_t>(row)]) + ":" +
         std::to_string(fields[static_cast<std::size_t>(request)] + 1);
}

std::string describe_missing_columns(const std::vector<ColumnRequest>& requests,
                                     const std::function<bool(const std::string&)>& has_column) {
  std::vector<std::string> missing;
  for (const ColumnRequest& request : requests) {
    if (has_column(request.name) || std::ranges::count(missing, request.name) > 0) continue;
    missing.push_back(request.name);
  }
  if (missing.empty()) return "";
  return (missing.size() == 1 ? "no column " : "no columns ") + quoted_list(missing);
}

CsvHeader parse_csv_header(const std::string& path, std::string_view text,
                           const std::vector<std::string>& names) {
  const TableLayout layout = LaidOutText(path, text, names).layout;
  CsvHeader header{{}, layout.stamps.size()};
  for (const TimeStampColumn& stamp : layout.stamps) header.names.push_back(stamp.name);
  header.names.insert(header.names.end(), layout.names.begin(), layout.names.end());
  return header;
}

CsvTable read_csv(const std::string& path, std::string_view text,
                  const std::vector<ColumnRequest>& requests,
                  const std::vector<std::string>& names) {
  const LaidOutText source(path, text, names);
  CsvTable table = make_table(path, source.layout);
  const std::string where = path + ":" + std::to_string(source.layout.header_line);
  require_columns(where, source.layout, requests);
  for (const ColumnRequest& request : requests) {
    table.fields.push_back(find_field(where, source.layout, request.name));
    const auto& stamps = source.layout.stamps;
    const auto stamp = std::ranges::find(stamps, request.name, &TimeStampColumn::name);
    table.nanoseconds.push_back(stamp == stamps.end() ? -1 : stamp->nanoseconds);
  }
  RowReader(source, requests, false, table).read();
  return table;
}

CsvColumns read_csv_columns(const std::string& path, std::string_view text,
                            const std::vector<std::string>& names) {
  const LaidOutText source(path, text, names);
  const TableLayout& layout = source.layout;
  CsvTable table = make_table(path, layout);
  std::vector<ColumnRequest> requests;
  const auto request = [&](const std::string& name, int field, int nanoseconds) {
    requests.push_back({name, MissingCells::kAllowed});
    table.fields.push_back(field);
    table.nanoseconds.push_back(nanoseconds);
  };
  for (const TimeStampColumn& stamp : layout.stamps) {
    request(stamp.name, stamp.seconds, stamp.nanoseconds);
  }
  const std::size_t first = requests.size();
  std::map<std::string, int> counts;
  for (const std::string& name : layout.names) ++counts[name];
  for (std::size_t k = 0; k < layout.names.size(); ++k) {
    // A column after the last separator has no name and no cells.
    if (!layout.names[k].empty()) request(layout.names[k], static_cast<int>(k), -1);
  }
  RowReader(source, requests, true, table).read();
  CsvColumns found{{}, layout.stamps.size(), table.layout};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CsvColumn& column = found.columns.emplace_back(CsvColumn{requests[i].name, {}});
    if (i >= first && !layout.units.empty()) {
      column.unit = layout.units[static_cast<std::size_t>(table.fields[i])];
    }
    const auto fault = std::ranges::find_if(table.faults, [&](const CsvFault& each) {
      return each.request < 0 || each.request == static_cast<int>(i);
    });
    if (counts[column.name] > 1) {
      column.fault =
          describe_equal_names(path + ":" + std::to_string(layout.header_line), column.name);
    } else if (fault == table.faults.end()) {
      column.values = std::move(table.values[i]);
    } else if (!fault->is_text) {
      column.fault = fault->message;
    }
  }
  return found;
}

void require_no_fault(const CsvTable& table) {
  if (table.faults.empty()) return;
  throw InputError(std::ranges::min_element(table.faults, {}, &CsvFault::row)->message);
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
