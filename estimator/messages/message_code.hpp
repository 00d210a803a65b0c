#pragma once

namespace estimator {

enum class Severity {
  kNote,     ///< for information only; the estimates are unaffected
  kWarning,  ///< estimates may be inaccurate
  kFault,    ///< estimates would be meaningless
};

/// What a finding, a note or a verdict reports. The sentences are in service/messages.
enum class MessageCode {
  kText,  ///< a sentence of the caller, as argument "text"

  kInRecording,  ///< "{recording}: {note}"

  // Signals, found before or after a fit.
  kOutliers,
  kNoiseTail,     ///< few outliers, within the tail of the noise
  kManyOutliers,  ///< too many to be isolated
  kEncoderSlip,
  kPossibleSlip,
  kLostTime,
  kInsertedRows,
  kBreak,
  kJump,
  kClippedReadings,
  kDeadChannel,
  kIdenticalChannels,
  kIdenticalLoopChannels,  ///< in a rig with loops, where two joints may move alike
  kConstantCommand,
  kWrongQuantum,
  kReadingBeyondRange,
  kSpeedBeyondLimit,
  kCommandBeyondLimit,
  kCommandAtLimit,
  kReadingBeyondStop,
  kRestIntervals,
  kUndescribedStop,
  kGapCommandStep,
  kWrongSensorUnit,
  kWrongSensorAxes,
  kInstrumentUnit,  ///< the errors of an inertial sensor and their corrections, as clauses
  kSetColumnUnit,
  kWrongAxis,
  kAssignAxis,

  // Loops that cannot move.
  kFixedLoop,     ///< its bodies are fixed to one another twice
  kImmobileLoop,  ///< its joints have no degree of freedom left
  kOpenLoop,      ///< it cannot be closed

  // Descriptions and motors.
  kInvertedEncoder,
  kZeroOffByHalfTurn,
  kShiftedZero,
  kDistantZero,  ///< a free zero is estimated far from its initial value
  kWrongUnit,
  kWrongAngleUnits,  ///< of all angles alike
  kOtherUnit,        ///< clause of the two above, like the next four
  kFourTimesTheCounts,
  kQuarterOfTheCounts,
  kTwiceTheCounts,
  kHalfOfTheCounts,
  kSwappedEncoders,
  kAbsoluteAngle,
  kAbsoluteAngles,  ///< all of them
  kRelativeAngle,
  kRelativeAngles,      ///< all of them
  kAngleWithoutParent,  ///< lacks the parent's angle, which it should include
  kInvertedMotor,
  kSwappedMotors,
  kWrongPointSign,
  kReversedGravity,
  kDescriptionError,  ///< one of the errors above, or several that fit equally well, as "causes"
  kUnexplainedMotion,
  kDescriptionNotChecked,

  // Causes of a misfit.
  kLateCommand,
  kEarlyCommand,
  kClippedCommand,
  kClippedAngle,
  kClockRate,
  kWrongLength,
  kNoRoomForInertia,  ///< a length that requires a negative moment of inertia
  kWrongGain,
  kMissingFriction,
  kMissingAirDrag,
  kFittedTerm,  ///< a missing parameter and its value
  kCreep,
  kCreepingJoint,  ///< one joint of kCreep and its transition velocity
  kMisfitCause,    ///< one of the causes above, as "causes", and how much it improves the fit
  kUnexplainedMisfit,
  kUntestedCauses,  ///< clause of the two above

  // Notes of a calibration.

  // Verdicts.
};

/// Number of codes; their values are 0 to kMessageCodeCount − 1.
inline constexpr int kMessageCodeCount = static_cast<int>(MessageCode::kOpenLoop) + 1;

/// Returns the severity of a message.
Severity severity_of(MessageCode code);

}  // namespace estimator
