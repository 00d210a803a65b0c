#include "service/messages/message_table.hpp"

namespace service {
namespace {

using enum estimator::MessageCode;

constexpr const char* kOutlierSentence =
    "encoder {encoder:?}: "
    "{count} of {readings} readings {count|deviates|deviate} from the {fitted|fitted motion|motion "
    "before and after}, by up to {largest}, {count|at|the first at} {first:6} s[, "
    "the last at {last:6} s]";
constexpr const char* kDirtyEncoder =
    "check for a loose connector, a dirty encoder {turns|disc|scale} or interference";
constexpr const char* kRejected = "{count|it is|they are} rejected";
constexpr const char* kSlipAdvice =
    "check for counts lost to interference or fast motion, and for a slipping coupling";
constexpr const char* kLostTimeSentence =
    "{lost} are missing at {time:6} s, although the time stamps have no gap: encoder {encoder:?} "
    "reads {size}[ ({counts:6} {counts|count|counts})] more than its motion explains, its speed "
    "is {before} before and {after} after{others_agree|, and the other encoders agree|}";
constexpr const char* kCutAdvice =
    "check the recording program for a buffer overflow, for changes of the clock, "
    "and for time stamps that count samples instead of measuring time";
constexpr const char* kCut = "the recording is cut there";

constexpr const char* kIdenticalSentence =
    "encoders {first:?} and {second:?} change by the same amount at every "
    "sample{are_opposite|, with opposite signs|}, although they read different joints";
constexpr const char* kIdenticalAdvice =
    "check that each encoder has its own column in the rig file";
constexpr const char* kInertialSentence =
    "the {instrument} of inertial sensor {sensor:?} contradicts the encoders: {errors}; with "
    "this correction, {percent:2} % of the variance of its readings is unexplained";

constexpr MessageRow kSignalRows[] = {
    {kOutliers, "outliers", kOutlierSentence, kDirtyEncoder, kRejected},
    {kNoiseTail, "outliers", kOutlierSentence,
     "no action is needed, unless there are more outliers than sensor noise explains", kRejected},
    {kManyOutliers, "outliers", kOutlierSentence,
     "check for a loose connector, a dirty encoder {turns|disc|scale} or interference; "
     "there are too many readings to be isolated outliers, so none is rejected: "
     "do not trust estimates from this recording"},
    {kEncoderSlip, "slip",
     "encoder {encoder:?} slips by {size}[ ({counts:6} {counts|count|counts})][, "
     "± {deviation:2},] at {time:6} s: afterwards it reads {more|more|less} by this amount",
     kSlipAdvice, "from this time on, the encoder's offset is a free parameter"},
    {kPossibleSlip, "slip",
     "encoder {encoder:?} may slip by {size}[ ({counts:6} {counts|count|counts})][, "
     "± {deviation:2},] at {time:6} s: the residuals are also compatible with no slip",
     kSlipAdvice, "from this time on, the encoder's offset is a free parameter"},
    {kLostTime, "lost-time", kLostTimeSentence, kCutAdvice, kCut},
    {kBreak, "break",
     "the motion is discontinuous at {time:6} s: "
     "encoder {encoder:?} reads {size}[ ({counts:6} {counts|count|counts})] more than its motion "
     "explains, its speed is {before} before and {after} after, "
     "which neither a slip nor lost time explains",
     "check the recording program for a buffer overflow, for changes of the clock, "
     "and for time stamps that count samples instead of measuring time; or mark this time in a "
     "segment column",
     kCut},
    {kJump, "jump",
     "encoder {encoder:?} reads {size}[ ({counts:6} {counts|count|counts})] more than its motion "
     "explains at {time:6} s: this is an encoder slip, or {lost} lost; "
     "its speed is {before} before and {after} after, too similar to distinguish the two",
     kCutAdvice,
     "the recording is cut there, and from this time on, the encoder's offset is a free parameter"},
    {kClippedReadings, "clipped",
     "encoder {encoder:?} is stuck at its {is_largest|largest|smallest} reading, {limit:5}, "
     "{plateaus} {plateaus|time|times} while the motion continues, the first at {first:6} s: "
     "{readings} readings",
     "find the cause of this limit: the sensor, its converter, or the recording program",
     "these readings are rejected"},
    {kDeadChannel, "dead-channel",
     "encoder {encoder:?} {is_empty|has no readings|never changes}[, "
     "although its joint cannot be in equilibrium at {position:4}: "
     "the load is {load}, and dry friction holds {friction}]{is_commanded|, "
     "although a motor is commanded|}[, although encoder {moving_encoder:?} does]",
     "check its connector and its column; "
     "if the joint is clamped, make it FIXED in the rig file, or hold out the encoder"},
    {kIdenticalChannels, "identical-channels", kIdenticalSentence, kIdenticalAdvice},
    {kIdenticalLoopChannels, "identical-channels", kIdenticalSentence, kIdenticalAdvice},
    {kConstantCommand, "constant-command", "the command of motor {motor:?} is {command} throughout",
     "{is_gain_wanted|estimating the motor's gain needs a command that changes: check the column, "
     "or record such a run|no action is needed if the motor was intended to be off}"},
    {kWrongQuantum, "quantum",
     "encoder {encoder:?}: readings change in steps of {quantum:5}, which means {counts:6} "
     "counts per {length}, but the rig file gives {described_counts:6}",
     "check whether counts are edges or lines (quadrature has four edges per line), "
     "and whether the recording was rounded"},
    {kReadingBeyondRange, "beyond-range",
     "encoder {encoder:?} reads {extreme:4}, "
     "outside the range of {lowest:4} to {highest:4} in the rig file ({rows} {rows|row|rows}, "
     "the first at {first:6} s)",
     "check unit, sign and zero of the column, or the limits in `safety`"},
    {kSpeedBeyondLimit, "too-fast",
     "encoder {encoder:?} moves at up to {extreme}, "
     "beyond the limit of {limit} in the rig file ({rows} {rows|row|rows}, "
     "the first at {first:6} s)",
     "check unit, counts and time stamps, or the limit in `safety`"},
    {kCommandBeyondLimit, "command-beyond-limit",
     "the command of motor {motor:?} reaches {extreme:4}, "
     "beyond the limit of {limit:4} in the rig file ({rows} {rows|row|rows}, "
     "the first at {first:6} s)",
     "check unit and `scale` of the column, or the limit; "
     "if the amplifier clips, record its output"},
    {kCommandAtLimit, "command-at-limit",
     "the command of motor {motor:?} is at its limit of {limit:4} in {rows} of {recorded_rows} "
     "rows, the first at {first:6} s",
     "no action is needed if the recorded command is the amplifier's output, not its input"},
    {kReadingBeyondStop, "beyond-stop",
     "encoder {encoder:?} reads up to {extreme} beyond the {is_lower|lower|upper} stop of its "
     "joint at {stop:4} ({rows} {rows|row|rows}, the first at {first:6} s)",
     "correct the stop's position in `stops`, or the encoder's sign, zero and whole turns; "
     "during these rows the estimated joint position is at the stop"},
    {kLimitBeyondStop, "limit-beyond-stop",
     "the {is_lower|smallest|largest} permitted position of joint {joint:?} in `safety`, "
     "{limit:4}, is beyond its {is_lower|lower|upper} end stop at {stop:4}: "
     "the joint hits the stop before it exceeds the limit",
     "set the limit inside the stop, or correct the stop's position in `stops`"},
    {kHeldRig, "held-rig",
     "the {joints|joint stands|joints stand} still {is_end|after|until} {time:6} s, "
     "at a position that is not an equilibrium (joint {joint:?} at {position}: "
     "the load is {load}, and dry friction holds {friction}): the rig is held by a hand or a clamp",
     "leave these rows out[ with {option} {limit:6}]; "
     "if the joint is not at this position, correct its encoder zero in the rig file"},
    {kRestIntervals, "rest",
     "encoder {encoder:?} is at rest in {percent:2} % of its readings, "
     "the first time from {first:4} s on: "
     "in each interval at rest, all readings have the same value and the same error",
     "{is_held|leave out the rows in which the rig is held (finding held-rig)|no action is needed}",
     "one reading per {interval:2} of each interval at rest is used, "
     "and {rejected} {rejected|reading is|readings are} rejected"},
    {kExactReadings, "exact-readings",
     "the readings have neither noise nor quantization, so they come from a simulation: the "
     "verdict on the model depends on the integration errors of this simulation",
     "simulate encoder readings with noise {{ quantize: true }} in the scenario; or use a "
     "smaller step or --integrator physical, whose errors are smaller"},
    {kRepeatedReadings, "repeated",
     "encoder {encoder:?} has a new reading every {rows:3} rows; "
     "the rows between repeat its latest reading",
     "no action is needed; rigcal uses each reading once",
     "{rejected} {rejected|repetition is|repetitions are} rejected"},
    {kUndescribedStop, "undescribed-stop",
     "encoder {encoder:?} stops or turns back at {value} {unit} within a sample, "
     "{impacts} times, at speeds up to {speed}, and never moves beyond this position: "
     "an end stop is missing in the rig file",
     "add stops {{ {is_upper|upper|lower} {{ value: {value} free: true }} restitution {{ value: "
     "{restitution} free: true }} }} to its joint; "
     "without this stop, every impact is modelled as friction"},
    {kWrongSensorUnit, "inertial-unit", kInertialSentence, "{corrections}"},
    {kWrongSensorAxes, "inertial-axes", kInertialSentence,
     "{corrections}, or correct the sensor's x_axis and y_axis"},
    {kInstrumentUnit, "instrument-unit", "it reads in {unit}"},
    {kSetColumnUnit, "set-column-unit", "set unit: {unit} for its columns"},
    {kWrongAxis, "wrong-axis", "the axis called {axis} is its {is_inverted|-|}{true_axis}"},
    {kAssignAxis, "assign-axis",
     "assign the column of {axis} to axis {is_inverted|-|}{true_axis}{is_inverted| (inverted: "
     "true)|}"},
    {kFixedLoop, "fixed-loop",
     "joint {joint:?} closes a loop in which no joint moves: "
     "its bodies are already fixed to one another",
     "remove the joint"},
    {kImmobileLoop, "immobile-loop",
     "joint {joint:?} closes a loop that cannot move: its joints have no degree of freedom left",
     "check axes and joint points, or remove a joint"},
    {kPrescribedLoop, "prescribed-loop",
     "the closed loops permit {is_determined|no motion besides the|only some of the} prescribed "
     "motions of the joints ({joints})",
     "remove motion: PRESCRIBED from joint {joint:?}, or from another joint of its loop"},
    {kOpenLoop, "open-loop",
     "joint {joint:?} leaves its loop [open by {distance}]{is_both| and |}[twisted by "
     "{twist}]{is_half_turn_off|closed only half a turn off|} in every tested configuration",
     "check lengths, joint points and axes"},
};

}  // namespace

std::span<const MessageRow> signal_message_rows() { return kSignalRows; }

}  // namespace service
