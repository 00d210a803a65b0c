#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace service {

// Access to the fields of a message by name. The message must have the field.

inline const google::protobuf::FieldDescriptor* field_of(const google::protobuf::Message& message,
                                                         const std::string& name) {
  return message.GetDescriptor()->FindFieldByName(name);
}

inline bool has_field(const google::protobuf::Message& message, const std::string& name) {
  return message.GetReflection()->HasField(message, field_of(message, name));
}

/// Returns the message in a field; an empty message if the field is missing.
inline const google::protobuf::Message& message_in(const google::protobuf::Message& message,
                                                   const std::string& name) {
  return message.GetReflection()->GetMessage(message, field_of(message, name));
}

/// Returns the number in a field; 0 if the field is missing.
inline double number_in(const google::protobuf::Message& message, const std::string& name) {
  return message.GetReflection()->GetDouble(message, field_of(message, name));
}

inline std::string text_in(const google::protobuf::Message& message, const std::string& name) {
  return message.GetReflection()->GetString(message, field_of(message, name));
}

/// Returns the name of the enumerator in a field; empty for a number without a name, which a text
/// file may contain.
inline std::string enumerator_in(const google::protobuf::Message& message,
                                 const std::string& name) {
  const auto* field = field_of(message, name);
  const auto* value =
      field->enum_type()->FindValueByNumber(message.GetReflection()->GetEnumValue(message, field));
  return value == nullptr ? "" : value->name();
}

}  // namespace service
