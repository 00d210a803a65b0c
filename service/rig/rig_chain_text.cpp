#include "service/rig/rig_chain_text.hpp"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/rig/rig_chain.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::vector<const FieldDescriptor*> fields_of(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

bool holds_no_message(const Message& message) {
  return std::ranges::all_of(fields_of(message), [](const FieldDescriptor* field) {
    return field->message_type() == nullptr;
  });
}

/// Appends a message as text, on one line if it contains no other messages.
void append_message(const std::string& name, const Message& message, const std::string& indent,
                    std::string& text) {
  text += indent + name + " {";
  if (holds_no_message(message)) {
    const std::string content = message.ShortDebugString();
    text += (content.empty() ? "" : " " + content) + " }\n";
    return;
  }
  text += "\n";
  for (const FieldDescriptor* field : fields_of(message)) {
    if (field->message_type() == nullptr) {
      std::string value;
      google::protobuf::TextFormat::PrintFieldValueToString(message, field, -1, &value);
      text += indent + "  " + field->name() + ": " + value + "\n";
    } else {
      append_message(field->name(), message.GetReflection()->GetMessage(message, field),
                     indent + "  ", text);
    }
  }
  text += indent + "}\n";
}

std::string commented(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string comment = "# The links of:";
  for (std::string line; std::getline(lines, line);) comment += "\n#   " + line;
  return comment + "\n";
}

}  // namespace

bool expand_chain_text(const std::string& path, proto::TextEdit& edit) {
  v1::Rig rig;
  proto::TextLocator::Tree tree;
  const std::string text = edit.text();
  proto::parse_text(path, text, rig, tree);
  if (!rig.has_chain()) return false;
  const std::vector<proto::FieldStep> chain = {
      {v1::Rig::descriptor()->FindFieldByName("chain"), -1}};
  expand_chain(rig, proto::TextLocator(path, v1::Rig::descriptor(), &tree).at("chain"));
  std::string links = commented(edit.text_of(chain));
  for (const v1::Body& body : rig.body()) append_message("body", body, "", links);
  for (const v1::Joint& joint : rig.joint()) append_message("joint", joint, "", links);
  links.pop_back();  // the rest of the chain's last line follows
  edit.replace(chain, links);
  return true;
}

}  // namespace service
