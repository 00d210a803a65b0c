#include "proto/text/text_edit.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"

namespace proto {
namespace {

using google::protobuf::TextFormat;

/// Returns the start of a line; the end of the text for a line beyond the last.
std::size_t begin_of_line(std::string_view text, int line) {
  std::size_t at = 0;
  for (; line > 0 && at < text.size(); --line) {
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return at;
}

/// Returns the byte at a location of Protobuf's tokenizer, whose tabs are eight columns wide.
std::size_t byte_of(std::string_view text, TextFormat::ParseLocation place) {
  constexpr int kTabWidth = 8;
  std::size_t at = begin_of_line(text, place.line);
  for (int column = 0; column < place.column && at < text.size(); ++at) {
    column += text[at] == '\t' ? kTabWidth - column % kTabWidth : 1;
  }
  return at;
}

/// Returns the start of a line's comment; npos: none. A '#' inside quotes does not start one.
std::size_t find_comment(std::string_view line) {
  char quote = '\0';
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != '\0') {
      if (c == '\\') ++at;
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      return at;
    }
  }
  return std::string_view::npos;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Keeps aligned comments in their column while the text before them grows, if possible.
void keep_column(std::string& text, std::size_t from, std::ptrdiff_t growth) {
  const std::size_t end = std::min(text.find('\n', from), text.size());
  const std::size_t comment = find_comment(std::string_view(text).substr(from, end - from));
  if (comment == std::string::npos) return;
  std::size_t blanks = 0;
  while (blanks < comment && text[from + comment - 1 - blanks] == ' ') ++blanks;
  if (growth < 0 && blanks > 0) {
    text.insert(from + comment, static_cast<std::size_t>(-growth), ' ');
  } else if (growth > 0 && blanks > 2) {
    const std::size_t less = std::min(static_cast<std::size_t>(growth), blanks - 2);
    text.erase(from + comment - less, less);
  }
}

// With more pairs of lines, everything between the first and the last change is shown.
constexpr std::size_t kPairsMax = 4'000'000;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string numbered(std::size_t index, char sign, std::string_view line) {
  char number[32];
  std::snprintf(number, sizeof number, "%5zu %c ", index + 1, sign);
  return number + std::string(line) + '\n';
}

}  // namespace

TextEdit::TextEdit(std::string path, std::string text, const google::protobuf::Message& type)
    : path_(std::move(path)), text_(strip_byte_order_mark(text)), type_(&type) {}

std::optional<TextEdit::TextRange> TextEdit::find(const std::vector<FieldStep>& steps) const {
  const std::unique_ptr<google::protobuf::Message> message(type_->New());
  TextLocator::Tree tree;
  parse_text(path_, text_, *message, tree);
  const TextLocator::Tree* nested = &tree;
  TextRange span{0, text_.size()};
  for (const FieldStep& step : steps) {
    if (nested == nullptr) return std::nullopt;
    const auto range = nested->GetLocationRange(step.field, step.index);
    if (range.start.line < 0) return std::nullopt;
    span = {byte_of(text_, range.start), byte_of(text_, range.end)};
    nested = step.field->message_type() == nullptr
                 ? nullptr
                 : nested->GetTreeForNested(step.field, step.index);
  }
  // The parser's range of a field includes the separator after it.
  const auto separates = [](char c) { return c == ',' || c == ';' || is_blank(c); };
  while (span.end > span.begin && separates(text_[span.end - 1])) --span.end;
  return span;
}

TextEdit::TextRange TextEdit::at(const std::vector<FieldStep>& steps) const {
  if (const auto span = find(steps)) return *span;
  throw InputError(
      "{}: has no field {:?} that can be changed; "
      "write each entry as a separate field instead of a list [ ... ]",
      path_, steps.back().field->name());
}

bool TextEdit::has(const std::vector<FieldStep>& steps) const { return find(steps).has_value(); }

int TextEdit::line_of(const std::vector<FieldStep>& steps) const {
  return static_cast<int>(std::count(
      text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at(steps).begin), '\n'));
}

std::string_view TextEdit::text_of(const std::vector<FieldStep>& steps) const {
  const TextRange span = at(steps);
  return std::string_view(text_).substr(span.begin, span.end - span.begin);
}

void TextEdit::replace(const std::vector<FieldStep>& steps, std::string_view text) {
  const TextRange span = at(steps);
  text_.replace(span.begin, span.end - span.begin, text);
}

void TextEdit::set_number(const std::vector<FieldStep>& steps, const std::string& number) {
  const std::optional<TextRange> span = find(steps);
  if (!span) {
    std::size_t existing = steps.size() - 1;
    const auto first = [&](std::size_t count) {
      return std::vector<FieldStep>(steps.begin(),
                                    steps.begin() + static_cast<std::ptrdiff_t>(count));
    };
    while (existing > 0 && !has(first(existing))) --existing;
    return add(steps, existing, number);
  }
  std::size_t begin = text_.find(':', span->begin);
  if (begin >= span->end) begin = span->begin + steps.back().field->name().size() - 1;
  for (++begin; begin < span->end && is_blank(text_[begin]);) ++begin;
  const auto growth =
      static_cast<std::ptrdiff_t>(number.size()) - static_cast<std::ptrdiff_t>(span->end - begin);
  text_.replace(begin, span->end - begin, number);
  keep_column(text_, begin, growth);
}

/// Inserts an omitted field into the innermost message that exists.
void TextEdit::add(const std::vector<FieldStep>& steps, std::size_t existing,
                   const std::string& number) {
  std::string field = steps.back().field->name() + ": " + number;
  for (std::size_t k = steps.size() - 1; k-- > existing;) {
    if (steps[k].index >= 0) {
      throw InputError(
          "{}: has no field {:?} that can be changed; "
          "write each entry as a separate field instead of a list [ ... ]",
          path_, steps[k].field->name());
    }
    field = steps[k].field->name() + " { " + field + " }";
  }
  if (existing == 0) {
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    text_ += field + "\n";
    return;
  }
  const TextRange span = at({steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(existing)});
  const std::size_t close = span.end - 1;
  if (text_[close] != '}' && text_[close] != '>') {
    throw InputError(
        "{}: {:?} is in a list [ ... ] and cannot be extended; write it as a separate field", path_,
        steps[existing - 1].field->name());
  }
  std::size_t line = close;
  while (line > 0 && (text_[line - 1] == ' ' || text_[line - 1] == '\t')) --line;
  const bool stands_alone = line > 0 && text_[line - 1] == '\n';
  if (stands_alone) {
    text_.insert(line, text_.substr(line, close - line) + "  " + field + "\n");
    return;
  }
  const bool spaced = is_blank(text_[close - 1]);
  text_.insert(close, (spaced ? "" : " ") + field + " ");
  keep_column(text_, close, static_cast<std::ptrdiff_t>(field.size()) + 1);
}

TextEdit::TextRange TextEdit::line_span(int line) const {
  const std::size_t begin = begin_of_line(text_, line);
  std::size_t end = std::min(text_.find('\n', begin), text_.size());
  if (end > begin && text_[end - 1] == '\r') --end;
  return {begin, end};
}

std::string TextEdit::line_comment(int line) const {
  const TextRange span = line_span(line);
  std::string_view text = std::string_view(text_).substr(span.begin, span.end - span.begin);
  const std::size_t comment = find_comment(text);
  if (comment == std::string_view::npos) return "";
  text.remove_prefix(comment + 1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

void TextEdit::set_comment(int line, const std::string& comment) {
  const TextRange span = line_span(line);
  const auto text = std::string_view(text_).substr(span.begin, span.end - span.begin);
  const std::size_t old = find_comment(text);
  if (comment.empty()) {
    if (old == std::string_view::npos) return;
    const std::size_t last = text.find_last_not_of(" \t", old == 0 ? 0 : old - 1);
    const std::size_t keep = old == 0 || last == std::string_view::npos ? 0 : last + 1;
    text_.erase(span.begin + keep, text.size() - keep);
  } else if (old != std::string_view::npos) {
    text_.replace(span.begin + old, text.size() - old, "# " + comment);
  } else {
    text_.insert(span.end, "  # " + comment);
  }
}

void TextEdit::insert_line(int before, const std::string& line) {
  text_.insert(begin_of_line(text_, before), line + "\n");
}

std::string diff_lines(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  std::size_t end_a = a.size(), end_b = b.size();
  while (end_a > begin && end_b > begin && a[end_a - 1] == b[end_b - 1]) --end_a, --end_b;

  // common[i][j]: length of the longest common subsequence of the lines from i and from j on.
  const std::size_t rows = end_a - begin, columns = end_b - begin;
  const bool is_small = rows * columns <= kPairsMax;
  std::vector<std::uint32_t> common(is_small ? (rows + 1) * (columns + 1) : 0, 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return common[i * (columns + 1) + j];
  };
  for (std::size_t i = rows; is_small && i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      at(i, j) = a[begin + i] == b[begin + j] ? at(i + 1, j + 1) + 1
                                              : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  std::string diff;
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (is_small && i < rows && j < columns && a[begin + i] == b[begin + j]) {
      ++i, ++j;
    } else if (i < rows && (!is_small || j == columns || at(i + 1, j) >= at(i, j + 1))) {
      diff += numbered(begin + i, '-', a[begin + i]);
      ++i;
    } else {
      diff += numbered(begin + j, '+', b[begin + j]);
      ++j;
    }
  }
  return diff;
}

}  // namespace proto
