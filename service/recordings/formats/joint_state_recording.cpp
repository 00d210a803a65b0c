#include "service/recordings/formats/recording_formats.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "proto/recording/joint_state.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/sqlite_bag.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/recordings/row_clock.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kUnread = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kPosition = ".position";
constexpr std::string_view kVelocity = ".velocity";
constexpr std::string_view kEffort = ".effort";
constexpr const char* kTime = "header.stamp";
constexpr std::size_t kMessagesMax = 20'000'000;  // hours at 1 kHz
// Messages are seldom delayed by a second. Time stamps that jump back farther restart.
constexpr std::int64_t kDelayMax_ns = 1'000'000'000;

/// A joint-state message of a ROS bag.
struct BagState {
  std::int64_t logged_ns = 0;  ///< time at which the bag recorded the message
  proto::JointState state;
};

/// Visitor that collects the joint-state messages of a ROS bag.
class Collector final : public proto::McapVisitor {
 public:
  /// @param topic  topic to collect; empty: all topics
  explicit Collector(std::string topic) : topic_(std::move(topic)) {}

  bool on_message(const proto::McapChannel& channel, const proto::McapSchema* schema,
                  const proto::McapMessage& message) override {
    if (schema == nullptr || schema->name != proto::kJointStateSchema) {
      constexpr std::size_t kTopicsMax = 20;  // in a message
      if (other_topics.size() < kTopicsMax) {
        other_topics.insert(channel.topic + " (" + (schema == nullptr ? "?" : schema->name) + ")");
      }
      return true;
    }
    std::set<std::string>& joints = joints_of_topics[channel.topic];
    if (!topic_.empty() && channel.topic != topic_) return true;
    const bool is_cdr = channel.message_encoding == "cdr";
    auto state = is_cdr ? proto::parse_joint_state(message.data) : std::nullopt;
    if (!state) {
      ++unreadable;
      return true;
    }
    is_stamped = is_stamped || state->stamp_ns != 0;
    joints.insert(state->names.begin(), state->names.end());
    states.push_back({static_cast<std::int64_t>(message.log_time_ns), std::move(*state)});
    return states.size() < kMessagesMax;
  }

  bool is_stamped = false;
  std::map<std::string, std::set<std::string>> joints_of_topics;
  std::set<std::string> other_topics;  ///< with their types
  std::vector<BagState> states;        ///< collect() sorts them by log time
  std::size_t unreadable = 0;

 private:
  std::string topic_;
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

/// Returns the names of items in quotes, separated by commas.
template <typename Items, typename Name = std::identity>
std::string list_of(const Items& items, Name name = {}) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "\"" : ", \"") + name(item) + "\"";
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
    if (control.is_prescribed) {
      control.column =
          std::ranges::find(format.angles, control.joint, &EncoderColumn::joint)->column;
      continue;
    }
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

/// Refuses time stamps that jump back by more than messages are delayed.
void check_stamps_restart(const std::string& path, std::int64_t before_ns, std::int64_t stamp_ns) {
  if (before_ns - stamp_ns <= kDelayMax_ns) return;
  throw proto::InputError(
      path + ": the time stamps of the messages jump back by " +
      format_number(1e-9 * static_cast<double>(before_ns - stamp_ns), 3) +
      " s, so the bag contains two recordings. Cut it there, for example with ros2 bag convert");
}

/// Makes a table with one row per time stamp at which a required joint was published, sorted by
/// time. Messages with equal time stamps share a row.
proto::CsvTable make_table(const std::string& path, const Collector& bag,
                           const std::vector<proto::ColumnRequest>& requests,
                           std::vector<std::string>& notes) {
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
  std::int64_t first_ns = 0, latest_ns = 0;
  for (const auto& [logged_ns, state] : bag.states) {
    std::vector<double> row(columns.size(), kUnread);
    for (std::size_t i = 1; i < columns.size(); ++i) row[i] = number_of(state, columns[i]);
    if (std::ranges::all_of(row, [](double value) { return std::isnan(value); })) continue;
    const std::int64_t stamp_ns = bag.is_stamped ? state.stamp_ns : logged_ns;
    if (table.lines.empty()) first_ns = latest_ns = stamp_ns;
    check_stamps_restart(path, latest_ns, stamp_ns);
    latest_ns = std::max(latest_ns, stamp_ns);
    row[0] = 1e-9 * static_cast<double>(stamp_ns - first_ns);
    for (std::size_t i = 0; i < columns.size(); ++i) table.values[i].push_back(row[i]);
    table.lines.push_back(static_cast<int>(table.lines.size()) + 1);
  }
  if (const int late = sort_rows(0, table); late > 0) {
    notes.push_back(std::to_string(late) +
                    " messages were out of order and are sorted by their time stamps");
  }
  merge_equal_times(0, table);
  if (table.lines.empty()) return table;
  // An earlier message may have come first.
  for (const double begin = table.values[0].front(); double& time : table.values[0]) time -= begin;
  return table;
}

void check_positions(const proto::CsvTable& table) {
  if (!table.lines.empty()) return;
  throw proto::InputError(
      table.path +
      ": no message has positions of the rig's joints. Record joint states with positions");
}

void check_table(const proto::CsvTable& table) {
  check_positions(table);
  const std::vector<double>& times = table.values[0];
  const auto repeated = std::ranges::adjacent_find(times);
  if (repeated != times.end()) {
    throw proto::InputError(table.where(static_cast<int>(repeated - times.begin()) + 1, 0) +
                            ": two messages have the time stamp " + format_number(*repeated, 9) +
                            " s but different values. "
                            "Record one publisher per topic, and choose its topic with --topic");
  }
  for (std::size_t i = 1; i < table.values.size(); ++i) {
    const auto is_infinite = [](double value) { return std::isinf(value); };
    const auto wrong = std::ranges::find_if(table.values[i], is_infinite);
    if (wrong == table.values[i].end()) continue;
    throw proto::InputError(
        table.where(static_cast<int>(wrong - table.values[i].begin()), static_cast<int>(i)) +
        ": not finite. Cut the bag before this message");
  }
}

/// Refuses a bag without joint states, or whose joint states are in another encoding.
void check_states(const std::string& path, const Collector& bag) {
  if (!bag.states.empty()) return;
  if (bag.unreadable > 0) {
    throw proto::InputError(path + ": the " + std::to_string(bag.unreadable) +
                            " messages of joint states are compressed one by one, or not in the "
                            "encoding CDR. Convert the bag with ros2 bag convert");
  }
  if (!bag.joints_of_topics.empty()) return;
  std::string topics;
  for (const std::string& topic : bag.other_topics) topics += (topics.empty() ? "" : ", ") + topic;
  throw proto::InputError(path + ": has no topic of the type " +
                          std::string(proto::kJointStateSchema) + "; its topics are " +
                          (topics.empty() ? "none" : topics) + ". Record the joint states too");
}

/// Refuses topics that publish the same joint, for example measured and desired joint states.
void check_topics(const std::string& path, const std::string& topic, const Collector& bag) {
  const std::string list =
      list_of(bag.joints_of_topics, [](const auto& each) { return each.first; });
  if (!topic.empty() && !bag.joints_of_topics.contains(topic)) {
    throw proto::InputError(path + ": has no joint states on the topic \"" + topic +
                            "\"; it has the topics " + list +
                            ". Correct --topic, or topic in the rig file's recording { }");
  }
  std::set<std::string> joints;
  for (const auto& [name, own] : bag.joints_of_topics) {
    for (const std::string& joint : own) {
      if (joints.insert(joint).second) continue;
      throw proto::InputError(path + ": contains joint states of \"" + joint +
                              "\" on several of the topics " + list + "; choose one with --topic");
    }
  }
}

/// Collects the joint states on a topic, or on all topics if they have different joints.
Collector collect(const std::string& path, const std::string& topic) {
  Collector bag(topic);
  if (proto::is_sqlite_file(path)) {
    proto::scan_sqlite_bag(path, proto::kJointStateSchema, bag);
  } else {
    const auto file = proto::open_input_file(path);
    if (!file.ok()) throw proto::InputError(file.error().detail);
    const auto scan = proto::scan_mcap(*file.value(), bag);
    if (!scan.ok()) throw proto::InputError(path + ": " + scan.error().detail);
  }
  if (bag.states.size() >= kMessagesMax) {
    throw proto::InputError(path + ": has too many joint states. Cut the bag");
  }
  check_topics(path, topic, bag);
  check_states(path, bag);
  std::ranges::stable_sort(bag.states, {}, &BagState::logged_ns);
  return bag;
}

}  // namespace

std::vector<NamedColumn> read_joint_state_columns(const std::string& path,
                                                  const std::string& topic) {
  const Collector bag = collect(path, topic);
  std::set<std::string> joints, efforts;
  for (const auto& [logged_ns, state] : bag.states) {
    for (std::size_t k = 0; k < state.names.size(); ++k) {
      joints.insert(state.names[k]);
      if (k < state.efforts.size()) efforts.insert(state.names[k]);
    }
  }
  std::vector<proto::ColumnRequest> requests = {{kTime}};
  for (const std::string& joint : joints) requests.push_back({joint});
  for (const std::string& joint : efforts) requests.push_back({joint + std::string(kEffort)});
  std::vector<std::string> notes;
  proto::CsvTable table = make_table(path, bag, requests, notes);
  check_positions(table);
  std::vector<NamedColumn> columns;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    columns.push_back({requests[i].name, std::move(table.values[i])});
  }
  return columns;
}

ImportedRecording import_joint_states(const std::string& path, const Rig& rig,
                                      const std::string& topic) {
  const Collector bag = collect(path, topic.empty() && rig.format ? rig.format->topic : topic);
  std::set<std::string> joints;
  for (const auto& [name, own] : bag.joints_of_topics) joints.insert(own.begin(), own.end());
  const RecordingFormat format = format_of(path, rig, joints);
  std::vector<std::string> notes;
  proto::CsvTable table = make_table(path, bag, make_column_requests(format), notes);
  check_table(table);
  ImportedRecording imported = import_csv_table(std::move(table), format);
  imported.summary.notes.insert(imported.summary.notes.begin(), notes.begin(), notes.end());
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
