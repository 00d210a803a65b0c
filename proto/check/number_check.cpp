#include "proto/check/number_check.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cmath>
#include <sstream>
#include <utility>

#include "proto/check/number_ranges.hpp"

namespace proto {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// The number in a field, of the entry `index` where that is not negative. Whole numbers beyond
/// 2^53 are rounded, far outside every range that is narrower than their type.
std::optional<double> number_in(const Message& message, const FieldDescriptor& field, int index) {
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
      return std::nullopt;
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

class Walk {
 public:
  /// False once a fault was found.
  bool visit(const Message& message) {
    if (is_result(*message.GetDescriptor())) return true;
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->is_map()) continue;  // the schemas' maps are of texts
      if (!field->is_repeated()) {
        if (!visit_entry(message, *field, -1)) return false;
        continue;
      }
      const int count = message.GetReflection()->FieldSize(message, field);
      for (int i = 0; i < count; ++i) {
        if (!visit_entry(message, *field, i)) return false;
      }
    }
    return true;
  }

  NumberFault take_fault() { return std::move(fault_); }

 private:
  bool visit_entry(const Message& message, const FieldDescriptor& field, int index) {
    if (field.message_type() != nullptr) {
      const Reflection& in = *message.GetReflection();
      path_.push_back({&field, index});
      const bool fine = visit(index < 0 ? in.GetMessage(message, &field)
                                        : in.GetRepeatedMessage(message, &field, index));
      path_.pop_back();
      return fine;
    }
    const auto number = number_in(message, field, index);
    if (!number) return true;
    const NumberRange* range = find_range(field);
    if (range == nullptr ? std::isfinite(*number) : range->holds(*number)) return true;
    fault_.path = path_;
    fault_.path.push_back({&field, index});
    std::ostringstream sentence;
    sentence << text_of(fault_.path) << " is " << *number << "; it must be ";
    if (range == nullptr || !std::isfinite(*number)) sentence << "a finite number";
    if (range != nullptr) sentence << (std::isfinite(*number) ? "" : ", ") << range->text();
    fault_.sentence = sentence.str();
    return false;
  }

  std::vector<FieldStep> path_;
  NumberFault fault_;
};

}  // namespace

std::optional<NumberFault> find_number_fault(const Message& message) {
  Walk walk;
  if (walk.visit(message)) return std::nullopt;
  return walk.take_fault();
}

}  // namespace proto
