#include "daq/config/commission_file.hpp"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

#include "daq/safety/loosened_limit.hpp"
#include "proto/notation/number_format.hpp"
#include "proto/rig.pb.h"
#include "proto/stream/content_hash.hpp"
#include "proto/text/text_edit.hpp"
#include "proto/text/text_file.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;
using Steps = std::vector<proto::FieldStep>;

constexpr std::size_t kHashDigits = 16;

v1::Encoder scale_of(const v1::Encoder& encoder) {
  v1::Encoder scale;
  scale.set_counts_per_turn(encoder.counts_per_turn());
  scale.set_counts_per_m(encoder.counts_per_m());
  return scale;
}

/// Returns the path of nested fields in a rig file, starting at its Rig message.
/// @param fields  names with indices, −1 if not repeated
Steps steps_to(std::initializer_list<std::pair<const char*, int>> fields) {
  Steps steps;
  const auto* type = v1::Rig::descriptor();
  for (const auto& [name, index] : fields) {
    const auto* field = type->FindFieldByName(name);
    steps.push_back({field, index});
    type = field->message_type();
  }
  return steps;
}

Steps channel_steps(int index, const char* field = nullptr) {
  Steps steps = steps_to({{"unit", -1}, {"channel", index}});
  if (field != nullptr) {
    steps.push_back({v1::UnitChannel::descriptor()->FindFieldByName(field), -1});
  }
  return steps;
}

/// Reorders the text of the unit's channels, together with the comments in and after them.
void reorder(const RigConfig& rig, const std::vector<CommissionEdit::ChannelEdit>& order,
             proto::TextEdit& text) {
  const auto last_line = [&](int index) {
    const std::string_view block = text.text_of(channel_steps(index));
    return text.line_of(channel_steps(index)) +
           static_cast<int>(std::count(block.begin(), block.end(), '\n'));
  };
  std::vector<std::string> blocks, comments;
  std::set<int> lines;
  for (const CommissionEdit::ChannelEdit& channel : order) {
    const int from = rig.find_channel(channel.joint);
    blocks.emplace_back(text.text_of(channel_steps(from)));
    comments.push_back(text.line_comment(last_line(from)));
    lines.insert(last_line(from));
  }
  bool is_changed = false;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int index = static_cast<int>(k);
    if (text.text_of(channel_steps(index)) == blocks[k]) continue;
    text.replace(channel_steps(index), blocks[k]);
    is_changed = true;
  }
  // A comment after several blocks belongs to none of them.
  if (!is_changed || lines.size() < order.size()) return;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int line = last_line(static_cast<int>(k));
    if (text.line_comment(line) != comments[k]) text.set_comment(line, comments[k]);
  }
}

/// Returns a value rounded up to two digits, because a limit must not become tighter.
std::string rounded_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1.0);
  return notation::format_number(std::ceil(value / unit - 1e-9) * unit, 4);
}

/// Changes the stall limits of a joint's motor; without an own entry, the limits of the rig's only
/// motor.
void set_stall(const RigConfig& rig, const CommissionEdit::StallEdit& stall,
               proto::TextEdit& text) {
  v1::Rig message;
  proto::TextLocator::Tree tree;
  proto::parse_text(rig.path, text.text(), message, tree);
  const auto& motors = message.safety().motor();
  const auto listed = std::ranges::find(motors, stall.joint, &v1::MotorSafety::joint);
  const std::string command = rounded_up(stall.command), time_s = rounded_up(stall.time_s);
  if (listed == motors.end() && rig.motor.size() > 1) {
    // Add an entry at the end of the section.
    std::string section(text.text_of(steps_to({{"safety", -1}})));
    const std::size_t close = section.rfind('}');
    const std::size_t line = section.find_last_not_of(" \t", close - 1);
    const bool stands_alone = section[line] == '\n';
    section.insert(stands_alone ? line + 1 : close,
                   "  motor { joint: \"" + stall.joint + "\" stall { command: " + command +
                       " time_s: " + time_s + " } }" + (stands_alone ? "\n" : " "));
    return text.replace(steps_to({{"safety", -1}}), section);
  }
  const auto set = [&](const char* field, const std::string& value) {
    const int index = static_cast<int>(listed - motors.begin());
    text.set_number(listed == motors.end()
                        ? steps_to({{"safety", -1}, {"stall", -1}, {field, -1}})
                        : steps_to({{"safety", -1}, {"motor", index}, {"stall", -1}, {field, -1}}),
                    value);
  };
  set("command", command);
  set("time_s", time_s);
}

std::string quoted_text(const std::string& text) { return '"' + text + '"'; }

/// Returns the safety section of a rig file as text in one line.
std::string safety_text(const std::string& path, const std::string& text) {
  v1::Rig rig;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, text, rig, tree);
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string safety;
  printer.PrintToString(rig.safety(), &safety);
  return "{ " + safety + "}";
}

/// Writes the record, with the present safety section, and its hash.
void set_record(const CommissionRecord& record, proto::TextEdit& text, const std::string& path) {
  const auto set = [&](const char* field, const std::string& value) {
    text.set_number(steps_to({{"unit", -1}, {"commissioned", -1}, {field, -1}}), value);
  };
  set("date", quoted_text(record.date));
  set("unit_id", quoted_text(record.unit_id));
  set("configuration_hash", quoted_text(record.configuration_hash));
  set("safety", safety_text(path, text.text()));
  const RigConfig edited = parse_rig_config(path, text.text());
  set("hash", quoted_text(commission_hash(edited.commissioned_fields, record.configuration_hash)));
}

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
    if (std::string comment = text.line_comment(text.line_of(steps)); !comment.empty()) {
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

std::string commissioned_fields(const v1::Rig& rig) {
  v1::Rig checked;
  *checked.mutable_unit() = rig.unit();
  checked.mutable_unit()->clear_url();
  checked.mutable_unit()->clear_commissioned();
  const v1::Commissioned& record = rig.unit().commissioned();
  *checked.mutable_safety() = record.has_safety() ? record.safety() : rig.safety();
  for (const v1::Joint& joint : rig.joint()) {
    if (!joint.has_encoder() && !joint.has_motor()) continue;
    v1::Joint& own = *checked.add_joint();
    own.set_name(joint.name());
    own.set_type(joint.type());
    *own.mutable_encoder() = scale_of(joint.encoder());
    if (!joint.has_motor()) continue;
    own.mutable_motor()->set_control_unit(joint.motor().control_unit());
    own.mutable_motor()->set_control_max(joint.motor().control_max());
    if (joint.motor().gain().value() < 0.0) own.mutable_motor()->mutable_gain()->set_value(-1.0);
  }
  for (const v1::BodyEncoder& encoder : rig.body_encoder()) {
    v1::BodyEncoder& own = *checked.add_body_encoder();
    own.set_name(encoder.name());
    *own.mutable_encoder() = scale_of(encoder.encoder());
  }
  // Serialized in the order of field numbers, so that field names may change.
  return checked.SerializeAsString();
}

std::string commission_hash(const std::string& fields, const std::string& configuration_hash) {
  proto::ContentHash content;
  content.add(fields);
  content.add(configuration_hash);
  return content.sha256().substr(0, kHashDigits);
}

std::string unit_id_text(const firmware_iface::UnitDescription& facts) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(facts.unit_id));
  return text;
}

std::string configuration_hash_text(const firmware_iface::UnitDescription& facts) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(facts.configuration_hash));
  return text;
}

CommissionState commission_state(const RigConfig& rig,
                                 const firmware_iface::UnitDescription& facts) {
  if (!rig.commissioned) return CommissionState::kNever;
  const CommissionRecord& record = *rig.commissioned;
  if (record.hash != commission_hash(rig.commissioned_fields, record.configuration_hash)) {
    return CommissionState::kFileChanged;
  }
  if (record.configuration_hash != configuration_hash_text(facts)) {
    return CommissionState::kUnitChanged;
  }
  // Tighter limits make the rig only safer. A record without limits has those of the file.
  return record.limits && !find_loosened_limit(rig.limits, *record.limits).empty()
             ? CommissionState::kLimitLoosened
             : CommissionState::kCurrent;
}

std::string describe_commission_state(CommissionState state, const RigConfig& rig) {
  const std::string since =
      rig.commissioned ? " since it was commissioned on " + rig.commissioned->date : "";
  switch (state) {
    case CommissionState::kCurrent:
      return "";
    case CommissionState::kNever:
      return rig.path + " was never commissioned";
    case CommissionState::kFileChanged:
      return rig.path + ": the unit, " +
             (rig.commissioned->limits ? "" : "the safety limits, ") +
             "an encoder or a motor changed" + since;
    case CommissionState::kLimitLoosened:
      return rig.path + ": " + find_loosened_limit(rig.limits, *rig.commissioned->limits) + since;
    case CommissionState::kUnitChanged:
      return rig.path + ": the unit was replaced, or its description changed," + since;
  }
  return "";
}

std::string edit_rig_text(const RigConfig& rig, const CommissionEdit& edit) {
  proto::TextEdit text(rig.path, rig.text, v1::Rig::default_instance());
  reorder(rig, edit.channel, text);
  for (std::size_t k = 0; k < edit.channel.size(); ++k) {
    const CommissionEdit::ChannelEdit& channel = edit.channel[k];
    const ChannelConfig& was =
        rig.channel[static_cast<std::size_t>(rig.find_channel(channel.joint))];
    const int index = static_cast<int>(k);
    if (channel.inverted != was.inverted) {
      text.set_number(channel_steps(index, "inverted"), channel.inverted ? "true" : "false");
    }
    if (channel.offset != was.offset_rad) {
      text.set_number(channel_steps(index, was.slides ? "offset_m" : "offset_rad"),
                      notation::format_number(channel.offset, 4));
    }
  }
  for (const CommissionEdit::StallEdit& stall : edit.stall) set_stall(rig, stall, text);
  if (!edit.record) return text.text();
  set_record(*edit.record, text, rig.path);
  return text.text();
}

std::string commission_remedy(const RigConfig& rig) {
  return "commission it with 'rigcal-daq commission --rig " + rig.path +
         "', or give --not-commissioned";
}

JointDescription read_joint_description(const RigConfig& rig, const std::string& joint) {
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
