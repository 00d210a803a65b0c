#include "estimator/messages/message.hpp"

#include <algorithm>
#include <iterator>

namespace estimator {

Severity severity_of(MessageCode code) {
  using enum MessageCode;
  if (code >= kUnnamedElement && code <= kTriangleInequality) return Severity::kFault;
  static constexpr MessageCode kFaults[] = {
      kInvertedEncoder,    kZeroOffByHalfTurn, kShiftedZero,     kWrongUnit,       kWrongAngleUnits,
      kSwappedEncoders,    kAbsoluteAngle,     kAbsoluteAngles,  kRelativeAngle,   kRelativeAngles,
      kAngleWithoutParent, kInvertedMotor,     kSwappedMotors,   kWrongPointSign,  kReversedGravity,
      kMisplacedStop,      kDescriptionError,  kIdenticalChannels, kWrongSensorUnit,
      kWrongSensorAxes,    kFixedLoop,         kImmobileLoop,    kOpenLoop,        kPrescribedLoop};
  static constexpr MessageCode kWarnings[] = {kOutliers,
                                              kManyOutliers,
                                              kBreak,
                                              kEncoderSlip,
                                              kLostTime,
                                              kJump,
                                              kClippedReadings,
                                              kDeadChannel,
                                              kIdenticalLoopChannels,
                                              kReadingBeyondRange,
                                              kSpeedBeyondLimit,
                                              kCommandBeyondLimit,
                                              kReadingBeyondStop,
                                              kLimitBeyondStop,
                                              kUndescribedStop,
                                              kDistantZero,
                                              kHeldRig,
                                              kExactReadings,
                                              kUnexplainedMotion,
                                              kLateCommand,
                                              kEarlyCommand,
                                              kClippedCommand,
                                              kClippedAngle,
                                              kClockRate,
                                              kEccentricDiscs,
                                              kTilt,
                                              kWrongLength,
                                              kNoRoomForInertia,
                                              kWrongGain,
                                              kWrongInertia,
                                              kWrongInertialParameter,
                                              kMissingFriction,
                                              kMissingAirDrag,
                                              kCreep,
                                              kFrictionDrift,
                                              kGainDrift,
                                              kGainSag,
                                              kCogging,
                                              kVibration,
                                              kMisfitCause,
                                              kLoadedLoop,
                                              kParameterWithoutEffect,
                                              kUnphysicalEstimate,
                                              kUnreproducedMotion,
                                              kPriorConflict};
  if (std::ranges::find(kFaults, code) != std::end(kFaults)) return Severity::kFault;
  if (std::ranges::find(kWarnings, code) != std::end(kWarnings)) return Severity::kWarning;
  return Severity::kNote;
}

const Argument::Value* Message::find(const std::string& name) const {
  const auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? nullptr : &found->value;
}

bool Argument::operator==(const Argument& other) const {
  return name == other.name && value == other.value;
}

bool Message::operator==(const Message& other) const {
  return code == other.code && arguments == other.arguments;
}

Message add_recording_name(const std::string& recording, Message note) {
  return {MessageCode::kInRecording,
          {{"recording", recording}, {"note", std::vector<Message>{std::move(note)}}}};
}

Severity severity_of(const Message& message) {
  if (message.code != MessageCode::kInRecording) return severity_of(message.code);
  return severity_of(std::get<std::vector<Message>>(*message.find("note")).front().code);
}

}  // namespace estimator
