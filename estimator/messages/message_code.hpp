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

  // Errors of a mechanism. The first argument, if any, is the name of the element.
  kUnnamedElement,
  kNameInUse,
  kSensorWithoutBody,
  kSensorWithoutJoint,
  kNoBodies,
  kMissingBody,  ///< of a joint
  kSelfConnection,
  kInvalidJointFrame,
  kInvalidCompliance,  ///< or damping time or stick speed
  kNegativeControlNoise,
  kNegativeTransitionSpeed,
  kInfiniteGearRatio,
  kPrismaticGearRatio,
  kMissingMimicJoint,  ///< or the joint that it follows
  kFollowsTwoJoints,
  kInvalidMimicRatio,
  kCircularMimicJoint,
  kLoadSensorInLoop,
  kNonparallelAxes,   ///< between the bodies of an encoder
  kNoRelativeMotion,  ///< of the bodies of an encoder
  kUndefinedParameter,
  kReversedBounds,
  kOutsideBounds,
  kPriorDeviation,  ///< is not positive
  kPriorMean,       ///< is not finite
  kNegativeRestFriction,
  kStopsInLoop,
  kReversedStops,
  kUnconnectedBody,
  kMasslessLeaf,
  kIndefiniteInertia,
  kTriangleInequality,

  // Notes on the input of a fit.
  kShortSegment,
  kCollinearLinks,    ///< in a singular configuration of a loop
  kUnmatchedPattern,  ///< of Body::present_in_recordings
  kUnusedSensors,
  kSeparateMoments,  ///< of inertia are estimated, for one of the following reasons
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
  kInsertedRows,
  kBreak,
  kJump,

  // Descriptions and motors.

  // Causes of a misfit.

  // Notes of a calibration.

  // Verdicts.
};

/// Returns the severity of a message.
Severity severity_of(MessageCode code);

}  // namespace estimator
