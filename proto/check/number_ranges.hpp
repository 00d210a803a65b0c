#pragma once

#include <span>
#include <string>
#include <string_view>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace proto {

/// What the number in one field of a schema may be.
struct NumberRange {
  std::string_view field;  ///< "Message.field", without the package
  double min;
  double max;               ///< inclusive
  bool above_min = false;   ///< min itself is not allowed
  bool may_be_nan = false;  ///< NaN says that there is no number

  /// False for NaN, unless it may be one.
  bool holds(double value) const;

  /// "from 0 to 255", "above 0, up to 1000".
  std::string text() const;
};

/// The table: one row for each number that a file or a socket brings in.
std::span<const NumberRange> number_ranges();

/// The row of a field that has one, for what holds numbers to it that come by other ways.
/// @param field  "Message.field"
const NumberRange& range_of(std::string_view field);

/// The row of a field, or nullptr: then any finite number is allowed.
const NumberRange* find_range(const google::protobuf::FieldDescriptor& field);

/// True for messages whose numbers a computation brought out: infinite or NaN where the data cannot
/// tell, and nothing is steered by them.
bool is_result(const google::protobuf::Descriptor& message);

}  // namespace proto
