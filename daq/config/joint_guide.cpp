#include "daq/config/joint_guide.hpp"

#include <algorithm>
#include <vector>

#include "proto/notation/number_format.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_edit.hpp"
#include "proto/text/text_file.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

/// Returns "+y", or "(0.6 0.8 0)" for a direction along no axis of the frame; empty if no direction
/// is given.
std::string direction_text(const v1::Direction& direction) {
  const double values[] = {direction.x(), direction.y(), direction.z()};
  const auto count = std::ranges::count_if(values, [](double value) { return value != 0.0; });
  if (count == 0) return "";
  if (count > 1) {
    return "(" + notation::format_number(values[0]) + " " + notation::format_number(values[1]) +
           " " + notation::format_number(values[2]) + ")";
  }
  const auto axis = std::ranges::find_if(values, [](double value) { return value != 0.0; });
  return std::string(*axis > 0.0 ? "+" : "-") + "xyz"[axis - values];
}

std::string positive_way(const v1::Joint& joint) {
  const std::string axis = direction_text(joint.parent().axis());
  if (axis.empty()) return "";
  const std::string body = joint.parent().body();
  const bool is_on_ground = body == "ground";
  const std::string of = is_on_ground ? " of the world" : " of body \"" + body + "\"";
  if (joint.type() == v1::Joint::PRISMATIC) return "toward " + axis + of;
  // World y points up.
  if (is_on_ground && axis == "+y") return "counter-clockwise seen from above";
  if (is_on_ground && axis == "-y") return "clockwise seen from above";
  return "counter-clockwise when its axis, " + axis + of + ", points at you";
}

/// Returns the rig file's comment beside the zero mark, or else the mark's direction.
std::string zero_words(const RigConfig& rig, const v1::Joint& joint, int index) {
  const proto::TextEdit text(rig.path, rig.text, v1::Rig::default_instance());
  const auto* joint_field = v1::Rig::descriptor()->FindFieldByName("joint");
  for (const char* side : {"parent", "child"}) {
    const auto* side_field = v1::Joint::descriptor()->FindFieldByName(side);
    const auto* zero = v1::JointSide::descriptor()->FindFieldByName("zero_direction");
    const std::vector<proto::FieldStep> steps = {
        {joint_field, index}, {side_field, -1}, {zero, -1}};
    if (!text.has(steps)) continue;
    if (std::string comment = text.comment_of(text.line_of(steps)); !comment.empty()) {
      return comment;
    }
  }
  const std::string parent = direction_text(joint.parent().zero_direction());
  const std::string child = direction_text(joint.child().zero_direction());
  if (parent.empty() || child.empty()) return "its mark";
  const auto body = [](const std::string& name) {
    return name == "ground" ? std::string("the world") : "body \"" + name + "\"";
  };
  return child + " of " + body(joint.child().body()) + " along " + parent + " of " +
         body(joint.parent().body());
}

}  // namespace

JointGuide read_joint_guide(const RigConfig& rig, const std::string& joint) {
  v1::Rig message;
  proto::TextLocator::Tree tree;
  proto::parse_text(rig.path, rig.text, message, tree);
  for (int i = 0; i < message.joint_size(); ++i) {
    if (message.joint(i).name() != joint) continue;
    return {positive_way(message.joint(i)), zero_words(rig, message.joint(i), i)};
  }
  return {"", "its mark"};  // an encoder between two bodies
}

}  // namespace daq
