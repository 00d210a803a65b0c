#include "service/rig/rig_chain.hpp"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "proto/rig.pb.h"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kLinksMax = 32;

void set_direction(v1::Direction* direction, double x, double y, double z) {
  direction->set_x(x);
  direction->set_y(y);
  direction->set_z(z);
}

// A link is long in x. A slender rod gets 0.1 % of its transverse inertia about its own axis, since
// zero would make the mass matrix singular.
void set_rod_inertia(double mass, double length, v1::Inertia* inertia) {
  const double across = mass * length * length / 12.0;
  inertia->mutable_xx()->set_value(1e-3 * across);
  inertia->mutable_yy()->set_value(across);
  inertia->mutable_zz()->set_value(across);
}

void add_link(const v1::Chain& chain, int index, v1::Rig& rig) {
  v1::Body* body = rig.add_body();
  body->set_name("link" + std::to_string(index + 1));
  *body->mutable_mass() = chain.mass();
  if (chain.has_inertia()) {
    *body->mutable_inertia() = chain.inertia();
  } else {
    set_rod_inertia(chain.mass().value(), chain.length_m(), body->mutable_inertia());
  }
}

void add_joint(const v1::Chain& chain, int index, v1::Rig& rig) {
  v1::Joint* joint = rig.add_joint();
  joint->set_name("joint" + std::to_string(index + 1));
  v1::JointSide* parent = joint->mutable_parent();
  set_direction(parent->mutable_axis(), 0.0, 0.0, 1.0);
  if (index == 0) {
    parent->set_body("ground");
    set_direction(parent->mutable_zero_direction(), 0.0, -1.0, 0.0);
  } else {
    parent->set_body("link" + std::to_string(index));
    parent->mutable_point()->mutable_x()->set_value(0.5 * chain.length_m());
    set_direction(parent->mutable_zero_direction(), 1.0, 0.0, 0.0);
  }
  v1::JointSide* child = joint->mutable_child();
  child->set_body("link" + std::to_string(index + 1));
  child->mutable_point()->mutable_x()->set_value(-0.5 * chain.length_m());
  set_direction(child->mutable_axis(), 0.0, 0.0, 1.0);
  set_direction(child->mutable_zero_direction(), 1.0, 0.0, 0.0);
  if (chain.has_friction()) *joint->mutable_friction() = chain.friction();
  if (chain.has_encoder()) *joint->mutable_encoder() = chain.encoder();
  if (chain.has_constraint()) *joint->mutable_constraint() = chain.constraint();
}

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

void expand_link_chain(v1::Rig& rig, const proto::TextLocator& place) {
  if (!rig.has_chain()) return;
  const v1::Chain chain = rig.chain();
  if (rig.body_size() > 0 || rig.joint_size() > 0) {
    place.fail("a chain cannot be combined with bodies and joints. Remove one or the other");
  }
  if (chain.links() < 1 || chain.links() > kLinksMax) {
    place.at("links").fail("links must be 1 to " + std::to_string(kLinksMax));
  }
  if (!(chain.length_m() > 0.0)) place.at("length_m").fail("length_m must be given and positive");
  if (!(chain.mass().value() > 0.0)) place.at("mass").fail("mass must be given and positive");
  for (int index = 0; index < chain.links(); ++index) {
    add_link(chain, index, rig);
    add_joint(chain, index, rig);
  }
}

bool expand_link_chain_text(const std::string& path, proto::TextEdit& edit) {
  v1::Rig rig;
  proto::TextLocator::Tree tree;
  const std::string text = edit.text();
  proto::parse_text(path, text, rig, tree);
  if (!rig.has_chain()) return false;
  const std::vector<proto::FieldStep> chain = {
      {v1::Rig::descriptor()->FindFieldByName("chain"), -1}};
  expand_link_chain(rig, proto::TextLocator(path, v1::Rig::descriptor(), &tree).at("chain"));
  std::string links = commented(edit.text_of(chain));
  for (const v1::Body& body : rig.body()) append_message("body", body, "", links);
  for (const v1::Joint& joint : rig.joint()) append_message("joint", joint, "", links);
  links.pop_back();  // the rest of the chain's last line follows
  edit.replace(chain, links);
  return true;
}

}  // namespace service
