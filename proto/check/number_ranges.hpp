#pragma once

#include <span>
#include <string>
#include <string_view>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace proto {

/// Allowed range of the number in one schema field.
struct NumberRange {
  std::string_view field;  ///< "Message.field", without the package
  double min;
  double max;               ///< inclusive
  bool above_min = false;   ///< min itself is not allowed
  bool may_be_nan = false;  ///< NaN is allowed and means: no number

  /// Returns whether a value is in the range. For NaN, returns `may_be_nan`.
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

/// Returns the ranges of the schemas in proto, one for each number that a file or a socket can
/// contain.
std::span<const NumberRange> number_ranges();

/// Returns the range of a schema field, to check numbers from other sources. The field must have a
/// range.
/// @param field  "Message.field"
const NumberRange& range_of(std::string_view field);

/// Returns the range of a field; nullptr if any finite number is allowed.
const NumberRange* find_range(const google::protobuf::FieldDescriptor& field,
                              std::span<const NumberRange> ranges = number_ranges());

/// Returns whether a type of message holds computed results. Their numbers may be infinite or NaN
/// if the data do not determine them, because results control nothing.
bool is_result(const google::protobuf::Descriptor& message);

}  // namespace proto
