#include "service/messages/message_table.hpp"

namespace service {
namespace {

using enum estimator::MessageCode;

constexpr MessageRow kDescriptionRows[] = {
    {kInvertedEncoder, "inverted-encoder", "the encoder of joint {joint:?} is inverted",
     "change `inverted` in the column (or the encoder) of joint {joint:?}"},
    {kZeroOffByHalfTurn, "zero-upside-down",
     "the zero of the encoder of joint {joint:?} is off by half a turn",
     "add 3.14159 to `offset_rad` in the column (or the encoder) of joint {joint:?}, "
     "or reverse its `zero_direction`"},
    {kShiftedZero, "shifted-zero", "the zero of the encoder of joint {joint:?} is off[ by {size}]",
     "add the difference to `offset_rad` in the column (or the encoder) of joint {joint:?}, "
     "or estimate the offset: `encoder {{ offset {{ value: 0 free: true }} }}`"},
    {kDistantZero, "shifted-zero",
     "the zero of the encoder of joint {joint:?} differs by {half_turn|half a turn|}[{size}] "
     "from the initial value of its free offset",
     "no action is needed if the offset is free on purpose; "
     "otherwise correct `zero_direction` of joint {joint:?}, or set `offset_rad` in its column",
     "the estimated offset is used as the initial value"},
    {kWrongUnit, "wrong-unit", "the {turns|angle|position} of joint {joint:?} {error}",
     "change `unit` (or counts) of joint {joint:?}: multiply readings by {factor:5}"},
    {kWrongAngleUnits, "wrong-unit", "every angle {error}",
     "change `unit` of the angle columns: multiply readings by {factor:5}"},
    {kOtherUnit, "other-unit", "is in {recorded}, not in {described}"},
    {kFourTimesTheCounts, "four-times-the-counts",
     "has four times as many counts per {turns|turn (edges counted, lines given)|metre}"},
    {kQuarterOfTheCounts, "quarter-of-the-counts",
     "has a quarter of the counts per {turns|turn (lines counted, edges given)|metre}"},
    {kTwiceTheCounts, "twice-the-counts", "has twice as many counts per {turns|turn|metre}"},
    {kHalfOfTheCounts, "half-of-the-counts", "has half of the counts per {turns|turn|metre}"},
    {kSwappedEncoders, "swapped-encoders",
     "the encoders of joints {first:?} and {second:?} are swapped",
     "swap `column` (or the order of the encoders) of joints {first:?} and {second:?}"},
    {kAbsoluteAngle, "absolute-angle",
     "the angle of joint {channel:?} is absolute, "
     "but described as relative to the angle of joint {parent:?}",
     "subtract the angle of joint {parent:?} in the recording, "
     "or describe an encoder between the ground and the body"},
    {kAbsoluteAngles, "absolute-angle",
     "every angle is absolute, but described as relative to the preceding body",
     "describe encoders between the ground and the bodies, "
     "or subtract the angle of the preceding body from each angle in the recording"},
    {kRelativeAngle, "relative-angle",
     "the angle of encoder {channel:?} is relative to the angle of joint {parent:?}, "
     "but described as absolute",
     "describe the angle with an encoder of the joint itself, "
     "or add the angle of joint {parent:?} in the recording"},
    {kRelativeAngles, "relative-angle",
     "every angle is relative to the preceding body, but described as absolute",
     "describe each angle with an encoder of the joint itself, "
     "not with an encoder between the ground and the body"},
    {kAngleWithoutParent, "relative-angle",
     "the angle of joint {channel:?} does not include the angle of joint {parent:?}",
     "add the angle of joint {parent:?} in the recording"},
    {kInvertedMotor, "inverted-motor", "the motor of joint {joint:?} is inverted",
     "give the control column of joint {joint:?} the opposite `scale`, "
     "or its motor a `gain` of the opposite sign"},
    {kSwappedMotors, "swapped-motors", "the motors of joints {first:?} and {second:?} are swapped",
     "swap the control columns of joints {first:?} and {second:?}"},
    {kWrongPointSign, "wrong-point-sign",
     "the position of joint {joint:?} on body {body:?} has the wrong sign in {axis}",
     "set `{on_child|child|parent} {{ point {{ {axis} }} }}` of joint {joint:?} to {value:6} "
     "(the position is measured from the body's frame to the joint)"},
    {kReversedGravity, "gravity-upside-down", "gravity points along world +y",
     "world y points up: rotate axes and zero directions on the ground accordingly"},
    {kMisplacedStop, "misplaced-stop",
     "the {is_lower|lower|upper} end stop of joint {joint:?} is not at {given:4}[ but at "
     "{size:4}]",
     "{is_free|a better initial value is useful: "
     "|}correct `{is_lower|lower|upper}` in `stops` of joint {joint:?}{is_free||, "
     "or estimate the position: set `free: true` in it}",
     "its estimate starts at {start:4}"},
    {kDescriptionError, "description-error",
     "{causes:, or }: with the given rig file, {unexplained:2} of the accelerations are "
     "unexplained; with the correction, {left:2}"},
    {kUnexplainedMotion, "unexplained",
     "the rig file explains the recordings poorly ({share:2} of the accelerations are "
     "unexplained). None of the usual errors is the cause: inverted, shifted, swapped or wrongly "
     "scaled encoders; inverted or swapped motors; signs of joint points; gravity",
     "check axes, zero directions, joint points and columns; {has_fixed_gain|if the commands are "
     "motor currents, or if gears increase the effect of the rotor inertias, estimate gains and "
     "shaft inertias with --free '*.K' --free '*.J_shaft'; |}if a stepper motor or a position "
     "controller moves a joint, write motion: PRESCRIBED in it; use a recording in which one "
     "joint moves at a time"},
    {kDescriptionNotChecked, "not-checked",
     "in {share:2} of the examined rows, joint {joint:?} turns by more than {angle} within "
     "{time}, so the rig file was not checked against the motion",
     "record at a higher rate if the time between two rows is this long, "
     "or record a slower motion"},
};

}  // namespace

std::span<const MessageRow> description_message_rows() { return kDescriptionRows; }

}  // namespace service
