#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace test_support {

/// A numeric field of a message, given by the fields on the path to it.
using FieldPath = std::vector<const google::protobuf::FieldDescriptor*>;

inline bool is_number(const google::protobuf::FieldDescriptor& field) {
  using Field = google::protobuf::FieldDescriptor;
  return field.cpp_type() != Field::CPPTYPE_MESSAGE && field.cpp_type() != Field::CPPTYPE_STRING &&
         field.cpp_type() != Field::CPPTYPE_BOOL && field.cpp_type() != Field::CPPTYPE_ENUM;
}

/// The path as the number check prints it for first entries, e.g. "limits.joint[0].angle_rad_max".
inline std::string name_of(const FieldPath& path) {
  std::string name;
  for (const auto* field : path) {
    name += (name.empty() ? "" : ".") + field->name() + (field->is_repeated() ? "[0]" : "");
  }
  return name;
}

/// Every numeric field that a message of this type can hold, at every depth.
inline std::vector<FieldPath> numeric_fields(const google::protobuf::Descriptor& type) {
  std::vector<FieldPath> found;
  const std::function<void(const google::protobuf::Descriptor&, FieldPath)> walk =
      [&](const google::protobuf::Descriptor& message, const FieldPath& above) {
        for (int i = 0; i < message.field_count(); ++i) {
          FieldPath path = above;
          path.push_back(message.field(i));
          if (message.field(i)->is_map()) continue;
          if (message.field(i)->message_type() != nullptr) {
            walk(*message.field(i)->message_type(), path);
          } else if (is_number(*message.field(i))) {
            found.push_back(path);
          }
        }
      };
  walk(type, {});
  return found;
}

/// Sets a field, in the first entry of every repeated one, and creates its parents. Integers get
/// the nearest value. @return the resulting value
inline double put_number(google::protobuf::Message& root, const FieldPath& path, double value) {
  using google::protobuf::Reflection;
  google::protobuf::Message* message = &root;
  for (const auto* field : FieldPath(path.begin(), path.end() - 1)) {
    const Reflection& in = *message->GetReflection();
    if (!field->is_repeated()) {
      message = in.MutableMessage(message, field);
    } else if (in.FieldSize(*message, field) > 0) {
      message = in.MutableRepeatedMessage(message, field, 0);
    } else {
      message = in.AddMessage(message, field);
    }
  }
  const auto& field = *path.back();
  const Reflection& in = *message->GetReflection();
  const bool first = field.is_repeated() && in.FieldSize(*message, &field) == 0;
  const auto put = [&](auto number, auto set, auto set_entry, auto add) {
    if (!field.is_repeated()) {
      (in.*set)(message, &field, number);
    } else if (first) {
      (in.*add)(message, &field, number);
    } else {
      (in.*set_entry)(message, &field, 0, number);
    }
    return static_cast<double>(number);
  };
  const auto whole = [value]<typename Number>(Number) {
    constexpr double kMin = static_cast<double>(std::numeric_limits<Number>::min());
    constexpr double kMax = static_cast<double>(std::numeric_limits<Number>::max());
    if (!(value > kMin)) return std::numeric_limits<Number>::min();
    return value >= kMax ? std::numeric_limits<Number>::max() : static_cast<Number>(value);
  };
  using Field = google::protobuf::FieldDescriptor;
  switch (field.cpp_type()) {
    case Field::CPPTYPE_DOUBLE:
      return put(value, &Reflection::SetDouble, &Reflection::SetRepeatedDouble,
                 &Reflection::AddDouble);
    case Field::CPPTYPE_INT32:
      return put(whole(google::protobuf::int32{}), &Reflection::SetInt32,
                 &Reflection::SetRepeatedInt32, &Reflection::AddInt32);
    case Field::CPPTYPE_UINT32:
      return put(whole(google::protobuf::uint32{}), &Reflection::SetUInt32,
                 &Reflection::SetRepeatedUInt32, &Reflection::AddUInt32);
    case Field::CPPTYPE_INT64:
      return put(whole(google::protobuf::int64{}), &Reflection::SetInt64,
                 &Reflection::SetRepeatedInt64, &Reflection::AddInt64);
    case Field::CPPTYPE_UINT64:
      return put(whole(google::protobuf::uint64{}), &Reflection::SetUInt64,
                 &Reflection::SetRepeatedUInt64, &Reflection::AddUInt64);
    default:
      ADD_FAILURE() << field.full_name() << " has a type that this helper does not know";
      return value;
  }
}

}  // namespace test_support
