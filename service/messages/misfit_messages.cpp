#include "service/messages/message_table.hpp"

namespace service {
namespace {

using enum estimator::MessageCode;

constexpr const char* kMeasureAgain = "measure it again, or estimate it";

constexpr MessageRow kMisfitRows[] = {
    {kLateCommand, "late-command",
     "the command of motor {motor:?} acts {delay} later than recorded",
     "estimate the delay: `motor {{ input_delay {{ value: {input_delay} free: true }} }}`"},
    {kEarlyCommand, "early-command",
     "the command of motor {motor:?} acts {delay} earlier than recorded",
     "the time stamps of the commands are later than the time stamps of angles that were measured "
     "at the same time: shift the control column by this difference"},
    {kClippedCommand, "clipped-command",
     "the command of motor {motor:?} is clipped at {level}, but recorded up to {largest}",
     "record the amplifier's output, limit the command to its range, "
     "or remove the parts of the recording beyond this range"},
    {kClippedAngle, "clipped-angle",
     "encoder {encoder:?} saturates at {level:4}: {count} readings stay there",
     "remove these rows, or mark their readings as missing"},
    {kClockRate, "clock-rate",
     "the clock of the time stamps is {error} too {fast|fast|slow} (rate {rate})",
     "compare the sampling rate with another clock; if the rate is wrong, multiply the times by "
     "{factor:5}"},
    {kEccentricDiscs, "eccentric-disc",
     "readings deviate periodically, as with an eccentric encoder disc: {terms:, }",
     "centre the disc on the shaft, use an encoder with two reading heads, or estimate the error: "
     "`encoder {{ first_harmonic {{ sine {{ value: 0 free: true }} cosine {{ value: 0 free: true "
     "}} }} }}`, or second_harmonic"},
    {kEccentricDisc, "disc-error",
     "encoder {encoder:?} by up to {size}, {is_twice|twice|once} per turn"},
    {kTilt, "tilt", "the rig is tilted against gravity: {terms:, }",
     "level the rig, or estimate the tilt: "
     "`gravity {{ tilt_x {{ value: 0 free: true }} tilt_z {{ value: 0 free: true }} }}`"},
    {kWrongLength, "wrong-length", "{parameter} is {value} instead of {given:4}", kMeasureAgain},
    {kNoRoomForInertia, "wrong-length",
     "the distance {parameter} = {given:4} is too long for a positive inertia: with {inertia} at "
     "its lower bound, the readings fit a distance of {value}, and with a larger inertia a "
     "shorter distance",
     kMeasureAgain},
    {kWrongGain, "wrong-gain", "{parameter} is {estimate} instead of {given:4}",
     "estimate the gain: `motor {{ gain {{ value: {value} free: true }} }}`"},
    {kWrongInertia, "wrong-inertia", "fixed moments of inertia are wrong: {terms:, }",
     "check their unit, and that they are about the centre of mass, or estimate them"},
    {kInertiaFactor, "inertia-factor", "body {body:?}: {factor} times the values in the rig file"},
    {kWrongInertialParameter, "wrong-inertial-parameter",
     "{parameter} is {value} instead of {given:4}", kMeasureAgain},
    {kMissingFriction, "friction-law",
     "friction has terms that are missing in the rig file: {terms:, }",
     "estimate these terms, too, in `friction {{ }}` of the joint; `rigcal compare` shows which "
     "terms improve the predictions"},
    {kMissingAirDrag, "air-drag", "air drag is missing in the rig file: {terms:, }",
     "estimate the drag: `air_drag {{ coefficient {{ value: ... free: true }} }}` of the body"},
    {kFrictionDrift, "friction-drift",
     "friction changes during the recording, such as by warming up: {terms:, }",
     "run the rig until it is warm before recording, or estimate the change: "
     "`friction {{ drift {{ value: 0 free: true }} }}`"},
    {kGainDrift, "gain-drift",
     "the gain of the motor changes during the recording, such as by a discharging battery: "
     "{terms:, }",
     "use a regulated supply, or estimate the change: "
     "`motor {{ gain_drift {{ value: 0 free: true }} }}`"},
    {kGainSag, "gain-sag",
     "the gain of the motor falls with its command, such as by a supply that sags under load: "
     "{terms:, }",
     "use a stronger supply, or estimate the effect: "
     "`motor {{ gain_sag {{ value: 0 free: true }} }}`"},
    {kCogging, "cogging", "the motor has a cogging torque: {terms:, }",
     "estimate the torque: `motor {{ cogging {{ order: ... sine {{ value: 0 free: true }} "
     "cosine {{ value: 0 free: true }} }} }}`"},
    {kCoggingTerm, "cogging-term",
     "motor {motor:?} by up to {size}, {order} periods per turn (sine {sine:3}, cosine "
     "{cosine:3})"},
    {kVibration, "vibration", "the ground vibrates: {terms:, }",
     "isolate the rig from the vibration, or estimate it: `vibration {{ frequency {{ value: ... "
     "free: true }} x_sine {{ value: 0 free: true }} ... }}`"},
    {kFittedTerm, "fitted-term", "{parameter} {value}"},
    {kCreep, "creep", "with dry friction, joints creep instead of sticking: {joints:, }",
     "set `friction {{ transition_speed: ... }}` of these joints; "
     "the friction of simulators and of greased bearings lets joints creep"},
    {kCreepingJoint, "creeping-joint", "{joint:?} at about {speed}"},
    {kMisfitCause, "misfit-cause",
     "{causes}; "
     "with this correction, errors of encoder {encoder:?} over windows of {window} s decrease "
     "from {before:2} to {after:2}[; an equally likely cause: {alternatives:, or }][; {untested}]"},
    {kUnexplainedMisfit, "misfit",
     "errors of encoder {encoder:?} over windows of {window} s are {error:2}, "
     "{ratio:2} times the noise of its readings; "
     "none of the tested causes explains them (delay, clock, clipping, lengths, gains, inertias, "
     "tilt, encoder discs, end stops, friction, creep, air drag, drifts, supply, cogging, "
     "vibration)"
     "[; {untested}]",
     "use the confidence intervals that include the scatter between segments"},
    {kUntestedCauses, "untested-causes",
     "some causes were not tested, "
     "because the tests would take too long for this mechanism and motion"},
};

}  // namespace

std::span<const MessageRow> misfit_message_rows() { return kMisfitRows; }

}  // namespace service
