#include "service/recordings/formats/recording_formats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "estimator/model/encoder.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/topics.hpp"
#include "proto/sample.pb.h"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_file.hpp"

namespace service {
namespace {

/// Table of computed joint coordinates [rad or m] and controls, one row per time. Encoder offsets
/// and signs are not applied.
struct JointMotion {
  proto::CsvTable table;      ///< requested columns
  int time = 0;               ///< index of the time column [s]
  int segment = -1;           ///< index of the column whose changes start a segment; −1 if none
  std::vector<int> joints;    ///< index of each joint's column; −1 if missing
  std::vector<int> controls;  ///< index of each motor's column; −1 if missing

  const std::vector<double>& column(int request) const {
    return table.values[static_cast<std::size_t>(request)];
  }
};

/// Times and segment numbers of the rows of a table. Time runs backwards where another recording
/// starts; later times are then shifted forward by whole seconds.
struct RowPlaces {
  explicit RowPlaces(const JointMotion& motion)
      : times(motion.column(motion.time)), segments(times.size(), 0.0) {
    const std::vector<double>* const names =
        motion.segment < 0 ? nullptr : &motion.column(motion.segment);
    double shift = 0.0;
    for (std::size_t k = 1; k < times.size(); ++k) {
      times[k] += shift;
      const bool goes_back = times[k] < times[k - 1];
      if (goes_back) {
        const double more = 1.0 + std::ceil(times[k - 1] - times[k]);
        shift += more;
        times[k] += more;
        ++shifts;
      }
      const bool changes = goes_back || (names != nullptr && (*names)[k] != (*names)[k - 1]);
      segments[k] = segments[k - 1] + (changes ? 1.0 : 0.0);
    }
  }

  std::vector<double> times;  ///< [s]
  std::vector<double> segments;
  int shifts = 0;
};

/// Returns the recording format for importing a table of these columns with import_csv_table.
RecordingFormat format_of_motion(const Rig& rig) {
  RecordingFormat format = default_recording_format(rig);
  format.segment_column = "recording";
  for (EncoderColumn& angle : format.angles) angle.allow_missing = true;
  if (!rig.format) return format;
  format.jitter_tolerance = rig.format->jitter_tolerance;
  format.speed_max = rig.format->speed_max;
  format.prismatic_speed_max = rig.format->prismatic_speed_max;
  return format;
}

void require_joints_and_motors(const JointMotion& motion, const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  for (const estimator::Encoder& sensor : estimator::used_encoders(mechanism)) {
    for (const estimator::Encoder::JointTerm& term : sensor.terms) {
      const auto joint = static_cast<std::size_t>(term.joint);
      if (motion.joints[joint] >= 0) continue;
      throw proto::InputError(
          motion.table.path + ": lacks the position of joint \"" + mechanism.joints[joint].name +
          "\", which encoder \"" + sensor.name +
          "\" measures. Include angles in the estimate (--only angle), and use the same rig file");
    }
  }
  for (std::size_t j = 0, motor = 0; j < mechanism.joints.size(); ++j) {
    if (!mechanism.joints[j].motor.present || motion.controls[motor++] >= 0) continue;
    throw proto::InputError(motion.table.path + ": lacks the control of joint \"" +
                            mechanism.joints[j].name +
                            "\". Use the rig file that the file was made with");
  }
}

/// Converts computed joint motion to a recording of the rig's encoders. Encoder readings include
/// the offsets in the rig file.
/// @throws proto::InputError for a missing joint or motor, or like import_csv_table
ImportedRecording import_joint_motion(const JointMotion& motion, const Rig& rig) {
  require_joints_and_motors(motion, rig);
  const proto::CsvTable& source = motion.table;
  proto::CsvTable table;
  table.path = source.path;
  table.layout = source.layout;
  table.header = source.header;
  table.lines = source.lines;
  const auto add = [&](int request, std::vector<double> values) {
    const auto at = static_cast<std::size_t>(request);
    table.fields.push_back(source.fields[at]);
    if (!source.sources.empty()) table.sources.push_back(source.sources[at]);
    table.values.push_back(std::move(values));
  };
  const RowPlaces places(motion);
  add(motion.time, places.times);
  add(motion.segment < 0 ? motion.time : motion.segment, places.segments);
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    const double offset = rig.mechanism.at(sensor.offset).value;
    std::vector<double> readings(source.lines.size(), -offset);
    const auto request = [&](const estimator::Encoder::JointTerm& term) {
      return motion.joints[static_cast<std::size_t>(term.joint)];
    };
    for (const estimator::Encoder::JointTerm& term : sensor.terms) {
      const std::vector<double>& own = motion.column(request(term));
      for (std::size_t k = 0; k < readings.size(); ++k) readings[k] += term.sign * own[k];
    }
    add(request(sensor.terms.front()), std::move(readings));
  }
  for (const int control : motion.controls) add(control, motion.column(control));
  ImportedRecording imported = import_csv_table(table, format_of_motion(rig));
  if (places.shifts > 0) {
    imported.summary.notes.push_back("time restarts " + std::to_string(places.shifts) +
                                     " times; later recordings were shifted to follow one another");
  }
  return imported;
}

/// Imports motion that rigcal has estimated, and adds a note on that.
ImportedRecording import_estimated_motion(const JointMotion& motion, const Rig& rig) {
  ImportedRecording imported = import_joint_motion(motion, rig);
  imported.summary.notes.push_back(
      "the angles are estimates from a model. "
      "A calibration would return that model's parameters with meaningless standard deviations. "
      "Calibrate the original recording");
  return imported;
}

/// Requests a column and returns its index.
int add(const proto::ColumnRequest& request, std::vector<proto::ColumnRequest>& requests) {
  requests.push_back(request);
  return static_cast<int>(requests.size()) - 1;
}

std::string truth_angle(std::size_t joint) { return "theta" + std::to_string(joint + 1) + "_rad"; }

/// Removes the rows in which a column is not 0. @return number of removed rows
int drop_rows_of(std::size_t column, proto::CsvTable& table) {
  const int rows = table.row_count();
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < table.values[column].size(); ++row) {
    if (table.values[column][row] == 0.0) kept.push_back(row);
  }
  proto::keep_rows(kept, table);
  return rows - table.row_count();
}

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kStatesMax = 50'000'000;  // hours of a rig with many joints

/// Collector of the positions and controls of the joints by time.
class StateCollector final : public proto::McapVisitor {
 public:
  explicit StateCollector(const Rig& rig) : values_(2 * rig.mechanism.joints.size()) {
    for (std::size_t j = 0; j < rig.mechanism.joints.size(); ++j) {
      joints_[std::string(proto::kJointTopics.name) + rig.mechanism.joints[j].name] = j;
    }
  }

  bool on_message(const proto::McapChannel& channel, const proto::McapSchema* schema,
                  const proto::McapMessage& message) override {
    const auto joint = joints_.find(channel.topic);
    if (schema == nullptr || schema->name != proto::kJointTopics.message_type ||
        joint == joints_.end()) {
      return true;
    }
    if (!state_.ParseFromArray(message.data.data(), static_cast<int>(message.data.size()))) {
      ++unreadable;
      return true;
    }
    if (times.empty() || state_.timestamp() != times.back()) {
      times.push_back(state_.timestamp());
      for (std::vector<double>& column : values_) column.push_back(kMissing);
    }
    values_[2 * joint->second].back() = state_.position();
    values_[2 * joint->second + 1].back() = state_.control();
    has_data_[2 * joint->second] |= !std::isnan(state_.position());
    has_data_[2 * joint->second + 1] |= !std::isnan(state_.control());
    return times.size() * values_.size() < kStatesMax;
  }

  bool is_full() const { return times.size() * values_.size() >= kStatesMax; }

  /// Returns the columns that contain data.
  JointMotion take(const std::string& path, const Rig& rig) {
    JointMotion motion;
    proto::CsvTable& table = motion.table;
    table.path = path;
    for (std::size_t k = 0; k < times.size(); ++k) table.lines.push_back(static_cast<int>(k) + 1);
    const auto add = [&](const std::string& name, std::vector<double>& values) {
      table.header.push_back(name);
      table.sources.push_back("\"" + name + "\"");
      table.fields.push_back(static_cast<int>(table.fields.size()));
      table.values.push_back(std::move(values));
      return static_cast<int>(table.fields.size()) - 1;
    };
    motion.time = add("timestamp", times);
    for (std::size_t j = 0; j < rig.mechanism.joints.size(); ++j) {
      const estimator::Joint& joint = rig.mechanism.joints[j];
      const std::string topic = std::string(proto::kJointTopics.name) + joint.name;
      motion.joints.push_back(has_data_[2 * j] ? add(topic + ".position", values_[2 * j]) : -1);
      if (!joint.motor.present) continue;
      motion.controls.push_back(has_data_[2 * j + 1] ? add(topic + ".control", values_[2 * j + 1])
                                                     : -1);
    }
    return motion;
  }

  std::vector<double> times;
  std::size_t unreadable = 0;

 private:
  std::map<std::string, std::size_t> joints_;  ///< joint index by topic
  std::vector<std::vector<double>> values_;    ///< position and control of each joint
  std::map<std::size_t, bool> has_data_;       ///< which of these contain data
  rigcal::v1::JointEstimate state_;
};

}  // namespace

bool is_estimated_state_csv(const std::vector<std::string>& header) {
  return header.size() > 3 && header[0] == "recording" && header[1] == "t_s" &&
         header[3] == header[2] + "_sd";
}

ImportedRecording import_estimated_states_csv(const std::string& path, std::string_view text,
                                              const Rig& rig) {
  const std::vector<std::string> header = proto::parse_csv_header(path, text).names;
  JointMotion motion;
  std::vector<proto::ColumnRequest> requests;
  motion.segment = add({.name = "recording", .kind = proto::CellKind::kName}, requests);
  motion.time = add({.name = "t_s"}, requests);
  const auto find = [&](const std::string& name, proto::MissingCells missing) {
    return std::ranges::count(header, name) > 0 ? add({name, missing}, requests) : -1;
  };
  for (const estimator::Joint& joint : rig.mechanism.joints) {
    motion.joints.push_back(
        find(joint.name + "_" + joint.units().coordinate, proto::MissingCells::kAllowed));
    if (!joint.motor.present) continue;
    motion.controls.push_back(find(joint.name + "_control", proto::MissingCells::kForbidden));
  }
  motion.table = proto::parse_csv(path, text, requests);
  return import_estimated_motion(motion, rig);
}

bool is_true_motion_csv(const std::vector<std::string>& header) {
  return header.size() > 3 && header[0] == "time_s" && header[1] == "unit_time_us" &&
         header[2] == "sample_sequence" && header[3] == truth_angle(0);
}

ImportedRecording import_true_motion_csv(const std::string& path, std::string_view text,
                                         const Rig& rig) {
  const std::vector<std::string> header = proto::parse_csv_header(path, text).names;
  const estimator::Mechanism& mechanism = rig.mechanism;
  std::size_t joints = 0;
  while (std::ranges::count(header, truth_angle(joints)) > 0) ++joints;
  const auto motors = std::ssize(estimator::joints_with_motor(mechanism));
  if (joints != mechanism.joints.size() || motors > 1) {
    throw proto::InputError(path + ": motion of a simulated rig with " + std::to_string(joints) +
                            " joints and one motor, but " + rig.path + " has " +
                            std::to_string(mechanism.joints.size()) + " joints and " +
                            std::to_string(motors) +
                            " motors. Use the rig file of the simulated rig");
  }
  JointMotion motion;
  std::vector<proto::ColumnRequest> requests;
  motion.time = add({.name = "time_s"}, requests);
  for (std::size_t j = 0; j < joints; ++j) motion.joints.push_back(add({truth_angle(j)}, requests));
  if (motors > 0) motion.controls.push_back(add({.name = "command_V"}, requests));
  const int held = add({.name = "held"}, requests);
  motion.table = proto::parse_csv(path, text, requests);
  const int rows_before_release = drop_rows_of(static_cast<std::size_t>(held), motion.table);
  if (motion.table.lines.empty()) {
    throw proto::InputError(path +
                            ": the rig was never released, so the recording has no free motion. "
                            "Release it (hand { release: ... })");
  }
  ImportedRecording imported = import_joint_motion(motion, rig);
  report_rows_before_release(rows_before_release, imported.summary);
  imported.summary.rows += rows_before_release;
  return imported;
}

ImportedRecording import_estimated_states_mcap(const std::string& path, const Rig& rig) {
  const auto file = proto::open_input_file(path);
  if (!file.ok()) throw proto::InputError(file.error().detail);
  StateCollector states(rig);
  const auto scan = proto::scan_mcap(*file.value(), states);
  if (!scan.ok()) throw proto::InputError(path + ": " + scan.error().detail);
  if (states.is_full()) {
    throw proto::InputError(
        path + ": has too many states. Estimate a part of the recording (--from, --to)");
  }
  if (states.times.empty()) {
    throw proto::InputError(path + ": has no data for the joints of " + rig.path +
                            ". Use the rig file that the states were estimated with");
  }
  ImportedRecording imported = import_estimated_motion(states.take(path, rig), rig);
  if (!scan.value().intact()) {
    imported.summary.notes.push_back("the file is cut off or damaged; its intact part is used");
  }
  if (states.unreadable > 0) {
    imported.summary.notes.push_back(std::to_string(states.unreadable) +
                                     " messages are not state estimates and were left out");
  }
  return imported;
}

}  // namespace service
