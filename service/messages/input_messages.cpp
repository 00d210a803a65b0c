#include "service/messages/message_table.hpp"

namespace service {
namespace {

using enum estimator::MessageCode;

constexpr const char* kCorrectInertia = "correct the inertia, which refers to the centre of mass";

constexpr MessageRow kInputRows[] = {
    {kUnnamedElement, "unnamed-element", "a {kind} has no name"},
    {kNameInUse, "name-in-use", "{kind} {name:?}: this name is already used"},
    {kSensorWithoutBody, "sensor-without-body", "sensor {sensor:?} is attached to no body"},
    {kSensorWithoutJoint, "sensor-without-joint", "sensor {sensor:?} is attached to no joint"},
    {kNoBodies, "no-bodies", "the mechanism has no bodies"},
    {kMissingBody, "missing-body",
     "{is_fixed|fixed joint|joint} {joint:?}: refers to a body that does not exist"},
    {kSelfConnection, "self-connection",
     "{is_fixed|fixed joint|joint} {joint:?}: connects a body to itself"},
    {kInvalidJointFrame, "invalid-joint-frame",
     "{is_fixed|fixed joint|joint} {joint:?}: a joint frame is not a rotation"},
    {kInvalidCompliance, "invalid-compliance",
     "joint {joint:?}: compliances and damping time must be ≥ 0, the stick speed > 0"},
    {kNegativeControlNoise, "negative-control-noise",
     "joint {joint:?}: the noise of its control must be ≥ 0"},
    {kNegativeTransitionSpeed, "negative-transition-speed",
     "joint {joint:?}: the transition speed must be ≥ 0"},
    {kNegativeCoggingOrder, "negative-cogging-order",
     "joint {joint:?}: the order of the cogging torque must not be negative"},
    {kInfiniteGearRatio, "infinite-gear-ratio", "joint {joint:?}: the gear ratio must be finite"},
    {kPrismaticGearRatio, "prismatic-gear-ratio",
     "joint {joint:?} slides, but gear_ratio is supported only for joints that turn", "remove it"},
    {kMissingMimicJoint, "missing-mimic-joint",
     "a mimic joint, or the joint that it mimics, does not exist"},
    {kFollowsTwoJoints, "follows-two-joints", "joint {joint:?}: it can mimic only one joint"},
    {kInvalidMimicRatio, "invalid-mimic-ratio",
     "joint {joint:?}: its mimic ratio must be finite and not 0",
     "make a joint that does not move FIXED"},
    {kCircularMimicJoint, "circular-mimic-joint",
     "joint {joint:?}: it mimics itself through other joints"},
    {kLoadSensorInLoop, "load-sensor-in-loop",
     "sensor {sensor:?} measures the load of joint {joint:?}, "
     "but with closed loops, mimic joints or contacts the motion does not determine this load",
     "remove the sensor"},
    {kNonparallelAxes, "nonparallel-axes",
     "encoder {encoder:?}: "
     "the axes of {first:?} and {second:?} between its bodies are not parallel, "
     "so the angle between the bodies is undefined",
     "attach the encoder to a joint"},
    {kNoRelativeMotion, "no-relative-motion",
     "encoder {encoder:?}: its bodies do not move relative to each other",
     "give two bodies that move relative to each other"},
    {kEncoderAcrossCompoundJoint, "encoder-across-compound-joint",
     "encoder {encoder:?}: joint {joint:?} between its bodies turns about all axes, "
     "so the angle between the bodies is undefined",
     "give a section pose with the columns of the joint instead"},
    {kUndefinedParameter, "undefined-parameter", "parameter {parameter:?} is not a finite number"},
    {kReversedBounds, "reversed-bounds", "parameter {parameter:?}: lower bound above upper bound"},
    {kOutsideBounds, "outside-bounds",
     "parameter {parameter:?}: value {value:6} lies outside its bounds [[{lower:6}, {upper:6}]]"},
    {kPriorDeviation, "prior-deviation",
     "parameter {parameter:?}: the prior's standard deviation must be positive"},
    {kPriorMean, "prior-mean", "parameter {parameter:?}: the prior's mean is not finite"},
    {kNegativeRestFriction, "negative-rest-friction",
     "parameter {excess:?}: "
     "dry friction would drive the joint at rest, since {kinetic} + {excess} is below zero",
     "raise one of these two values"},
    {kStopsInLoop, "stops-in-loop",
     "joint {joint:?} has end stops, "
     "which are not supported with closed loops, mimic joints or contacts",
     "remove its stops"},
    {kReversedStops, "reversed-stops",
     "parameter {parameter:?}: the lower stop must be below the upper one",
     "exchange or move them"},
    {kUnconnectedBody, "unconnected-body",
     "body {body:?} is not connected to the ground by any joint"},
    {kMasslessLeaf, "massless-leaf", "body {body:?} is massless and carries no other body",
     "give it a mass, or attach a body to it"},
    {kIndefiniteInertia, "indefinite-inertia",
     "body {body:?}: "
     "the inertia matrix is not positive definite (smallest principal moment {moment})",
     kCorrectInertia},
    {kTriangleInequality, "triangle-inequality",
     "body {body:?}: the inertia violates the triangle inequality: the largest principal moment "
     "exceeds the sum of the two others, so no body of positive density has such an inertia[; "
     "{fixed} in the rig file may be wrong]",
     kCorrectInertia},

    {kShortSegment, "short-segment",
     "a segment of {samples} {samples|sample|samples} is too short and was ignored"},
    {kCollinearLinks, "collinear-links",
     "links are nearly collinear at {time:5} s[, the first of {count} times]; "
     "joint {joint:?}, which no sensor measures, "
     "continues there along the branch with the smoother motion"},
    {kUnmatchedPattern, "unmatched-pattern",
     "body {body:?} is present only in recordings named {pattern:?}, but no given recording has "
     "such a name"},
    {kUnusedSensors, "unused-sensors",
     "sensors other than encoders are not used for shadow parameters (of a SPOOK simulator); "
     "request physical parameters to use them"},
    {kSeparateMoments, "separate-moments",
     "body {body:?}: its moments of inertia are estimated separately, because {reason}. The "
     "result may be physically inconsistent; a note then reports this"},
    {kDependentMoment, "dependent-moment", "{parameter} is dependent"},
    {kFixedMoment, "fixed-moment", "{parameter} is fixed at a nonzero value"},
    {kBoundedMoment, "bounded-moment", "{parameter} has its own bounds"},
    {kFixedProduct, "fixed-product", "one product of inertia is fixed"},
};

}  // namespace

std::span<const MessageRow> input_message_rows() { return kInputRows; }

}  // namespace service
