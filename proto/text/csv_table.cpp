#include "proto/text/csv_table.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace proto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view unquote(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
    cell = trim(cell.substr(1, cell.size() - 2));
  }
  return cell;
}

/// Removes the next line from `rest`; returns false at the end of the text.
bool take_line(std::string_view& rest, std::string_view& line) {
  if (rest.empty()) return false;
  const std::size_t end = rest.find('\n');
  line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return true;
}

/// Returns the position after quotes that open at `begin` and close before a delimiter, or npos.
std::size_t end_of_quotes(std::string_view line, std::size_t begin, char delimiter) {
  std::size_t end = begin + 1;
  for (; (end = line.find('"', end)) != std::string_view::npos; ++end) {
    const std::size_t after = line.find_first_not_of(" \r", end + 1);
    if (after == std::string_view::npos || line[after] == delimiter) return after;
    if (line[end + 1] == '"') ++end;
  }
  return end;
}

void split(std::string_view line, char delimiter, std::vector<std::string_view>& cells) {
  cells.clear();
  std::size_t begin = 0;
  bool quotes = line.find('"') != std::string_view::npos;
  for (std::size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = line.find(delimiter, begin);
    if (quotes && begin < line.size() && line[begin] == '"') {
      const std::size_t behind = end_of_quotes(line, begin, delimiter);
      quotes = behind != std::string_view::npos;
      if (quotes) end = behind;
    }
    cells.push_back(line.substr(begin, end - begin));
  }
}

bool is_missing(std::string_view cell) {
  if (cell.empty()) return true;
  if (cell.front() == '-' || cell.front() == '+') cell.remove_prefix(1);
  const auto equals = [](char a, char b) { return (a | 0x20) == b; };
  constexpr std::string_view kNan = "nan";
  return cell.size() == 3 && std::equal(cell.begin(), cell.end(), kNan.begin(), equals);
}

/// Returns the number in a cell (NaN if missing); nullopt if it is not a finite number.
std::optional<double> parse_number(std::string_view cell) {
  cell = unquote(cell);
  if (is_missing(cell)) return kNaN;
  if (cell.front() == '+') cell.remove_prefix(1);
  double value = 0.0;
  const auto result = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (result.ptr != cell.data() + cell.size()) return std::nullopt;
  // Too small for a double: zero, as in other readers.
  if (result.ec == std::errc::result_out_of_range &&
      (cell.find("e-") != cell.npos || cell.find("E-") != cell.npos)) {
    return 0.0;
  }
  if (result.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

char find_delimiter(std::string_view header) {
  for (const char delimiter : {',', ';', '\t'}) {
    if (header.find(delimiter) != std::string_view::npos) return delimiter;
  }
  return ',';
}

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

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return list;
}

struct Header {
  char delimiter = ',';
  int line = 1;
  std::vector<std::string> names;
};

/// Removes the header, the first line that is not blank, from `rest`.
Header take_header(const std::string& path, std::string_view& rest) {
  rest = strip_byte_order_mark(rest);
  if (rest.find('\0') != std::string_view::npos) {
    throw InputError(path + ": is not a text file; recordings are CSV in UTF-8");
  }
  Header header;
  header.line = 0;
  std::string_view line;
  do {
    if (!take_line(rest, line)) {
      throw InputError(path + ": the file is empty; expected a header line and rows of numbers");
    }
    ++header.line;
  } while (trim(line).empty());
  header.delimiter = find_delimiter(line);
  std::vector<std::string_view> cells;
  split(line, header.delimiter, cells);
  for (const std::string_view cell : cells) header.names.emplace_back(unquote(cell));
  const auto is_number = [](const std::string& name) {
    return !name.empty() && parse_number(name).has_value();
  };
  if (std::all_of(header.names.begin(), header.names.end(), is_number)) {
    throw InputError(path + ":" + std::to_string(header.line) +
                     ": no header line; the first line must contain the column names");
  }
  return header;
}

int find_field(const std::string& path, const Header& header, const std::string& name) {
  const auto begin = header.names.begin();
  const auto found = std::find(begin, header.names.end(), name);
  const std::string where = path + ":" + std::to_string(header.line);
  if (found == header.names.end()) {
    throw InputError(where + ": no column \"" + name + "\"; the file has " + list_of(header.names) +
                     "; correct the name in the rig file's recording { }");
  }
  if (std::find(found + 1, header.names.end(), name) != header.names.end()) {
    throw InputError(where + ": two columns have the name \"" + name + "\"; rename one");
  }
  return static_cast<int>(found - begin);
}

[[noreturn]] void refuse_cell(const std::string& where, const std::string& column,
                              std::string_view cell, bool first_row) {
  const std::string shown(unquote(cell).substr(0, 40));
  const std::string who = where + ": column \"" + column + "\": ";
  if (is_missing(unquote(cell))) {
    throw InputError(who + (shown.empty() ? "an empty cell" : "\"" + shown + "\"") +
                     " instead of a number; remove the row (it then counts as a gap), or write "
                     "allow_missing: true for an angle that was not measured");
  }
  if (shown.find(',') != std::string::npos) {
    throw InputError(who + "\"" + shown + "\" has a decimal comma; write a decimal point");
  }
  if (first_row && is_enumeration(shown)) {
    throw TextColumnError(who + "holds text, such as \"" + shown + "\"; use a column of numbers");
  }
  throw InputError(who + "\"" + shown + "\" is not a finite number; correct or remove the row");
}

}  // namespace

std::string CsvTable::where(int row, int request) const {
  if (!sources.empty()) {
    return path + ": " + sources[static_cast<std::size_t>(request)] + ", row " +
           std::to_string(lines[static_cast<std::size_t>(row)]);
  }
  return path + ":" + std::to_string(lines[static_cast<std::size_t>(row)]) + ":" +
         std::to_string(fields[static_cast<std::size_t>(request)] + 1);
}

std::vector<std::string> parse_csv_header(const std::string& path, std::string_view text) {
  return take_header(path, text).names;
}

CsvTable parse_csv(const std::string& path, std::string_view text,
                   const std::vector<ColumnRequest>& requests) {
  std::string_view rest = text;
  const Header header = take_header(path, rest);
  CsvTable table;
  table.path = path;
  table.delimiter = header.delimiter;
  table.header = header.names;
  for (const ColumnRequest& request : requests) {
    table.fields.push_back(find_field(path, header, request.name));
  }
  table.values.resize(requests.size());
  std::vector<NameNumbers> names(requests.size());

  // A missing cell is allowed only in the last row, which is known once no row follows.
  int missing_request = -1;
  std::string_view line;
  std::vector<std::string_view> cells;
  for (int number = header.line + 1; take_line(rest, line); ++number) {
    if (trim(line).empty()) continue;
    if (missing_request >= 0) {
      const auto request = static_cast<std::size_t>(missing_request);
      refuse_cell(table.where(table.row_count() - 1, missing_request), requests[request].name, "",
                  false);
    }
    split(line, table.delimiter, cells);
    table.lines.push_back(number);
    if (cells.size() != table.header.size()) {
      throw InputError(path + ":" + std::to_string(number) + ": the row has " +
                       std::to_string(cells.size()) + " cells, the header " +
                       std::to_string(table.header.size()) + "; correct or remove the row");
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::string_view cell = cells[static_cast<std::size_t>(table.fields[i])];
      const std::optional<double> value =
          requests[i].kind == CellKind::kName ? names[i].number(unquote(cell)) : parse_number(cell);
      const bool missing = value && std::isnan(*value);
      if (!value || (missing && requests[i].missing == MissingCells::kForbidden)) {
        refuse_cell(table.where(table.row_count() - 1, static_cast<int>(i)), requests[i].name, cell,
                    table.row_count() == 1);
      }
      if (missing && requests[i].missing == MissingCells::kAllowedAtTheEnd) {
        missing_request = static_cast<int>(i);
      }
      table.values[i].push_back(*value);
    }
  }
  if (table.lines.empty()) {
    throw InputError(path + ": has a header but no rows; record something first");
  }
  return table;
}

}  // namespace proto
