#include "proto/check/number_check.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cassert>
#include <cmath>
#include <map>
#include <utility>

#include "proto/notation/number_format.hpp"

namespace proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// Returns the number in a field, or in its entry `index` if that is not negative. Integers beyond
/// 2^53 are rounded, which is far outside every range narrower than their type.
double number_in(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& in = *message.GetReflection();
  const auto get = [&](auto single, auto entry) {
    return static_cast<double>(index < 0 ? (in.*single)(message, &field)
                                         : (in.*entry)(message, &field, index));
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat);
    case FieldDescriptor::CPPTYPE_INT32:
      return get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_UINT32:
      return get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_UINT64:
      return get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64);
    default:
      assert(false);  // only called for numbers
      return 0.0;
  }
}

std::string text_of(const std::vector<FieldStep>& path) {
  std::string text;
  for (const FieldStep& step : path) {
    if (!text.empty()) text += '.';
    text += step.field->name();
    if (step.index < 0) continue;
    text += '[';
    text += std::to_string(step.index);
    text += ']';
  }
  return text;
}

/// The fields of a message type that are checked.
struct CheckedField {
  const FieldDescriptor* field;
  const NumberRange* range;  ///< nullptr: any finite number, or a message
};

bool is_number_or_message(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return !field.is_map();  // maps of the schemas hold only text
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_BOOL:
    case FieldDescriptor::CPPTYPE_ENUM:
      return false;
    default:
      return true;
  }
}

/// Returns the checked fields of a message type. They are cached for each thread, type and table,
/// as a rig streams a thousand samples a second.
const std::vector<CheckedField>& checked_fields(const Descriptor& type,
                                                std::span<const NumberRange> ranges) {
  using Key = std::pair<const Descriptor*, const NumberRange*>;
  thread_local std::map<Key, std::vector<CheckedField>> known;
  const auto [entry, is_new] = known.try_emplace({&type, ranges.data()});
  if (!is_new || is_result_message(type)) return entry->second;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (is_number_or_message(*field)) entry->second.push_back({field, find_range(*field, ranges)});
  }
  return entry->second;
}

class Walk {
 public:
  explicit Walk(std::span<const NumberRange> ranges) : ranges_(ranges) {}

  /// Returns false once a fault was found.
  bool visit(const Message& message) {
    const Reflection& in = *message.GetReflection();
    for (const CheckedField& checked : checked_fields(*message.GetDescriptor(), ranges_)) {
      if (!checked.field->is_repeated()) {
        if (in.HasField(message, checked.field) && !visit_entry(message, checked, -1)) return false;
        continue;
      }
      const int count = in.FieldSize(message, checked.field);
      for (int i = 0; i < count; ++i) {
        if (!visit_entry(message, checked, i)) return false;
      }
    }
    return true;
  }

  NumberError take_fault() { return std::move(fault_); }

 private:
  bool visit_entry(const Message& message, const CheckedField& checked, int index) {
    const FieldDescriptor& field = *checked.field;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const Reflection& in = *message.GetReflection();
      path_.push_back({&field, index});
      const bool fine = visit(index < 0 ? in.GetMessage(message, &field)
                                        : in.GetRepeatedMessage(message, &field, index));
      path_.pop_back();
      return fine;
    }
    const double number = number_in(message, field, index);
    const NumberRange* range = checked.range;
    if (range == nullptr ? std::isfinite(number) : range->holds(number)) return true;
    fault_.path = path_;
    fault_.path.push_back({&field, index});
    fault_.sentence = text_of(fault_.path) + " is " +
                      (std::isnan(number) ? "nan" : notation::format_number(number, 6)) +
                      "; it must be ";
    if (range == nullptr || !std::isfinite(number)) fault_.sentence += "a finite number";
    if (range != nullptr) fault_.sentence += (std::isfinite(number) ? "" : ", ") + range->text();
    return false;
  }

  std::span<const NumberRange> ranges_;
  std::vector<FieldStep> path_;
  NumberError fault_;
};

}  // namespace

std::optional<NumberError> find_number_error(const Message& message,
                                             std::span<const NumberRange> ranges) {
  Walk walk(ranges);
  if (walk.visit(message)) return std::nullopt;
  return walk.take_fault();
}

}  // namespace proto
