#include "proto/text/table/table_layout.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "proto/text/input_error.hpp"
#include "proto/text/table/table_cells.hpp"

namespace proto {
namespace {

constexpr std::array kDelimiters = {',', ';', '\t', ' '};
constexpr std::size_t kSampleLines = 64;  // of the last rows
constexpr int kHeaderLineMax = 10'000;    // the first row is searched up to this line
constexpr std::string_view kLabviewComment = "Comment";  // column that most rows lack

using Cells = std::vector<std::string_view>;

/// Returns the name in a cell of a header, with doubled quotes replaced by single ones.
std::string name_in_cell(std::string_view cell) {
  std::string name(unquote_cell(cell));
  if (trim_blanks(cell).starts_with('"')) {
    for (std::size_t k = name.find("\"\""); k != std::string::npos; k = name.find("\"\"", k + 1)) {
      name.erase(k, 1);
    }
  }
  return name;
}

bool has_number(std::string_view cell) {
  const std::optional<CellNumber> number = parse_cell(cell);
  return number && number->notation != CellNotation::kMissing;
}

bool has_text(std::string_view cell) { return !parse_cell(cell).has_value(); }

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Returns whether a cell below a header contains a unit, such as "rad", "[°]" or "(m/s)".
bool is_unit(std::string_view cell) {
  static const std::set<std::string_view> kUnits = {
      "s",     "sec",   "ms",     "us",     "µs",      "ns",     "min",   "rad", "mrad",
      "deg",   "gon",   "°",      "rev",    "turn",    "turns",  "m",     "cm",  "mm",
      "V",     "mV",    "A",      "mA",     "N",       "Nm",     "N·m",   "N*m", "N m",
      "mNm",   "Hz",    "%",      "-",      "1",       "g",      "count", "cnt", "inc",
      "ticks", "rad/s", "deg/s",  "°/s",    "m/s",     "rpm",    "K",     "°C",  "m/s^2",
      "m/s²",  "count", "counts", "degree", "degrees", "seconds"};
  cell = unquote_cell(cell);
  if (cell.empty()) return true;
  const bool has_brackets =
      (cell.front() == '[' && cell.back() == ']') || (cell.front() == '(' && cell.back() == ')');
  return has_brackets || kUnits.contains(cell);
}

/// Returns the units in the cells below a header, such as "rad" for "[rad]"; empty for none.
std::vector<std::string> units_in(const Cells& cells, std::size_t columns) {
  std::vector<std::string> units;
  for (const std::string_view cell : cells) {
    std::string_view unit = unquote_cell(cell);
    if (unit.size() > 1 && (unit.front() == '[' || unit.front() == '(')) {
      unit = trim_blanks(unit.substr(1, unit.size() - 2));
    }
    units.emplace_back(unit == "-" || unit == "1" ? std::string_view() : unit);
  }
  units.resize(columns);
  return units;
}

/// Returns the last lines of a text that are neither blank nor comments: at most kSampleLines, and
/// at most the second half of them. A last line without line break may be cut off and is left out.
std::vector<std::string_view> sample_rows(std::string_view text) {
  const char end = text.find('\n') == std::string_view::npos ? '\r' : '\n';
  std::vector<std::string_view> lines;
  bool is_unfinished = !text.empty() && text.back() != end;
  while (!text.empty() && lines.size() < 2 * kSampleLines) {
    if (text.back() == end) text.remove_suffix(1);
    const std::size_t begin = text.rfind(end) + 1;  // 0 if there is none
    const std::string_view line = text.substr(begin);
    text = text.substr(0, begin);
    if (is_blank_or_comment(line)) continue;
    if (!is_unfinished || text.empty()) lines.push_back(line);
    is_unfinished = false;
  }
  lines.resize(std::min(kSampleLines, (lines.size() + 1) / 2));
  return lines;
}

/// One way to split rows into cells.
struct Separation {
  char delimiter = ',';
  std::size_t columns = 0;             ///< most frequent number of cells
  double number_share = 0.0;           ///< of the cells that are not empty
  bool has_empty_end = false;          ///< the last column is empty: rows end with a delimiter
  std::vector<bool> is_number_column;  ///< most of its cells are numbers
};

Separation separate(const std::vector<std::string_view>& lines, char delimiter) {
  Separation found{.delimiter = delimiter};
  std::map<std::size_t, int> counts;
  Cells cells;
  for (const std::string_view line : lines) {
    split_cells(line, delimiter, cells);
    ++counts[cells.size()];
  }
  int most = 0;
  for (const auto& [columns, count] : counts) {
    if (count < most) continue;
    most = count;
    found.columns = columns;
  }
  std::vector<int> numbers(found.columns), texts(found.columns);
  found.has_empty_end = found.columns > 1;
  for (const std::string_view line : lines) {
    split_cells(line, delimiter, cells);
    if (cells.size() != found.columns) continue;
    found.has_empty_end = found.has_empty_end && trim_blanks(cells.back()).empty();
    for (std::size_t k = 0; k < cells.size(); ++k) {
      numbers[k] += has_number(cells[k]) ? 1 : 0;
      texts[k] += has_text(cells[k]) ? 1 : 0;
    }
  }
  double number_count = 0.0, text_count = 0.0;
  for (std::size_t k = 0; k < found.columns; ++k) {
    number_count += numbers[k];
    text_count += texts[k];
    found.is_number_column.push_back(numbers[k] > texts[k]);
  }
  if (number_count > 0.0) found.number_share = number_count / (number_count + text_count);
  return found;
}

/// Returns the ways to split the last rows of a text into cells, the best one first.
std::vector<Separation> find_separations(std::string_view text, char declared) {
  const std::vector<std::string_view> lines = sample_rows(text);
  std::vector<Separation> found;
  for (const char delimiter : kDelimiters) {
    if (declared == '\0' || declared == delimiter) found.push_back(separate(lines, delimiter));
  }
  std::ranges::stable_sort(found, [](const Separation& a, const Separation& b) {
    return a.number_share != b.number_share ? a.number_share > b.number_share
                                            : a.columns > b.columns;
  });
  return found;
}

/// A line before the rows of a table, with its cells.
struct HeaderLine {
  int number = 0;  ///< 0: no line
  std::string_view line;
  std::string_view rest;  ///< text after the line
  Cells cells;
};

/// Searches the header and the first row of a table.
class HeaderSearch {
 public:
  HeaderSearch(const Separation& separation, std::string_view text, int lines_before)
      : separation_(separation), lines_before_(lines_before), text_(text) {}

  /// Returns the layout; nullopt if the text has no row of numbers with this separator.
  std::optional<TableLayout> run() {
    LineReader reader(text_, lines_before_);
    std::string_view before = text_;  // from the current line on
    for (; reader.next() && reader.number() <= kHeaderLineMax; before = reader.rest()) {
      const std::string_view line = reader.line();
      if (trim_blanks(line).empty()) continue;
      HeaderLine now{reader.number(), line, reader.rest(), {}};
      if (is_blank_or_comment(line)) {
        comment_ = std::move(now);
        continue;
      }
      split_cells(line, separation_.delimiter, now.cells);
      if (is_row(now.cells) && !is_header_of_next(now, reader)) return make_layout(now, before);
      // A damaged row below a header is no header: its cells are to be reported.
      if (last_.number > 0 && fits(last_.cells) && is_damaged_row(now.cells)) continue;
      ++text_lines_;
      above_ = std::move(last_);
      last_ = std::move(now);
      comment_ = {};
    }
    return std::nullopt;
  }

 private:
  /// Returns whether a line has as many cells as the rows, apart from an empty one at the end.
  bool fits(const Cells& cells) const {
    const std::size_t columns = separation_.columns;
    if (cells.size() == columns + 1) {
      const std::string_view end = trim_blanks(cells.back());
      return end.empty() || end == kLabviewComment;
    }
    return cells.size() == columns || (separation_.has_empty_end && cells.size() + 1 == columns);
  }

  /// Returns whether a line has the cells of a row: no text in the columns of numbers.
  bool is_row(const Cells& cells) const {
    if (!fits(cells)) return false;
    bool has_numbers = false;
    for (std::size_t k = 0; k < std::min(cells.size(), separation_.columns); ++k) {
      if (!separation_.is_number_column[k]) continue;
      if (has_text(cells[k])) return false;
      has_numbers |= has_number(cells[k]);
    }
    return has_numbers;
  }

  /// Returns whether a line has the cells of a row, but a word among its numbers, or no number.
  bool is_damaged_row(const Cells& cells) const {
    if (!fits(cells)) return false;
    return has_number(cells.front()) || std::ranges::none_of(cells, has_text);
  }

  /// Returns whether the first line of a text, although its cells are numbers, names the columns
  /// below it: its first cell is empty, and that of the next line is a number. pandas writes such a
  /// header for an array.
  bool is_header_of_next(const HeaderLine& line, LineReader reader) const {
    if (text_lines_ > 0 || !trim_blanks(line.cells.front()).empty()) return false;
    Cells next;
    if (!reader.next()) return false;
    split_cells(reader.line(), separation_.delimiter, next);
    return is_row(next) && has_number(next.front());
  }

  /// Returns whether a line can name the columns: the first line of the text may be anything, a
  /// later one must not begin with a number.
  bool is_header(const HeaderLine& line) const {
    return line.number > 0 && fits(line.cells) &&
           (text_lines_ == 1 || !has_number(line.cells.front()));
  }

  TableLayout make_layout(const HeaderLine& row, std::string_view rows) {
    TableLayout layout;
    layout.delimiter = separation_.delimiter;
    int skipped = text_lines_;
    const HeaderLine last = with_brackets_merged(last_);
    if (is_header(last)) {
      const HeaderLine above = with_brackets_merged(above_);
      const bool has_units = is_header(above) && std::ranges::all_of(last.cells, is_unit) &&
                             !std::ranges::all_of(above.cells, is_unit);
      take_names(has_units ? above : last, layout);
      layout.rows = last.rest;
      layout.lines_before_rows = last.number;
      skipped -= has_units ? 2 : 1;
      if (has_units) {
        layout.units = units_in(last.cells, layout.names.size());
        layout.assumptions.push_back("units in line " + std::to_string(last.number));
      }
    } else {
      layout.rows = rows;
      layout.lines_before_rows = row.number - 1;
      if (const HeaderLine named = named_by_comment(); named.number > 0) {
        take_names(named, layout);
        layout.assumptions.push_back("column names from the comment in line " +
                                     std::to_string(named.number));
      } else {
        layout.has_header = false;
        layout.header_line = row.number;
        layout.names.resize(separation_.columns - (separation_.has_empty_end ? 1 : 0));
        if (last.number > 0) layout.mismatch = describe_mismatch(last, row);
      }
    }
    if (skipped > 0) {
      layout.assumptions.push_back(plural(static_cast<std::size_t>(skipped), "line") +
                                   " above the table left out");
    }
    return layout;
  }

  void take_names(const HeaderLine& header, TableLayout& layout) const {
    layout.header_line = header.number;
    for (const std::string_view cell : header.cells) {
      std::string name = name_in_cell(cell);
      const std::size_t number = layout.names.size() + 1;
      const bool is_empty_end = separation_.has_empty_end && number == separation_.columns;
      if (name.empty() && number <= separation_.columns && !is_empty_end) {
        name = "column " + std::to_string(number);
        layout.assumptions.push_back(name + " has no name and is called \"" + name + "\"");
      }
      layout.names.push_back(std::move(name));
    }
  }

  std::string describe_mismatch(const HeaderLine& last, const HeaderLine& row) const {
    std::string text = "line " + std::to_string(last.number) + " has " +
                       plural(last.cells.size(), "cell") + ", but the rows have " +
                       std::to_string(row.cells.size());
    if (separation_.delimiter == ',' && row.cells.size() == 2 * last.cells.size()) {
      text += "; with decimal commas, \"" + std::string(trim_blanks(row.line).substr(0, 40)) +
              "\" would have " + std::to_string(last.cells.size()) +
              "; write decimal points, or separate cells by semicolons";
    }
    return text;
  }

  /// Returns the cells of a header in a comment directly before the rows; no line if there is none.
  HeaderLine named_by_comment() const {
    HeaderLine comment = comment_;
    if (comment.number == 0) return {};
    const std::string_view line = trim_blanks(comment.line);
    const std::size_t begin = line.find_first_not_of("#%/ \t");
    if (begin == std::string_view::npos) return {};
    for (const char delimiter : {separation_.delimiter, ',', '\t', ' '}) {
      split_cells(line.substr(begin), delimiter, comment.cells);
      comment = with_brackets_merged(std::move(comment));
      const bool has_names =
          std::ranges::all_of(comment.cells, [](std::string_view cell) { return has_text(cell); });
      if (comment.cells.size() == separation_.columns && separation_.columns > 1 && has_names) {
        return comment;
      }
    }
    return {};
  }

  /// Joins units in brackets with the names before them, if blanks separate cells: "Time [s]".
  HeaderLine with_brackets_merged(HeaderLine header) const {
    Cells merged;
    for (const std::string_view cell : header.cells) {
      const bool is_suffix = !merged.empty() && (cell.starts_with('[') || cell.starts_with('('));
      if (is_suffix) {
        const char* const begin = merged.back().data();
        merged.back() =
            std::string_view(begin, static_cast<std::size_t>(cell.data() + cell.size() - begin));
      } else {
        merged.push_back(cell);
      }
    }
    if (merged.size() == separation_.columns) header.cells = std::move(merged);
    return header;
  }

  const Separation& separation_;
  int lines_before_;
  std::string_view text_;
  HeaderLine above_, last_;  ///< last two lines before the current one
  HeaderLine comment_;       ///< last comment after them
  int text_lines_ = 0;       ///< number of lines before the first row, without comments
};

/// Returns the text after the second header of a LabVIEW measurement file (.lvm).
std::string_view skip_labview_headers(std::string_view text, int& lines) {
  LineReader reader(text);
  std::string_view rest = text;
  for (int headers = 0; headers < 2 && reader.next();) {
    if (!trim_blanks(reader.line()).starts_with("***End_of_Header***")) continue;
    ++headers;
    rest = reader.rest();
    lines = reader.number();
  }
  return rest;
}

/// Returns the layout of a table without rows of numbers, whose first line is taken as the header.
TableLayout layout_of_first_line(const std::string& path, const Separation& separation,
                                 std::string_view text, int lines_before) {
  LineReader reader(text, lines_before);
  bool found = false;
  while (!found && reader.next()) found = !is_blank_or_comment(reader.line());
  if (!found) {
    throw InputError(path + ": the file is empty; expected a header line and rows of numbers");
  }
  TableLayout layout;
  layout.delimiter = separation.delimiter;
  layout.header_line = layout.lines_before_rows = reader.number();
  layout.rows = reader.rest();
  Cells cells;
  split_cells(reader.line(), layout.delimiter, cells);
  for (const std::string_view cell : cells) layout.names.push_back(name_in_cell(cell));
  return layout;
}

void name_columns(const std::string& path, const std::vector<std::string>& names,
                  TableLayout& layout) {
  if (layout.has_header) return;
  const std::size_t columns = layout.names.size();
  if (!names.empty() && names.size() != columns) {
    throw InputError(path + ":" + std::to_string(layout.header_line) + ": the row has " +
                     plural(columns, "cell") + ", but names are given for " +
                     std::to_string(names.size()) + "; give one name for each column");
  }
  for (std::size_t k = 0; k < columns; ++k) {
    layout.names[k] = names.empty() ? std::to_string(k + 1) : names[k];
  }
  const std::string why = layout.mismatch.empty() ? "" : " (" + layout.mismatch + ")";
  layout.assumptions.push_back(
      "no header line" + why +
      (names.empty() ? ", columns are named by their numbers" : ", columns are named as given"));
}

/// Finds pairs of columns with the seconds and the nanoseconds of a time stamp.
std::vector<TimeStampColumn> find_time_stamps(const std::vector<std::string>& names) {
  constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"sec", "nanosec"}, {"secs", "nsecs"}, {"sec", "nsec"}};
  std::vector<TimeStampColumn> found;
  for (const auto& [seconds, nanoseconds] : kEnds) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (!names[k].ends_with(seconds)) continue;
      const std::string prefix = names[k].substr(0, names[k].size() - seconds.size());
      const auto other = std::ranges::find(names, prefix + std::string(nanoseconds));
      if (other == names.end()) continue;
      const std::size_t end = prefix.find_last_not_of("._/ ") + 1;
      found.push_back({end > 0 ? prefix.substr(0, end) : "stamp", static_cast<int>(k),
                       static_cast<int>(other - names.begin())});
    }
  }
  std::erase_if(found, [&](const TimeStampColumn& stamp) {
    return std::ranges::find(names, stamp.name) != names.end();
  });
  return found;
}

}  // namespace

LineReader::LineReader(std::string_view text, int lines_before)
    : rest_(text),
      end_(text.find('\n') == std::string_view::npos ? '\r' : '\n'),
      number_(lines_before) {}

bool LineReader::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find(end_);
  has_break_ = end != std::string_view::npos;
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(has_break_ ? end + 1 : rest_.size());
  ++number_;
  return true;
}

bool is_blank_or_comment(std::string_view line) {
  line = trim_blanks(line);
  return line.empty() || line.front() == '#' || line.front() == '%' || line.starts_with("//");
}

TableLayout find_table_layout(const std::string& path, std::string_view text,
                              const std::vector<std::string>& names) {
  int lines_before = 0;
  std::string_view table = text;
  char declared = '\0';
  const bool is_labview = text.starts_with("LabVIEW Measurement");
  if (is_labview) table = skip_labview_headers(text, lines_before);
  LineReader first(text);
  if (first.next() && first.line().starts_with("sep=") && first.line().size() > 4) {
    declared = first.line()[4];
    table = first.rest();
    lines_before = 1;
  }
  const std::vector<Separation> separations = find_separations(table, declared);
  if (!separations.empty() && separations.front().columns > kTableColumnsMax) {
    throw InputError(path + ": the rows have more than " + std::to_string(kTableColumnsMax) +
                     " cells; save only the signals");
  }
  if (separations.empty()) {
    throw InputError(path + ":1: \"" + std::string(trim_blanks(first.line())) +
                     "\" is not a supported separator; use a comma, semicolon, tab or blank");
  }
  std::optional<TableLayout> layout;
  for (const Separation& separation : separations) {
    if (!(separation.number_share > 0.0)) continue;
    std::optional<TableLayout> found = HeaderSearch(separation, table, lines_before).run();
    // Rows with whole numbers and commas may be meant as one column of decimals, but seldom are.
    const bool is_better =
        found && (!layout || (found->has_header && !layout->has_header &&
                              separation.number_share == 1.0 && separation.columns > 1));
    if (is_better) layout = std::move(found);
  }
  if (!layout) layout = layout_of_first_line(path, separations.front(), table, lines_before);
  name_columns(path, names, *layout);
  layout->stamps = find_time_stamps(layout->names);
  if (is_labview) {
    if (layout->names.back() == kLabviewComment) layout->names.pop_back();
    layout->has_extra_cells = true;
    layout->assumptions.push_back("LabVIEW measurement file");
  }
  constexpr std::pair<char, const char*> kNotes[] = {{';', "semicolons between cells"},
                                                     {'\t', "tabs between cells"},
                                                     {' ', "blanks between cells"}};
  for (const auto& [delimiter, note] : kNotes) {
    if (layout->delimiter == delimiter)
      layout->assumptions.insert(layout->assumptions.begin(), note);
  }
  return *std::move(layout);
}

}  // namespace proto
