#include "proto/text/table/record_text.hpp"

#include <algorithm>
#include <vector>

#include "proto/text/input_error.hpp"
#include "proto/text/table/json_records.hpp"
#include "proto/text/table/record_sink.hpp"
#include "proto/text/table/table_cells.hpp"
#include "proto/text/table/table_layout.hpp"

namespace proto {
namespace {

constexpr std::string_view kNameEnds = ":=";
constexpr std::string_view kCellEnds = ",;\t";
constexpr int kFirstLines = 200;

/// Returns the part of a line up to a time of receipt and its arrow, such as "10:11:12.000 -> ".
std::string_view receive_time_of(std::string_view line) {
  const std::size_t end = end_of_receive_time(line);
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

/// Passes the values of a line such as "angle:1.23,speed:0.5" or "angle: 1.23 speed: 0.5".
/// @return whether all of the line has this form; otherwise nothing is passed
bool read_labelled_line(std::string_view line, RecordSink* sink) {
  std::vector<std::pair<std::string_view, std::string_view>> values;
  line = trim_blanks(line);
  while (!line.empty()) {
    const std::size_t colon = line.find_first_of(kNameEnds);
    if (colon == std::string_view::npos) return false;
    const std::string_view name = trim_blanks(line.substr(0, colon));
    if (name.empty() || !is_letter(name.front()) || name.find_first_of(kCellEnds) != name.npos) {
      return false;
    }
    line = trim_blanks(line.substr(colon + 1));
    const std::size_t end = std::min(line.find_first_of(",;\t "), line.size());
    const std::string_view value = line.substr(0, end);
    const auto number = parse_cell(value);
    if (value.empty() || !number || number->notation == CellNotation::kClock) return false;
    values.emplace_back(name, value);
    line = trim_blanks(line.substr(end));
    if (!line.empty() && kCellEnds.find(line.front()) != kCellEnds.npos) {
      line = trim_blanks(line.substr(1));
    }
  }
  if (sink != nullptr) {
    for (const auto& [name, value] : values) sink->add(name, value);
  }
  return !values.empty();
}

std::string_view without_receive_time(std::string_view line) {
  return line.substr(receive_time_of(line).size());
}

/// Returns whether most of the first lines name their values.
bool is_labelled(std::string_view text) {
  int lines = 0, labelled = 0;
  for (LineReader reader(text); lines < kFirstLines && reader.next();) {
    if (is_blank_or_comment(reader.line())) continue;
    ++lines;
    labelled += read_labelled_line(without_receive_time(reader.line()), nullptr) ? 1 : 0;
  }
  return labelled > 1 && 2 * labelled > lines;
}

void read_labelled_lines(std::string_view text, RecordSink& sink) {
  for (LineReader reader(text); reader.next();) {
    // A last line without line break may be cut off.
    if (reader.is_unfinished() && sink.record_count() > 0) break;
    if (!read_labelled_line(without_receive_time(reader.line()), &sink)) continue;
    sink.set_row_begin(receive_time_of(reader.line()));
    sink.end_record(reader.number());
  }
}

/// Reader of YAML documents of mappings and lists, as `ros2 topic echo` prints them.
class YamlReader {
 public:
  explicit YamlReader(RecordSink& sink) : sink_(sink) {}

  void read(std::string_view text) {
    int first = 0;
    for (LineReader reader(text); reader.next();) {
      const std::string_view content = trim_blanks(reader.line());
      if (content == "---") {
        if (first > 0) sink_.end_record(first);
        levels_.clear();
        first = 0;
        continue;
      }
      if (content.empty() || content.front() == '#') continue;
      if (first == 0) first = reader.number();
      read_line(content, reader.line().find_first_not_of(' '));
    }
    // A document without end may be cut off.
  }

 private:
  /// A mapping or a list that contains the current line.
  struct Level {
    std::size_t indent;
    std::string path;
    bool is_item;
    int items = 0;
  };

  void read_line(std::string_view content, std::size_t indent) {
    constexpr std::size_t kDepthMax = 32;
    while (content.starts_with("- ") && levels_.size() < kDepthMax) {
      leave(indent, true);
      std::string path =
          levels_.empty() ? "" : levels_.back().path + "[" + std::to_string(items()++) + "]";
      const std::string_view item = trim_blanks(content.substr(2));
      const std::size_t colon = item.find(": ");
      if (colon == item.npos && !item.ends_with(':')) return add(path, item);
      levels_.push_back({indent, std::move(path), true});
      content = item;
      indent += 2;
    }
    leave(indent, false);
    const std::size_t colon = content.find(':');
    if (colon == content.npos || levels_.size() >= kDepthMax) return;
    std::string path = levels_.empty() ? "" : levels_.back().path + ".";
    path += content.substr(0, colon);
    const std::string_view value = trim_blanks(content.substr(colon + 1));
    if (value.empty()) {
      levels_.push_back({indent, std::move(path), false});
    } else {
      add(path, value);
    }
  }

  /// Leaves the levels that a line with this indent is not in. Items may be as far left as the key
  /// of their list.
  void leave(std::size_t indent, bool is_item) {
    while (!levels_.empty() &&
           (levels_.back().indent > indent ||
            (levels_.back().indent == indent && (levels_.back().is_item || !is_item)))) {
      levels_.pop_back();
    }
  }

  int& items() { return levels_.back().items; }

  /// Adds a value, or the elements of a list in brackets.
  void add(const std::string& path, std::string_view value) {
    if (!value.starts_with('[') || !value.ends_with(']')) {
      return sink_.add(path, unquote(value));
    }
    value = value.substr(1, value.size() - 2);
    for (int k = 0; !value.empty() && k < static_cast<int>(kTableColumnsMax); ++k) {
      const std::size_t end = std::min(value.find(','), value.size());
      sink_.add(path + "[" + std::to_string(k) + "]", unquote(trim_blanks(value.substr(0, end))));
      value.remove_prefix(std::min(end + 1, value.size()));
    }
  }

  static std::string_view unquote(std::string_view value) {
    const bool has_quotes = value.size() > 1 && value.front() == '\'' && value.back() == '\'';
    if (has_quotes) return value.substr(1, value.size() - 2);
    return value == "true" ? "1" : value == "false" ? "0" : value == ".nan" ? "nan" : value;
  }

  RecordSink& sink_;
  std::vector<Level> levels_;
};

/// Returns whether a text consists of YAML documents: its first lines are mappings and list items,
/// some of them end with a colon, and a line "---" separates two documents.
bool is_yaml(std::string_view text) {
  int lines = 0, entries = 0, opened = 0, separators = 0;
  for (LineReader reader(text); lines < kFirstLines && reader.next();) {
    const std::string_view line = trim_blanks(reader.line());
    if (line.empty() || line.front() == '#') continue;
    ++lines;
    separators += line == "---" ? 1 : 0;
    opened += is_letter(line.front()) && line.ends_with(':') ? 1 : 0;
    entries += line == "---" || line.starts_with("- ") ||
                       (is_letter(line.front()) && line.find(':') != line.npos)
                   ? 1
                   : 0;
  }
  return separators > 0 && opened > 0 && entries == lines;
}

}  // namespace

RecordText convert_records(const std::string& path, std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  RecordSink sink;
  if (text[begin] == '{' || text[begin] == '[') {
    const std::string why = read_json_records(text, sink);
    if (!why.empty() && text[begin] == '[') return {};  // may be a time stamp in brackets
    if (!why.empty()) {
      throw InputError(path + ": this JSON text is no table: " + why +
                       ". Write an object per line, or an object of columns of equal length, such "
                       "as {\"t\": [0, 0.01], \"angle\": [0.1, 0.2]}. A result of rigcal is given "
                       "as --parameters");
    }
    sink.begin_rows();
    (void)read_json_records(text, sink);
    return {sink.take_table(), "JSON"};
  }
  if (is_labelled(text)) {
    read_labelled_lines(text, sink);
    sink.drop_rare_names();
    LineReader first(text);
    std::string_view before;
    while (before.empty() && first.next()) before = receive_time_of(first.line());
    sink.begin_rows(before);
    read_labelled_lines(text, sink);
    return {sink.take_table(), "values with names, as for a serial plotter"};
  }
  if (!is_yaml(text)) return {};
  YamlReader(sink).read(text);
  if (sink.record_count() < 2) return {};
  sink.begin_rows();
  YamlReader(sink).read(text);
  return {sink.take_table(), "YAML"};
}

}  // namespace proto
