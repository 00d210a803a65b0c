#include "service/recordings/formats/recording_formats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "proto/recording/joint_state.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/sqlite_bag.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_file.hpp"

namespace service {
namespace {

constexpr double kUnread = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kPosition = ".position";
constexpr std::string_view kVelocity = ".velocity";
constexpr std::string_view kEffort = ".effort";
constexpr const char* kTime = "header.stamp";
constexpr std::size_t kMessagesMax = 20'000'000;  // hours at 1 kHz

/// Visitor that collects the joint-state messages of a ROS bag.
class Collector final : public proto::McapVisitor {
 public:
  bool on_message(const proto::McapChannel& channel, const proto::McapSchema* schema,
                  const proto::McapMessage& message) override {
    if (schema == nullptr || schema->name != proto::kJointStateSchema) return true;
    topics.insert(channel.topic);
    const bool is_cdr = channel.message_encoding == "cdr";
    auto state = is_cdr ? proto::parse_joint_state(message.data) : std::nullopt;
    if (!state) {
      ++unreadable;
      return true;
    }
    is_stamped = is_stamped || state->stamp_ns != 0;
    logged_ns.push_back(static_cast<std::int64_t>(message.log_time_ns));
    states.push_back(std::move(*state));
    return states.size() < kMessagesMax;
  }

  bool is_stamped = false;
  std::set<std::string> topics;
  std::vector<proto::JointState> states;
  std::vector<std::int64_t> logged_ns;
  std::size_t unreadable = 0;
};

/// Position, velocity or effort of a joint in a ROS bag, as a column.
struct JointColumn {
  std::string joint;
  std::vector<double> proto::JointState::*numbers = &proto::JointState::positions;
};

JointColumn parse_column(const std::string& text) {
  const auto without = [&](std::string_view ending) {
    return text.substr(0, text.size() - ending.size());
  };
  if (text.ends_with(kPosition)) return {without(kPosition)};
  if (text.ends_with(kVelocity)) return {without(kVelocity), &proto::JointState::velocities};
  if (text.ends_with(kEffort)) return {without(kEffort), &proto::JointState::efforts};
  return {text};
}

/// Returns the value of a column in a joint-state message; NaN if the message lacks it.
double number_of(const proto::JointState& state, const JointColumn& column) {
  const auto found = std::ranges::find(state.names, column.joint);
  const auto index = static_cast<std::size_t>(found - state.names.begin());
  const std::vector<double>& numbers = state.*column.numbers;
  return index < numbers.size() ? numbers[index] : kUnread;
}

std::string list_of(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return list;
}

/// Checks whether a unit is a torque or force, which ROS calls effort. Products of units may be
/// written with a dot, a space or nothing.
bool is_effort(const std::string& unit, estimator::JointKind kind) {
  const std::string force = joint_units(kind).force, dot = "·";
  if (unit == force) return true;
  const std::size_t at = force.find(dot);
  return at != std::string::npos && (unit == std::string(force).erase(at, dot.size()) ||
                                     unit == std::string(force).replace(at, dot.size(), " "));
}

/// Returns the recording format of a ROS bag, with columns from the rig file or from joint names.
RecordingFormat format_of(const std::string& path, const Rig& rig,
                          const std::set<std::string>& joints) {
  RecordingFormat format = rig.format ? *rig.format : default_recording_format(rig);
  const auto names_joint = [&](const auto& column) {
    return joints.contains(parse_column(column.column).joint);
  };
  if (!rig.format || !std::ranges::all_of(format.angles, names_joint)) {
    const RecordingFormat plain = default_recording_format(rig);
    format.angles = plain.angles;
    for (EncoderColumn& angle : format.angles) angle.column = angle.joint;
  }
  for (EncoderColumn& angle : format.angles) {
    const estimator::JointTraits& joint = joint_traits(angle.kind);
    if (!names_joint(angle)) {
      throw proto::InputError(path + ": no joint is called \"" + angle.joint + "\"; the bag has " +
                              list_of(joints) + "; name one in the rig file: recording { " +
                              (rig.format ? "" : "time { column: \"header.stamp\" } ") +
                              joint.units.quantity + " { joint: \"" + angle.joint +
                              "\" column: ... unit: " + (joint.turns ? "RADIAN" : "METER") +
                              " } }");
    }
    angle.allow_missing = true;  // a message may contain only some joints
  }
  for (ControlColumn& control : format.controls) {
    const bool named = rig.format && control.column.ends_with(kEffort) && names_joint(control);
    if (named) continue;
    const auto joint =
        std::ranges::find(rig.mechanism.joints, control.joint, &estimator::Joint::name);
    if (!joints.contains(control.joint) || !is_effort(control.unit, joint->kind)) {
      throw proto::InputError(
          path +
          ": a bag can give a motor's control only as an effort, but the control of joint \"" +
          control.joint + "\" is in " + control.unit +
          ". If a joint's effort is this control, write recording { control { joint: \"" +
          control.joint + "\" column: \"JOINT.effort\" } } in the rig file");
    }
    control.column = control.joint + std::string(kEffort);
  }
  format.time_column = kTime;
  format.time_scale = 1.0;
  format.rate = 0.0;
  format.segment_column.clear();
  return format;
}

/// Makes a table with one row per time stamp at which a required joint was published. Messages with
/// equal time stamps share a row.
proto::CsvTable make_table(const std::string& path, const Collector& bag,
                           const std::vector<proto::ColumnRequest>& requests) {
  proto::CsvTable table;
  table.path = path;
  std::vector<JointColumn> columns;
  for (const proto::ColumnRequest& request : requests) {
    table.header.push_back(request.name);
    table.fields.push_back(static_cast<int>(table.fields.size()));
    table.sources.push_back("\"" + request.name + "\"");
    columns.push_back(parse_column(request.name));
  }
  table.values.resize(requests.size());
  const auto stamp_of = [&](std::size_t k) {
    return bag.is_stamped ? bag.states[k].stamp_ns : bag.logged_ns[k];
  };
  std::int64_t first_ns = 0, last_ns = 0;
  for (std::size_t k = 0; k < bag.states.size(); ++k) {
    std::vector<double> row(columns.size(), kUnread);
    for (std::size_t i = 1; i < columns.size(); ++i) row[i] = number_of(bag.states[k], columns[i]);
    if (std::ranges::all_of(row, [](double value) { return std::isnan(value); })) continue;
    const bool is_first = table.lines.empty();
    if (is_first) first_ns = stamp_of(k);
    const auto merges = [&](std::size_t i) {
      return std::isnan(row[i]) || std::isnan(table.values[i].back());
    };
    bool joins = !is_first && stamp_of(k) == last_ns;
    for (std::size_t i = 1; joins && i < columns.size(); ++i) joins = merges(i);
    last_ns = stamp_of(k);
    for (std::size_t i = 1; joins && i < columns.size(); ++i) {
      if (!std::isnan(row[i])) table.values[i].back() = row[i];
    }
    if (joins) continue;
    row[0] = 1e-9 * static_cast<double>(last_ns - first_ns);
    for (std::size_t i = 0; i < columns.size(); ++i) table.values[i].push_back(row[i]);
    table.lines.push_back(static_cast<int>(table.lines.size()) + 1);
  }
  return table;
}

void check_table(const proto::CsvTable& table, const RecordingFormat& format) {
  if (table.lines.empty()) {
    throw proto::InputError(
        table.path +
        ": no message has positions of the rig's joints. Record joint states with positions");
  }
  const std::size_t first_control = table.values.size() - format.controls.size();
  for (std::size_t i = 1; i < table.values.size(); ++i) {
    const std::vector<double>& values = table.values[i];
    const std::size_t last = values.size() - 1;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const bool missing = std::isnan(values[k]) && i >= first_control && k != last;
      if (!missing && !std::isinf(values[k])) continue;
      throw proto::InputError(table.where(static_cast<int>(k), static_cast<int>(i)) +
                              (missing ? ": the effort is missing. Record it in the same message "
                                         "as the position, or cut the bag"
                                       : ": not finite. Cut the bag before this message"));
    }
  }
}

Collector collect(const std::string& path) {
  Collector bag;
  if (proto::is_sqlite_file(path)) {
    proto::scan_sqlite_bag(path, proto::kJointStateSchema, bag);
    return bag;
  }
  const auto file = proto::open_input_file(path);
  if (!file.ok()) throw proto::InputError(file.error().detail);
  const auto scan = proto::scan_mcap(*file.value(), bag);
  if (!scan.ok()) throw proto::InputError(path + ": " + scan.error().detail);
  return bag;
}

std::string joint_key(const proto::JointState& state) {
  std::string key;
  for (const std::string& name : state.names) key += name + '\n';
  return key;
}

}  // namespace

std::vector<NamedColumn> read_joint_state_columns(const std::string& path) {
  const Collector bag = collect(path);
  std::set<std::string> joints, efforts;
  for (const proto::JointState& state : bag.states) {
    for (std::size_t k = 0; k < state.names.size(); ++k) {
      joints.insert(state.names[k]);
      if (k < state.efforts.size()) efforts.insert(state.names[k]);
    }
  }
  std::vector<proto::ColumnRequest> requests = {{kTime}};
  for (const std::string& joint : joints) requests.push_back({joint});
  for (const std::string& joint : efforts) requests.push_back({joint + std::string(kEffort)});
  proto::CsvTable table = make_table(path, bag, requests);
  std::vector<NamedColumn> columns;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    columns.push_back({requests[i].name, std::move(table.values[i])});
  }
  return columns;
}

ImportedRecording import_joint_states(const std::string& path, const Rig& rig) {
  const Collector bag = collect(path);
  if (bag.states.size() >= kMessagesMax) {
    throw proto::InputError(path + ": has too many joint states. Cut the bag");
  }
  if (bag.topics.size() > 1) {
    throw proto::InputError(path + ": contains joint states on the topics " + list_of(bag.topics) +
                            "; keep one topic, for example with ros2 bag convert");
  }
  std::set<std::string> joints, keys;
  for (const proto::JointState& state : bag.states) {
    if (keys.insert(joint_key(state)).second) joints.insert(state.names.begin(), state.names.end());
  }
  const RecordingFormat format = format_of(path, rig, joints);
  const proto::CsvTable table = make_table(path, bag, make_column_requests(format));
  check_table(table, format);
  ImportedRecording imported = import_csv_table(table, format);
  if (bag.unreadable > 0) {
    imported.summary.notes.push_back(
        std::to_string(bag.unreadable) +
        " messages are not joint states in CDR encoding and were left out");
  }
  if (!bag.is_stamped) {
    imported.summary.notes.push_back(
        "headers have no time stamps; the recording times of the messages are used");
  }
  return imported;
}

}  // namespace service
