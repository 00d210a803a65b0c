#include "service/recordings/formats/state_mcap.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/topics.hpp"
#include "proto/sample.pb.h"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/joint_motion.hpp"

namespace service {
namespace {

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
      if (!joint.motorised) continue;
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

ImportedRecording import_state_mcap(const std::string& path, const Rig& rig) {
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
  ImportedRecording imported = import_joint_motion(states.take(path, rig), rig);
  note_estimated_states(imported.summary);
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
