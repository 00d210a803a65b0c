#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <string>
#include <string_view>
#include <vector>

#include "proto/check/number_check.hpp"
#include "proto/text/input_error.hpp"

namespace proto {

/// Locates the fields of a message that was parsed from a text-format file. A locator refers to one
/// message of the file and is valid as long as its Tree exists.
class TextLocator {
 public:
  using Tree = google::protobuf::TextFormat::ParseInfoTree;

  /// Creates the locator of the file's outermost message. Without a tree, where() returns only
  /// "FILE".
  TextLocator(const std::string& path, const google::protobuf::Descriptor* type, const Tree* tree);

  /// Returns the locator of a field of the message. The location of an omitted field is the start
  /// of the message.
  /// @param index element of a repeated field; −1 for any other field
  TextLocator at(const std::string& field, int index = -1) const;

  /// Returns the location as "FILE:LINE:COLUMN", counted from 1.
  std::string where() const;

  /// Returns the path from the file's message to the located field, including omitted fields.
  const std::vector<FieldStep>& steps() const { return steps_; }

  /// Throws an InputError whose message is where() followed by `what`.
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws such an error with a text formatted as by fmt::format.
  template <typename... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> what, Values&&... values) const {
    fail(fmt::format(what, std::forward<Values>(values)...));
  }

 private:
  const std::string* path_;
  const google::protobuf::Descriptor* type_;
  const Tree* tree_;
  int line_ = -1;    // from 0; −1: unknown
  int column_ = -1;  // from 0
  std::vector<FieldStep> steps_;
};

/// Parses text-format protobuf, records the location of every field, and rejects numbers outside
/// their field's range (proto/check).
///
/// @param path     path of the file, for messages
/// @param message  output: the parsed message
/// @param tree     output: locations of the fields
/// @param ranges   ranges of the numbers, for a schema outside proto
/// @throws InputError "FILE:LINE:COLUMN: error; remedy" at the first error, such as a syntax error,
///     an unknown field (with the existing fields), a value of the wrong type, or a number that is
///     not finite or out of range
void parse_text(const std::string& path, const std::string& text,
                google::protobuf::Message& message, TextLocator::Tree& tree,
                std::span<const NumberRange> ranges = number_ranges());

/// Unit of a PWM motor's control signal: the fraction of the supply voltage, from −1 to 1.
inline constexpr std::string_view kDutyUnit = "duty";

/// Returns the largest magnitude of a motor's control signal, in the signal's unit; 0 if not given.
/// For a duty cycle it is at most 1, and 1 by default.
/// @param stated  value in the rig file; 0: not given
/// @param motor   location of the motor in its file
/// @throws InputError for a duty above 1
double read_control_max(const std::string& unit, double stated, const TextLocator& motor);

}  // namespace proto
