#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/check/number_ranges.hpp"

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace proto {

/// One step on the path from a message to a number in it.
struct FieldStep {
  const google::protobuf::FieldDescriptor* field;
  int index;  ///< index in a repeated field; −1 for any other field
};

/// A number outside its field's range.
struct NumberError {
  std::vector<FieldStep> path;  ///< outermost first
  std::string sentence;         ///< e.g. "limits.command_max is nan; it must be from 0 to 1e+06"
};

/// Returns the first number of a message, at any depth, that is not finite or lies outside its
/// field's range (number_ranges.hpp). Every message, from a file or a socket, passes this check
/// before it is used. Omitted fields, and zeros of fields that are not `optional`, are not checked:
/// their reader gives them a meaning.
std::optional<NumberError> find_number_error(const google::protobuf::Message& message,
                                             std::span<const NumberRange> ranges = number_ranges());

}  // namespace proto
