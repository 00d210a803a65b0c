#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace estimator {

enum class Severity {
  kNote,     ///< information only; the estimates are unaffected
  kWarning,  ///< estimates may be inaccurate
  kFault,    ///< estimates would be meaningless
};

/// The subject of a finding, a note or a verdict. The sentences are in service/messages.
enum class MessageCode {
  kText,  ///< a sentence of the caller, as argument "text"

  kInRecording,  ///< "{recording}: {note}"

  // Errors of a mechanism. The first argument, if any, is the name of the element.
  kUnnamedElement,
  kNameInUse,
  kSensorWithoutBody,
  kSensorWithoutJoint,
  kNoBodies,
  kMissingBody,  ///< a joint refers to a missing body
  kSelfConnection,
  kInvalidJointFrame,
  kInvalidCompliance,  ///< invalid compliance, damping time or stick speed
  kNegativeControlNoise,
  kNegativeTransitionSpeed,
  kNegativeCoggingOrder,
  kInfiniteGearRatio,
  kPrismaticGearRatio,
  kMissingMimicJoint,  ///< the mimic joint or its leading joint is missing
  kFollowsTwoJoints,
  kInvalidMimicRatio,
  kCircularMimicJoint,
  kLoadSensorInLoop,
  kNonparallelAxes,   ///< nonparallel axes between an encoder's bodies
  kNoRelativeMotion,  ///< the bodies of an encoder do not move relative to each other
  kEncoderAcrossCompoundJoint,
  kUndefinedParameter,
  kReversedBounds,
  kOutsideBounds,
  kPriorDeviation,  ///< the standard deviation is not positive
  kPriorMean,       ///< the mean is not finite
  kNegativeRestFriction,
  kStopsInLoop,
  kReversedStops,
  kUnconnectedBody,
  kMasslessLeaf,
  kIndefiniteInertia,
  kTriangleInequality,

  // Notes on the input of a fit.
  kShortSegment,
  kCollinearLinks,    ///< a loop is near a singular configuration
  kUnmatchedPattern,  ///< a pattern of Body::present_in_recordings matches no recording
  kUnusedSensors,
  kSeparateMoments,  ///< moments of inertia estimated one by one; reasons: the next four
  kDependentMoment,
  kFixedMoment,
  kBoundedMoment,
  kFixedProduct,

  // Signals, found before or after a fit.
  kOutliers,
  kNoiseTail,     ///< few outliers, within the tail of the noise
  kManyOutliers,  ///< too many to be isolated
  kEncoderSlip,
  kPossibleSlip,
  kLostTime,
  kBreak,
  kJump,
  kClippedReadings,
  kDeadChannel,
  kIdenticalChannels,
  kIdenticalLoopChannels,  ///< the same in a rig with loops, where two joints may move alike
  kConstantCommand,
  kWrongQuantum,
  kReadingBeyondRange,
  kSpeedBeyondLimit,
  kCommandBeyondLimit,
  kCommandAtLimit,
  kReadingBeyondStop,
  kLimitBeyondStop,  ///< a safety limit that a joint cannot reach
  kHeldRig,          ///< a hand holds the rig at the start or the end of a segment
  kRestIntervals,
  kExactReadings,
  kRepeatedReadings,
  kUndescribedStop,
  kWrongSensorUnit,
  kWrongSensorAxes,
  kInstrumentUnit,  ///< the errors of an inertial sensor and their corrections, as clauses
  kSetColumnUnit,
  kWrongAxis,
  kAssignAxis,

  // Loops that cannot move.
  kFixedLoop,       ///< its bodies are fixed to one another twice
  kImmobileLoop,    ///< its joints have no degree of freedom left
  kPrescribedLoop,  ///< prescribed motions determine or contradict the motion of its joints
  kOpenLoop,        ///< it cannot be closed

  // Descriptions and motors.
  kInvertedEncoder,
  kZeroOffByHalfTurn,
  kShiftedZero,
  kDistantZero,  ///< a free zero is estimated far from its initial value
  kWrongUnit,
  kWrongAngleUnits,  ///< all angles have the same wrong unit
  kOtherUnit,        ///< this and the next four: clauses of the two above
  kFourTimesTheCounts,
  kQuarterOfTheCounts,
  kTwiceTheCounts,
  kHalfOfTheCounts,
  kSwappedEncoders,
  kAbsoluteAngle,
  kAbsoluteAngles,  ///< all angles are absolute
  kRelativeAngle,
  kRelativeAngles,      ///< all angles are relative
  kAngleWithoutParent,  ///< an angle lacks the parent's angle, which it should include
  kInvertedMotor,
  kSwappedMotors,
  kWrongPointSign,
  kReversedGravity,
  kMisplacedStop,
  kDescriptionError,  ///< one of the errors above, or several that fit equally well, as "causes"
  kUnexplainedMotion,
  kDescriptionNotChecked,

  // Causes of a misfit.
  kLateCommand,
  kEarlyCommand,
  kClippedCommand,
  kClippedAngle,
  kClockRate,
  kEccentricDiscs,  ///< periodic errors of encoders, as "terms"
  kEccentricDisc,   ///< one encoder of kEccentricDiscs
  kTilt,            ///< tilt of the rig against gravity, as "terms"
  kWrongLength,
  kNoRoomForInertia,  ///< a length that requires a negative moment of inertia
  kWrongGain,
  kWrongInertia,            ///< fixed moments of inertia with wrong values, as "terms"
  kInertiaFactor,           ///< one body of kWrongInertia
  kWrongInertialParameter,  ///< a mass, shaft inertia or centre of mass
  kMissingFriction,
  kMissingAirDrag,
  kFrictionDrift,  ///< friction that changes during a recording, as "terms"
  kGainDrift,      ///< a motor gain that changes during a recording, as "terms"
  kGainSag,        ///< a motor gain that falls with the control, as "terms"
  kCogging,        ///< a cogging torque, as "terms"
  kCoggingTerm,    ///< one motor of kCogging
  kVibration,      ///< vibration of the ground, as "terms"
  kFittedTerm,     ///< a missing parameter and its value
  kCreep,
  kCreepingJoint,  ///< one joint of kCreep and its transition velocity
  kMisfitCause,    ///< one of the causes above, as "causes", and how much it improves the fit
  kUnexplainedMisfit,
  kUntestedCauses,  ///< clause of kMisfitCause and kUnexplainedMisfit

  // Notes of a calibration.
  kLoadedLoop,              ///< friction in a loop permits only parameters of a simulator
  kParameterWithoutEffect,  ///< the parameter was fixed
  kUnphysicalEstimate,
  kUnreproducedMotion,  ///< the simulation leaves a part of a joint's motion unexplained
  kMotionShare,         ///< the unexplained part, in percent
  kMultipleOfMotion,    ///< the unexplained part, if it is much larger than the motion
  kPriorConflict,
  kContradiction,           ///< a fixed parameter that the readings contradict
  kMissingCrossAxis,        ///< a cross-axis sensitivity that the rig file lacks
  kProcessNoise,            ///< accelerations that the model does not explain
  kInflatedForCorrelation,  ///< standard deviations inflated because residuals are correlated
  kUnresolvedSteps,         ///< integration steps in which stick and slip alternate too fast
  kSimulationDiverged,      ///< the fit of the simulation diverged
  kUnpredictableMotion,     ///< the simulation was not fitted
  kUnpredictableSpookMotion,
  kUnidentifiableStates,
  kLinearRegression,  ///< the estimates come from a regression; lists omitted parameters
  kAtBound,           ///< a parameter, and one of the following clauses as "optimum"
  kUnidentifiableAtBound,
  kOptimumBeyondBound,
  kIntervalAtBound,  ///< clause: how far inside the bound the parameter may be
  kChangedEstimate,  ///< resulting change of another estimate
  kProfileInterval,
  kAtFeasibilityBoundary,  ///< an inertia is at this boundary
  kInconsistentInertia,    ///< inconsistent for any value of the free moments
  kNearestInertia,         ///< an inconsistent inertia and the nearest consistent one
  kParameterValue,         ///< a clause: a parameter and its value
  kHeldOutSensor,          ///< with one of the next three clauses as "gain"
  kNoGain,                 ///< clause: using the sensor would not make estimates more precise
  kGainedParameter,        ///< clause: only the sensor identifies the parameter
  kGain,
  kPointAlongAxis,  ///< position of an inertial sensor along its body's rotation axis
  kGyroscopeScale,  ///< not identifiable without an encoder
  kBiasOrTilt,
  kOnlyDelayDifferences,  ///< only differences of delays are identifiable
  kHeading,               ///< an angle about gravity that no encoder measures

  // Directions in parameter space that are not identifiable.
  kFixedDirection,        ///< a parameter without effect
  kUnidentifiable,        ///< a parameter
  kUnidentifiableChange,  ///< a common change of parameters
  kParameterChange,       ///< a clause: the change of one parameter

  // Verdicts.
  kModelAccepted,  ///< this and the following four: verdicts with their "reasons"
  kModelDoubtful,
  kModelApproximate,  ///< the model is approximate; with the relative error
  kModelRejected,
  kNoFit,
  kMotionError,  ///< this and the next five: clauses about the relative error
  kPredictedMotionError,
  kTorqueError,
  kTorqueNoise,
  kReadingNoise,
  kAccelerationError,
  kResidualsMatchNoise,  ///< this and all that follow: reasons
  kPredictionsMatchNoise,
  kUnexplainedShare,   ///< unexplained share of the motion
  kUnexplainedTorque,  ///< share of the torque that inverse dynamics leaves
  kExcessTorqueErrors,
  kExcessPredictionErrors,  ///< prediction errors of readings over a short horizon
  kSegmentsDisagree,
  kExcessResiduals,  ///< residuals relative to the sensor noise
  kCorrelatedResiduals,
  kUnexplainedAccelerations,
  kTraceOfAccelerations,  ///< a small part of the accelerations is unexplained
  kCrossAxisSensitivity,
  kContradictedValue,
};

/// Number of message codes. Their values are 0 to kMessageCodeCount − 1.
inline constexpr int kMessageCodeCount = static_cast<int>(MessageCode::kContradictedValue) + 1;

/// Returns the severity of a message.
Severity severity_of(MessageCode code);

/// A physical quantity: value, unit and standard deviation (NaN if unknown).
struct Quantity {
  double value = 0.0;
  std::string unit = {};
  double deviation = std::numeric_limits<double>::quiet_NaN();

  bool operator==(const Quantity& other) const {
    return value == other.value && unit == other.unit &&
           (deviation == other.deviation || (std::isnan(deviation) && std::isnan(other.deviation)));
  }
};

struct Message;

/// A named value that is inserted into the text of a message. Names of sensors, joints and
/// parameters are strings, counts are integers, and clauses of a sentence are lists of messages.
struct Argument {
  using Value = std::variant<std::string, int, double, bool, Quantity, std::vector<std::string>,
                             std::vector<Message>>;

  std::string name;
  Value value;

  bool operator==(const Argument&) const;
};

/// A finding, a note, a verdict or a clause of these: a code and named values. service/messages
/// makes sentences from messages.
struct Message {
  MessageCode code = MessageCode::kText;
  std::vector<Argument> arguments = {};

  Message() = default;
  Message(MessageCode of, std::vector<Argument> with = {}) : code(of), arguments(std::move(with)) {}

  /// Creates a message whose text is given by the caller.
  Message(std::string text) : arguments{{"text", std::move(text)}} {}
  Message(const char* text) : Message(std::string(text)) {}

  /// Returns the value of the argument with a given name, or nullptr.
  const Argument::Value* find(const std::string& name) const;

  bool operator==(const Message&) const;
};

/// Adds the name of a recording to a note about this recording.
Message add_recording_name(const std::string& recording, Message note);

/// Returns the severity of a message. A note about one recording (kInRecording) has the severity of
/// its inner note.
Severity severity_of(const Message& message);

}  // namespace estimator
