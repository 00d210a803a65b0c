#include "service/messages/message_table.hpp"

namespace service {
namespace {

using enum estimator::MessageCode;

constexpr const char* kOutlierSentence =
    "encoder \"{encoder}\": {count} of {readings} readings {count|deviates|deviate} from the "
    "{fitted|fitted motion|motion before and after}, by up to {largest}, "
    "{count|at|the first at} {first:6} s[, the last at {last:6} s]";
constexpr const char* kDirtyEncoder =
    "check for a loose connector, a dirty encoder {turns|disc|scale} or interference";
constexpr const char* kRejected = "{count|it is|they are} rejected";
constexpr const char* kSlipAdvice =
    "check for counts lost to interference or fast motion, and for a slipping coupling";
constexpr const char* kLostTimeSentence =
    "{lost} are missing at {time:6} s, which the time stamps do not show: encoder \"{encoder}\" reads "
    "{size}[ ({counts:6} {counts|count|counts})] more than its motion explains, its speed is {before} "
    "before and {after} after{others_agree|, and the other encoders agree|}";
constexpr const char* kCutAdvice =
    "check the recording program: a buffer overflow, a clock that was set, samples counted instead "
    "of timed";
constexpr const char* kCut = "the recording is cut there";

constexpr MessageRow kRows[] = {
    {kOutliers, "outliers", kOutlierSentence, kDirtyEncoder, kRejected},
    {kNoiseTail, "outliers", kOutlierSentence,
     "nothing, unless there are more of them than noise explains", kRejected},
    {kManyOutliers, "outliers", kOutlierSentence,
     "check for a loose connector, a dirty encoder {turns|disc|scale} or interference; there are "
     "too many to be isolated outliers, so they are used: do not trust estimates from this "
     "recording"},
    {kEncoderSlip, "slip",
     "encoder \"{encoder}\" slips by {size}[ ({counts:6} {counts|count|counts})]"
     "[, ± {deviation:2},] at {time:6} s: it reads this much {more|more|less} from then on",
     kSlipAdvice, "its offset is a free parameter from then on"},
    {kPossibleSlip, "slip",
     "encoder \"{encoder}\" may slip by {size}[ ({counts:6} {counts|count|counts})]"
     "[, ± {deviation:2},] at {time:6} s: the residuals are also compatible with no slip",
     kSlipAdvice, "its offset is a free parameter from then on"},
    {kLostTime, "lost-time",
     kLostTimeSentence,
     kCutAdvice, kCut},
    {kInsertedRows, "lost-time",
     kLostTimeSentence,
     kCutAdvice,
     "{rows} {rows|row|rows} without readings {rows|is|are} inserted there, and all later rows are "
     "delayed accordingly"},
    {kBreak, "break",
     "the motion is discontinuous at {time:6} s: encoder \"{encoder}\" reads {size}"
     "[ ({counts:6} {counts|count|counts})] more than its motion explains, its speed is {before} "
     "before and {after} after, which neither a slip nor lost time explains",
     "check the recording program: a buffer overflow, a clock that was set, samples counted instead "
     "of timed; or mark this time in a segment column",
     kCut},
    {kJump, "jump",
     "encoder \"{encoder}\" reads {size}[ ({counts:6} {counts|count|counts})] more than its motion "
     "explains at {time:6} s: an encoder slip, or {lost} lost; its speed is {before} before and "
     "{after} after, too similar to distinguish the two",
     kCutAdvice,
     "the recording is cut there, and the encoder's offset is a free parameter from then on"},
};

}  // namespace

std::span<const MessageRow> signal_messages() { return kRows; }

}  // namespace service
