#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/check/number_check.hpp"

namespace proto {

/// Changes fields in the text of a text-format message, and keeps comments and layout.
class TextEdit {
 public:
  /// @param path  path of the file, for messages
  /// @param type  type of the file's message
  TextEdit(std::string path, std::string text, const google::protobuf::Message& type);

  const std::string& text() const { return text_; }

  /// Returns whether the file contains the field with this path.
  bool has(const std::vector<FieldStep>& steps) const;

  /// Returns the line number, counted from 0, of the field with this path. The file must contain
  /// the field.
  int line_of(const std::vector<FieldStep>& steps) const;

  /// Sets a numeric field to the given text. Adds the field and the messages around it if needed.
  /// @throws InputError if the file has the field in a list, [ ... ]
  void set_number(const std::vector<FieldStep>& steps, const std::string& number);

  /// Replaces a field by other text. The file must have the field.
  void replace(const std::vector<FieldStep>& steps, std::string_view text);

  /// Returns the text of a field. The file must have the field.
  std::string_view text_of(const std::vector<FieldStep>& steps) const;

  /// Returns a line's comment without '#' and surrounding blanks; empty if it has none.
  std::string line_comment(int line) const;

  /// Replaces a line's comment; an empty one removes it.
  void set_comment(int line, const std::string& comment);

  /// Inserts a line before the line with the number `before`.
  void insert_line(int before, const std::string& line);

 private:
  /// Range of bytes of the text.
  struct TextRange {
    std::size_t begin;
    std::size_t end;
  };

  std::optional<TextRange> find(const std::vector<FieldStep>& steps) const;
  TextRange at(const std::vector<FieldStep>& steps) const;
  TextRange line_span(int line) const;
  void add(const std::vector<FieldStep>& steps, std::size_t existing, const std::string& number);

  std::string path_;
  std::string text_;
  const google::protobuf::Message* type_;
};

/// Returns the differing lines of two texts with their line numbers, as " 12 - text" for the first
/// text and " 12 + text" for the second; empty if the texts are equal.
std::string diff_lines(std::string_view before, std::string_view after);

}  // namespace proto
