#include "estimator/messages/message.hpp"

#include <algorithm>
#include <utility>

namespace estimator {

Severity severity_of(MessageCode code) {
  using enum MessageCode;
  if (code >= kUnnamedElement && code <= kTriangleInequality) return Severity::kFault;
  switch (code) {
    case kOutliers:
    case kManyOutliers:
    case kEncoderSlip:
    case kLostTime:
    case kBreak:
    case kJump:
    case kDeadChannel:
    case kDistantZero:
    case kUnexplainedMotion:
    case kLateCommand:
    case kEarlyCommand:
    case kClippedCommand:
    case kClippedAngle:
    case kClockRate:
    case kWrongLength:
    case kNoRoomForInertia:
    case kWrongGain:
    case kMissingFriction:
    case kMissingAirDrag:
    case kCreep:
    case kMisfitCause:
    case kClippedReadings:
    case kIdenticalLoopChannels:
    case kReadingBeyondRange:
    case kSpeedBeyondLimit:
    case kCommandBeyondLimit:
    case kReadingBeyondStop:
    case kUndescribedStop:
    case kLoadedLoop:
    case kParameterWithoutEffect:
    case kUnphysicalEstimate:
    case kUnreproducedMotion:
    case kPriorConflict:
      return Severity::kWarning;
    case kInvertedEncoder:
    case kZeroOffByHalfTurn:
    case kShiftedZero:
    case kWrongUnit:
    case kWrongAngleUnits:
    case kSwappedEncoders:
    case kAbsoluteAngle:
    case kAbsoluteAngles:
    case kRelativeAngle:
    case kRelativeAngles:
    case kAngleWithoutParent:
    case kInvertedMotor:
    case kSwappedMotors:
    case kWrongPointSign:
    case kReversedGravity:
    case kDescriptionError:
    case kIdenticalChannels:
    case kWrongSensorUnit:
    case kWrongSensorAxes:
    case kFixedLoop:
    case kImmobileLoop:
    case kOpenLoop:
      return Severity::kFault;
    default:
      return Severity::kNote;
  }
}

const Argument::Value* Message::find(const std::string& name) const {
  const auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? nullptr : &found->value;
}

bool Message::operator==(const Message& other) const {
  return code == other.code &&
         std::ranges::equal(arguments, other.arguments, [](const Argument& a, const Argument& b) {
           return a.name == b.name && a.value == b.value;
         });
}

Message in_recording(const std::string& recording, Message note) {
  return {MessageCode::kInRecording,
          {{"recording", recording}, {"note", std::vector<Message>{std::move(note)}}}};
}

Severity severity_of(const Message& message) {
  if (message.code != MessageCode::kInRecording) return severity_of(message.code);
  return severity_of(std::get<std::vector<Message>>(*message.find("note")).front().code);
}

}  // namespace estimator
