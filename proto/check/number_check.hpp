#pragma once

#include <optional>
#include <string>
#include <vector>

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace proto {

/// One step from a message to a number in it.
struct FieldStep {
  const google::protobuf::FieldDescriptor* field;
  int index;  ///< of an entry of a repeated field; −1 for any other field
};

/// A number that its field does not allow.
struct NumberFault {
  std::vector<FieldStep> path;  ///< outermost first
  std::string sentence;         ///< "limits.command_max is nan; it must be from 0 to 1e+06"
};

/// The gate that every message passes before anything is made of it, typed or from a socket: looks
/// at every number that is set, at every depth, and finds the first that is not finite or lies
/// outside its field's range (number_ranges.hpp). What is left out has a meaning of its own and is
/// judged by whoever reads it; so is the zero of a field that is not `optional`.
std::optional<NumberFault> find_number_fault(const google::protobuf::Message& message);

}  // namespace proto
