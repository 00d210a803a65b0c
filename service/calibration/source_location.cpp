#include "service/calibration/source_location.hpp"

#include <algorithm>
#include <string>

#include "estimator/model/encoder.hpp"
#include "service/messages/message_text.hpp"

namespace service {

using estimator::MessageCode;

namespace {

/// Returns whether an error in the rig file, rather than in the recording, can cause a finding.
bool is_about_the_file(MessageCode code) {
  using enum MessageCode;
  switch (code) {
    case kOutliers:
    case kNoiseTail:
    case kManyOutliers:
    case kEncoderSlip:
    case kPossibleSlip:
    case kLostTime:
    case kBreak:
    case kJump:
    case kClippedReadings:
      return false;
    default:
      return true;
  }
}

/// Returns whether the channel of a finding is a motor.
bool is_of_motor(const estimator::Message& message) {
  using enum MessageCode;
  switch (message.code) {
    case kConstantCommand:
    case kCommandBeyondLimit:
    case kCommandAtLimit:
    case kInvertedMotor:
    case kSwappedMotors:
    case kLateCommand:
    case kEarlyCommand:
    case kClippedCommand:
      return true;
    case kDescriptionError:
    case kMisfitCause:
      return is_of_motor(
          std::get<std::vector<estimator::Message>>(*message.find("causes")).front());
    default:
      return false;
  }
}

std::string place_of(const Rig& rig, const estimator::Finding& finding) {
  const std::vector<estimator::Encoder> sensors = estimator::all_encoders(rig.mechanism);
  if (finding.message.code == MessageCode::kWrongQuantum) {
    const auto sensor = std::ranges::find(sensors, finding.channel, &estimator::Encoder::name);
    if (sensor == sensors.end()) return "";
    return rig.encoders[static_cast<std::size_t>(sensor - sensors.begin())].place;
  }
  if (!rig.format) return "";
  if (is_of_motor(finding.message)) {
    const auto& columns = rig.format->controls;
    const auto column = std::ranges::find(columns, finding.channel, &ControlColumn::joint);
    return column == columns.end() ? "" : column->place;
  }
  const auto& columns = rig.format->angles;
  const auto column = std::ranges::find(columns, finding.channel, &EncoderColumn::joint);
  return column == columns.end() ? "" : column->place;
}

}  // namespace

estimator::SensorDescription sensor_facts(const Rig& rig) {
  estimator::SensorDescription facts;
  const std::vector<estimator::Encoder> sensors = estimator::all_encoders(rig.mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (std::ranges::count(rig.mechanism.held_out, sensors[i].name) > 0) continue;
    facts.quantum.push_back(rig.encoders[i].count);
    facts.limits.push_back(rig.encoders[i].limits);
  }
  for (std::size_t j = 0; j < rig.mechanism.joints.size(); ++j) {
    if (!rig.mechanism.joints[j].motorised) continue;
    const JointFacts& motor = rig.joint_facts[j];
    const double stated = motor.safety ? motor.safety->command_max : 0.0;
    facts.command_limit.push_back(stated > 0.0 ? stated : motor.control_max);
  }
  return facts;
}

void add_source_locations(const Rig& rig, std::vector<estimator::Finding>& findings) {
  for (estimator::Finding& finding : findings) {
    if (finding.channel.empty() || !is_about_the_file(finding.message.code)) continue;
    finding.place = place_of(rig, finding);
  }
}

}  // namespace service
