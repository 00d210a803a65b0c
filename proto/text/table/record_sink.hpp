#pragma once

#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "proto/text/table/table_cells.hpp"

namespace proto {

/// Writer of a table from records of named values. All records are passed twice: the first pass
/// collects the names, the second pass writes the rows.
class RecordSink {
 public:
  /// Adds a value of the current record. Values beyond kTableColumnsMax names are left out.
  void add(std::string_view name, std::string_view value) {
    auto at = columns_.find(name);
    if (at == columns_.end()) {
      if (columns_.size() >= kTableColumnsMax) return;
      at = columns_.emplace(std::string(name), columns_.size()).first;
      names_.push_back({std::string(name)});
    }
    ++names_[at->second].count;
    if (is_writing_) cells_[at->second] = value;
  }

  /// Removes names that occur in only one or two records of a long text, such as "Offset: 12" in
  /// the start messages of a program.
  void drop_rare_names() {
    constexpr int kRareMax = 2, kUsualMin = 20;
    if (names_.empty()) return;
    if (std::ranges::max(names_, {}, &Name::count).count < kUsualMin) return;
    for (Name& each : names_) each.is_dropped = each.count <= kRareMax;
  }

  /// Ends a record that began in a line of the text. Records without values are left out.
  void end_record(int line) {
    ++records_;
    if (!is_writing_) return;
    const auto is_used = [&](std::size_t k) { return !names_[k].is_dropped && !cells_[k].empty(); };
    if (std::ranges::any_of(std::views::iota(std::size_t{0}, cells_.size()), is_used))
      write_row(line);
    std::ranges::fill(cells_, std::string_view());
  }

  /// Begins the second pass.
  /// @param before  text before the names in the header line
  void begin_rows(std::string_view before = {}) {
    is_writing_ = true;
    records_ = 0;
    cells_.resize(names_.size());
    table_ = before;
    write_cells([&](std::size_t k) { return std::string_view(names_[k].text); });
  }

  /// Sets a text to write before the next row, such as a time of receipt.
  void set_row_begin(std::string_view before) { before_ = before; }

  int record_count() const { return records_; }
  std::size_t column_count() const { return names_.size(); }
  std::string take_table() { return std::move(table_); }

 private:
  struct Name {
    std::string text;
    int count = 0;            ///< number of values
    bool is_dropped = false;  ///< whether the name gets no column
  };

  /// Writes the current record to line `line` + 1, or to the next line that is not yet written.
  void write_row(int line) {
    for (; lines_ < line; ++lines_) table_ += '\n';
    table_ += before_;
    write_cells([&](std::size_t k) { return cells_[k]; });
    ++lines_;
  }

  template <typename CellAt>
  void write_cells(const CellAt& cell_at) {
    bool is_first = true;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (names_[k].is_dropped) continue;
      if (!is_first) table_ += ',';
      write_cell(cell_at(k));
      is_first = false;
    }
    table_ += '\n';
  }

  void write_cell(std::string_view cell) {
    const bool needs_quotes = cell.find_first_of(",;\t\" \n\r") != std::string_view::npos;
    if (!needs_quotes) {
      table_ += cell;
      return;
    }
    table_ += '"';
    for (const char c : cell) {
      if (c != '"' && c != '\n' && c != '\r') table_ += c;
    }
    table_ += '"';
  }

  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<Name> names_;
  std::vector<std::string_view> cells_;
  std::string_view before_;
  std::string table_;
  bool is_writing_ = false;
  int records_ = 0;
  int lines_ = 1;  ///< number of lines of the text that are in the table
};

}  // namespace proto
