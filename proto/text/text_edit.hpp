#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/check/number_check.hpp"

namespace proto {

/// Text of a text-format message that is changed number by number, while comments and layout stay.
class TextEdit {
 public:
  /// @param path  for messages
  /// @param type  of the file's message
  TextEdit(std::string path, std::string text, const google::protobuf::Message& type);

  const std::string& text() const { return text_; }

  /// Whether the file has the field at the end of the steps.
  bool has(const std::vector<FieldStep>& steps) const;

  /// Line of that field, from 0. The file must have it.
  int line_of(const std::vector<FieldStep>& steps) const;

  /// Gives a number another text; adds the field, and messages around it, where they are left out.
  /// @throws InputError where the file has the field in a list, [ ... ]
  void set_number(const std::vector<FieldStep>& steps, const std::string& number);

  /// Puts other text in the place of a field of the file's message. The file must have it.
  void replace(const std::vector<FieldStep>& steps, std::string_view text);

  /// Text of a field. The file must have it.
  std::string_view text_of(const std::vector<FieldStep>& steps) const;

  /// What a line says behind its '#', without blanks around; empty where it has no comment.
  std::string comment_of(int line) const;

  /// Gives a line another comment; an empty one removes it.
  void set_comment(int line, const std::string& comment);

  /// Puts a line of its own before a line.
  void insert_line(int before, const std::string& line);

 private:
  /// Bytes of the text.
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

}  // namespace proto
