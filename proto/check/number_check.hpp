#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace proto {

/// Allowed range of the number in one schema field.
struct NumberRange {
  std::string_view field;  ///< "Message.field", without the package
  double min;
  double max;               ///< inclusive
  bool above_min = false;   ///< min itself is not allowed
  bool may_be_nan = false;  ///< NaN is allowed; it means "no number"

  /// Returns whether a value is in the range. NaN is in the range if `may_be_nan` is true.
  bool holds(double value) const;

  /// Returns the range in words, such as "from 0 to 255" or "above 0, up to 1000".
  std::string text() const;
};

// Rows of a table of ranges.
constexpr NumberRange between(std::string_view field, double min, double max) {
  return {field, min, max};
}
constexpr NumberRange within(std::string_view field, double magnitude) {
  return {field, -magnitude, magnitude};
}
constexpr NumberRange up_to(std::string_view field, double max) { return {field, 0.0, max}; }
constexpr NumberRange above_zero(std::string_view field, double max) {
  return {field, 0.0, max, true};
}

/// Returns the allowed ranges of all numeric fields of the schemas in proto/ that a file or a
/// socket can contain.
std::span<const NumberRange> number_ranges();

/// Returns the allowed range of a schema field, for numbers that do not come from a message. The
/// field must have a range.
/// @param field  "Message.field"
const NumberRange& require_range(std::string_view field);

/// Returns the allowed range of a schema field; nullptr if any finite number is allowed.
const NumberRange* find_range(const google::protobuf::FieldDescriptor& field,
                              std::span<const NumberRange> ranges = number_ranges());

/// Returns whether a message type contains computed results. Results may be infinite or NaN if the
/// data do not determine them, because results do not control a rig.
bool is_result_message(const google::protobuf::Descriptor& message);

/// One step of the path that leads from a message to a number inside this message.
struct FieldStep {
  const google::protobuf::FieldDescriptor* field;
  int index;  ///< index in a repeated field; −1 for any other field
};

/// A number outside its field's range.
struct NumberError {
  std::vector<FieldStep> path;  ///< outermost first
  std::string sentence;         ///< e.g. "limits.command_max is nan; it must be from 0 to 1e+06"
};

/// Returns the first number of a message, at any depth, that is not finite or lies outside the
/// range of its field. Every message from a file or a socket passes this check before use. Omitted
/// fields, and zeros in fields that are not `optional`, are not checked: the code that reads the
/// field defines their meaning.
std::optional<NumberError> find_number_error(const google::protobuf::Message& message,
                                             std::span<const NumberRange> ranges = number_ranges());

}  // namespace proto
