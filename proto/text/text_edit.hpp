#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/check/number_check.hpp"

namespace proto {

/// Changes fields in the text of a text-format message while keeping comments and layout.
class TextEdit {
 public:
  /// @param path  for messages
  /// @param type  of the file's message
  TextEdit(std::string path, std::string text, const google::protobuf::Message& type);

  const std::string& text() const { return text_; }

  /// Returns whether the file has the field at the end of the path.
  bool has(const std::vector<FieldStep>& steps) const;

  /// Returns the line of the field at the end of the path, from 0. The file must have the field.
  int line_of(const std::vector<FieldStep>& steps) const;

  /// Replaces the text of a number. Adds the field and the messages around it if needed.
  /// @throws InputError if the file has the field in a list, [ ... ]
  void set_number(const std::vector<FieldStep>& steps, const std::string& number);

  /// Replaces a field by other text. The file must have the field.
  void replace(const std::vector<FieldStep>& steps, std::string_view text);

  /// Returns the text of a field. The file must have the field.
  std::string_view text_of(const std::vector<FieldStep>& steps) const;

  /// Returns a line's comment without '#' and surrounding blanks; empty if it has none.
  std::string comment_of(int line) const;

  /// Replaces a line's comment; an empty one removes it.
  void set_comment(int line, const std::string& comment);

  /// Inserts a line before the line with the number `before`.
  void insert_line(int before, const std::string& line);

 private:
  /// Range of bytes of the text.
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  std::optional<Span> find(const std::vector<FieldStep>& steps) const;
  Span at(const std::vector<FieldStep>& steps) const;
  Span line_span(int line) const;
  void add(const std::vector<FieldStep>& steps, std::size_t existing, const std::string& number);

  std::string path_;
  std::string text_;
  const google::protobuf::Message* type_;
};

/// Returns the differing lines of two texts, as "  12 - text" for the first and "  12 + text" for
/// the second, each with its line number there; empty if there are none.
std::string line_diff(std::string_view before, std::string_view after);

}  // namespace proto
