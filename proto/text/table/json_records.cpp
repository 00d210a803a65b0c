#include "proto/text/table/json_records.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <vector>

namespace proto {
namespace {

constexpr int kJsonDepthMax = 32;

/// Receiver of the numbers, texts and words in a JSON value.
class JsonLeaves {
 public:
  virtual ~JsonLeaves() = default;
  /// @param path     such as "header.stamp.sec" or "position[0]"
  /// @param key_end  length of the outermost name in the path
  virtual void add(std::string_view path, std::size_t key_end, std::string_view value) = 0;
};

/// Reader of JSON values, which keeps no more than its position in the text.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  /// Moves to the next character that is not blank; returns it, or 0 at the end.
  char peek() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return c;
    }
    return '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  int line() const { return line_; }

  /// Reads a value and passes its leaves to the receiver.
  /// @return whether the text is JSON
  bool read_value(JsonLeaves& leaves) {
    path_.clear();
    return read(leaves, 0, 0);
  }

 private:
  bool read(JsonLeaves& leaves, int depth, std::size_t key_end) {
    if (depth > kJsonDepthMax) return false;
    if (take('{')) return read_members(leaves, depth, key_end);
    if (take('[')) return read_elements(leaves, depth, key_end);
    std::string_view value;
    if (!(peek() == '"' ? read_text(value) : read_word(value))) return false;
    leaves.add(path_, key_end, value);
    return true;
  }

  bool read_members(JsonLeaves& leaves, int depth, std::size_t key_end) {
    if (take('}')) return true;
    const std::size_t outer = path_.size();
    do {
      std::string_view key;
      if (peek() != '"' || !read_text(key) || !take(':')) return false;
      if (outer > 0) path_ += '.';
      path_ += key;
      const bool is_read = read(leaves, depth + 1, depth == 0 ? path_.size() : key_end);
      path_.resize(outer);
      if (!is_read) return false;
    } while (take(','));
    return take('}');
  }

  bool read_elements(JsonLeaves& leaves, int depth, std::size_t key_end) {
    if (take(']')) return true;
    const std::size_t outer = path_.size();
    int index = 0;
    do {
      path_ += "[" + std::to_string(index++) + "]";
      const bool is_read = read(leaves, depth + 1, key_end);
      path_.resize(outer);
      if (!is_read) return false;
    } while (take(','));
    return take(']');
  }

  bool read_text(std::string_view& value) {
    const std::size_t begin = ++at_;
    for (; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    value = text_.substr(begin, at_++ - begin);
    return true;
  }

  /// Reads a number, or a word such as true or NaN. null is empty.
  bool read_word(std::string_view& value) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::strchr(" \t\r\n,:{}[]\"", text_[at_]) == nullptr) ++at_;
    value = text_.substr(begin, at_ - begin);
    if (value == "true") value = "1";
    if (value == "false") value = "0";
    const bool is_null = value == "null";
    if (is_null) value = {};
    return is_null || !value.empty();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string path_;
};

/// Passes the leaves of a value to the current record. Elements of a row without names are "column
/// 1", "column 2" and so on.
class RecordLeaves final : public JsonLeaves {
 public:
  static constexpr int kColumnsMax = 100'000;

  explicit RecordLeaves(RecordSink& sink) : sink_(sink) {}
  void add(std::string_view path, std::size_t, std::string_view value) override {
    int index = 0;
    const char* const end = path.data() + path.size();
    const bool is_element = path.starts_with('[') && path.ends_with(']') &&
                            std::from_chars(path.data() + 1, end, index).ptr == end - 1 &&
                            index < kColumnsMax;
    if (!is_element) return sink_.add(path.empty() ? "value" : path, value);
    sink_.add("column " + std::to_string(index + 1), value);
  }

 private:
  RecordSink& sink_;
};

class IgnoredLeaves final : public JsonLeaves {
 public:
  void add(std::string_view, std::size_t, std::string_view) override {}
};

/// Collects the leaves of an object by their names without the index of the row, such as "t" for
/// "t[7]" or "t.7", and "data.t" for "data[7].t".
class ColumnLeaves final : public JsonLeaves {
 public:
  struct Column {
    std::string name;
    std::vector<std::string_view> values;
  };

  void add(std::string_view path, std::size_t key_end, std::string_view value) override {
    const std::size_t index_end = std::min(path.find_first_of(".[", key_end + 1), path.size());
    std::string name(path.substr(0, key_end));
    name += path.substr(index_end);
    auto at = places_.find(name);
    if (at == places_.end()) {
      if (columns.size() >= kTableColumnsMax) return;
      at = places_.emplace(name, columns.size()).first;
      columns.push_back({std::move(name), {}});
    }
    columns[at->second].values.push_back(value);
  }

  /// Returns the length that most columns of several values have; 0 if there are none.
  std::size_t most_frequent_length() const {
    std::map<std::size_t, int> counts;
    for (const Column& column : columns) ++counts[column.values.size()];
    counts.erase(1);
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    return most == counts.end() ? 0 : most->first;
  }

  std::vector<Column> columns = {};

 private:
  std::map<std::string, std::size_t> places_;  ///< indices in `columns`
};

std::string read_columns(std::string_view text, RecordSink& sink) {
  constexpr std::size_t kSizeMax = 32U << 20U;  // bytes, since all values are kept
  if (text.size() > kSizeMax) return "an object of columns may have at most 32 MiB";
  JsonReader reader(text);
  ColumnLeaves leaves;
  reader.read_value(leaves);
  const std::size_t rows = leaves.most_frequent_length();
  if (rows == 0) return "it has no columns of several values";
  for (std::size_t k = 0; k < rows; ++k) {
    for (const ColumnLeaves::Column& column : leaves.columns) {
      if (column.values.size() == rows) sink.add(column.name, column.values[k]);
    }
    sink.end_record(static_cast<int>(k) + 1);
  }
  return "";
}

}  // namespace

std::string read_json_records(std::string_view text, RecordSink& sink) {
  JsonReader reader(text);
  RecordLeaves leaves(sink);
  const bool is_array = reader.take('[');
  if (reader.peek() == '{' && !is_array) {
    IgnoredLeaves ignored;
    JsonReader first(text);
    const bool is_whole = first.read_value(ignored) && first.peek() == '\0';
    if (is_whole) return read_columns(text, sink);
  }
  int records = 0;
  while (reader.peek() != '\0' && reader.peek() != ']') {
    const int line = reader.line();
    // The last record of a log may be cut off.
    if (!reader.read_value(leaves)) {
      if (records > 0 && reader.peek() == '\0') break;
      return "line " + std::to_string(reader.line()) + " is not JSON";
    }
    sink.end_record(line);
    ++records;
    if (is_array && !reader.take(',')) break;
  }
  return records > 1 ? "" : "it has no list of records";
}

}  // namespace proto
