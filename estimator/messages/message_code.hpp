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
  kDeadChannel,

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

/// Returns the severity of a message.
Severity severity_of(MessageCode code);

}  // namespace estimator
