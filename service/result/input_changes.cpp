#include "service/result/input_changes.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <map>

#include "proto/rig.pb.h"
#include "proto/text/input_error.hpp"
#include "proto/text/text_file.hpp"
#include "service/options/option_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Struct;

constexpr std::size_t kChangesMax = 200;  // of one pair of inputs
constexpr const char* kNothing = "not given";

/// Fields of a message by their names in texts: "mass", `joint "1"`, "point[0]".
struct NamedField {
  const Message* message = nullptr;  ///< null: a single value
  std::string value;
};
using NamedFields = std::map<std::string, NamedField>;

/// Returns the name of an element of a repeated field: its field `name` or `joint`, else its index.
std::string element_name(const Message& element, const std::string& field, int index) {
  for (const char* const key : {"name", "joint"}) {
    const FieldDescriptor* const found = element.GetDescriptor()->FindFieldByName(key);
    if (found == nullptr || found->is_repeated() ||
        found->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
      continue;
    }
    const std::string name = element.GetReflection()->GetString(element, found);
    if (!name.empty()) return fmt::format("{} \"{}\"", field, name);
  }
  return fmt::format("{}[{}]", field, index);
}

std::string value_text(const Message& message, const FieldDescriptor& field, int index) {
  std::string text;
  google::protobuf::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  return text;
}

NamedFields fields_of(const Message& message) {
  NamedFields named;
  std::vector<const FieldDescriptor*> present;
  const auto* const reflection = message.GetReflection();
  reflection->ListFields(message, &present);
  for (const FieldDescriptor* field : present) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      named[field->name()] = is_message ? NamedField{&reflection->GetMessage(message, field), ""}
                                        : NamedField{nullptr, value_text(message, *field, -1)};
      continue;
    }
    for (int k = 0; k < reflection->FieldSize(message, field); ++k) {
      if (is_message) {
        const Message& element = reflection->GetRepeatedMessage(message, field, k);
        named[element_name(element, field->name(), k)] = {&element, ""};
      } else {
        named[fmt::format("{}[{}]", field->name(), k)] = {nullptr, value_text(message, *field, k)};
      }
    }
  }
  return named;
}

void add_change(const std::string& what, const std::string& before, const std::string& after,
                std::vector<std::string>& changes) {
  if (before == after || changes.size() >= kChangesMax) return;
  changes.push_back(fmt::format("{}: {} -> {}", what, before, after));
}

/// Adds the differing fields of two messages. A message that only one side has counts as empty on
/// the other side.
void compare_messages(const std::string& where, const Message* before, const Message* after,
                      std::vector<std::string>& changes) {
  const NamedFields old = before == nullptr ? NamedFields() : fields_of(*before);
  const NamedFields now = after == nullptr ? NamedFields() : fields_of(*after);
  NamedFields both = old;
  both.insert(now.begin(), now.end());
  for (const auto& [name, any] : both) {
    const auto one = old.find(name), other = now.find(name);
    const std::string place = where + " " + name;
    if (any.message != nullptr) {
      compare_messages(place, one == old.end() ? nullptr : one->second.message,
                       other == now.end() ? nullptr : other->second.message, changes);
    } else {
      add_change(place, one == old.end() ? kNothing : one->second.value,
                 other == now.end() ? kNothing : other->second.value, changes);
    }
  }
}

void compare_rig_files(const StoredResult& before, const StoredResult& after,
                       std::vector<std::string>& changes) {
  if (before.rig_text == after.rig_text) return;
  try {
    rigcal::v1::Rig old, now;
    proto::TextLocator::Tree old_tree, now_tree;
    proto::parse_text(before.rig_name, before.rig_text, old, old_tree);
    proto::parse_text(after.rig_name, after.rig_text, now, now_tree);
    compare_messages("rig file:", &old, &now, changes);
  } catch (const proto::InputError&) {  // a rig file of another version
    changes.emplace_back("the rig files differ, and this version of rigcal cannot read both");
  }
}

void compare_options(const StoredResult& before, const StoredResult& after,
                     std::vector<std::string>& changes) {
  const Struct old = make_options_message(before.request.options, false);
  const Struct now = make_options_message(after.request.options, false);
  std::map<std::string, std::string> texts[2];
  int side = 0;
  for (const Struct& each : {old, now}) {
    for (const auto& [name, value] : each.fields()) {
      static_cast<void>(google::protobuf::util::MessageToJsonString(value, &texts[side][name]));
    }
    ++side;
  }
  std::map<std::string, std::string> both = texts[0];
  both.insert(texts[1].begin(), texts[1].end());
  for (const auto& [name, any] : both) {
    const auto text = [&](int of) {
      const auto found = texts[of].find(name);
      return found == texts[of].end() ? std::string("default") : found->second;
    };
    add_change("option " + name, text(0), text(1), changes);
  }
}

}  // namespace

std::vector<std::string> find_input_changes(const StoredResult& before, const StoredResult& after) {
  std::vector<std::string> changes;
  add_change("rigcal", before.version, after.version, changes);
  compare_rig_files(before, after, changes);
  compare_options(before, after, changes);
  const auto list = [](const std::vector<std::string>& items) {
    return items.empty() ? std::string(kNothing) : join_items(items);
  };
  const ParameterEdits &old = before.request.edits, &now = after.request.edits;
  add_change("--start", list(old.start), list(now.start), changes);
  add_change("--free", list(old.free), list(now.free), changes);
  add_change("--fix", list(old.fix), list(now.fix), changes);
  add_change("--hold-out", list(old.hold_out), list(now.hold_out), changes);
  return changes;
}

}  // namespace service
