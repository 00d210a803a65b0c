#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace service {

// Access to the fields of a message by name. The message must have the field.

inline const google::protobuf::FieldDescriptor* find_message_field(
    const google::protobuf::Message& message, const std::string& name) {
  return message.GetDescriptor()->FindFieldByName(name);
}

inline bool has_field(const google::protobuf::Message& message, const std::string& name) {
  return message.GetReflection()->HasField(message, find_message_field(message, name));
}

/// Returns the message in a field of a Protobuf message; an empty message if the field is missing.
inline const google::protobuf::Message& get_field_message(const google::protobuf::Message& message,
                                                          const std::string& name) {
  return message.GetReflection()->GetMessage(message, find_message_field(message, name));
}

/// Returns the number in a field of a Protobuf message; 0 if the field is missing.
inline double get_field_number(const google::protobuf::Message& message, const std::string& name) {
  return message.GetReflection()->GetDouble(message, find_message_field(message, name));
}

inline std::string get_field_text(const google::protobuf::Message& message,
                                  const std::string& name) {
  return message.GetReflection()->GetString(message, find_message_field(message, name));
}

/// Returns the name of the enumerator in a field of a Protobuf message; empty for a number without
/// an enumerator, which a text file may contain.
inline std::string get_field_enumerator(const google::protobuf::Message& message,
                                        const std::string& name) {
  const auto* field = find_message_field(message, name);
  const auto* value =
      field->enum_type()->FindValueByNumber(message.GetReflection()->GetEnumValue(message, field));
  return value == nullptr ? "" : value->name();
}

}  // namespace service
