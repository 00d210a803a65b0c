#include "daq/safety/safety_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "firmware_iface/wire/fault.h"
#include "proto/notation/number_format.hpp"

namespace daq {
namespace {

struct CauseText {
  TripCause cause;
  std::string_view name;
  const char* quantity;
  const char* unit;
  const char* unit_of_slide = unit;
};

constexpr CauseText kCauses[] = {
    {TripCause::kNone, "none", "", ""},
    {TripCause::kAngle, "angle", "angle", "rad", "m"},
    {TripCause::kSpeed, "speed", "speed", "rad/s", "m/s"},
    {TripCause::kEncoderJump, "encoder jump", "change between two samples", "rad", "m"},
    {TripCause::kMissingChannel, "missing channel", "time without a valid angle", "s"},
    {TripCause::kStaleSample, "stale sample", "time between two samples", "s"},
    {TripCause::kCommandNotFinite, "command not finite", "command", ""},
    {TripCause::kUnitTripped, "unit tripped", "fault flags of the unit", ""},
    {TripCause::kClearRefused, "clear refused", "remaining fault flags of the unit", ""},
    {TripCause::kUnitRestarted, "unit restarted", "time since its last good sample", "s"},
    {TripCause::kLinkLost, "link lost", "time without a sample", "s"},
    {TripCause::kPortClosed, "port closed", "time since the last sample", "s"},
    {TripCause::kInertialMissing, "inertial sensor missing", "time without a reading", "s"},
    {TripCause::kInertialStuck, "inertial sensor stuck", "time in motion without a change", "s"},
    {TripCause::kInertialSaturated, "inertial sensor saturated",
     "time at the end of its measuring range", "s"},
    {TripCause::kHostPaused, "host paused", "pause of this computer", "s"},
    {TripCause::kRecordingStalled, "recording stalled", "time without storing data", "s"},
    {TripCause::kRingFull, "ring full", "samples waiting to be recorded", ""},
    {TripCause::kStall, "stall", "driving time without an encoder count", "s"},
    {TripCause::kFrozenEncoder, "frozen encoder", "time without an encoder count", "s"},
    {TripCause::kNoResponse, "no response", "motion of the driven joint", "rad", "m"},
    {TripCause::kLateEncoder, "late encoder", "motion of another joint", "counts"},
    {TripCause::kWrongDirection, "wrong direction", "motion against the command", "rad", "m"},
    {TripCause::kCountStep, "count step", "single step of the counts", "rad", "m"},
    {TripCause::kReversal, "reversal", "sudden change of speed against the motor", "rad/s", "m/s"},
    {TripCause::kRepeatedCounts, "repeated counts", "repeated motion to and fro", "counts"},
    {TripCause::kCreep, "creep", "speed at rest", "rad/s", "m/s"},
    {TripCause::kGrowingSwings, "growing swings", "ratio of successive swings", ""},
    {TripCause::kCommandMismatch, "command mismatch", "output that the unit reports", ""},
    {TripCause::kStaleCommand, "stale command", "age of the command in effect", "s"},
    {TripCause::kFaultMismatch, "fault mismatch", "fault flags of the unit", ""},
    {TripCause::kSampleAge, "sample age", "age of a sample", "s"},
    {TripCause::kUnitClock, "unit clock", "rate error of the unit's clock", "%"},
};

const CauseText& text_of(TripCause cause) { return kCauses[static_cast<std::size_t>(cause)]; }

}  // namespace

std::string describe_fault_flags(unsigned flags) {
  constexpr std::pair<unsigned, const char*> kFlags[] = {
      {FAULT_BOOT, "not unlocked since the unit started"},
      {FAULT_TTL, "no new command before the last one expired"},
      {FAULT_SESSION, "a new session was started while driving"},
      {FAULT_COMMAND, "a command with an invalid time to live"},
      {FAULT_HOST, "tripped by the host"},
      {FAULT_AMPLIFIER, "fault of the power stage"},
      {FAULT_INTERNAL, "internal fault"}};
  std::vector<const char*> causes;
  for (const auto& [bit, meaning] : kFlags) {
    if ((flags & bit) != 0) causes.push_back(meaning);
  }
  return fmt::format("{}", fmt::join(causes, ", "));
}

namespace {

constexpr const char* kHowToAllowPauses =
    "Close other programs and run rigcal-daq latency, "
    "or raise unit { ttl_ms } and safety { staleness_ms_max }";

std::string at_time(const Trip& trip) { return fmt::format(", at t = {:.3f} s", trip.time_s); }

std::string number_or_nan(double value, int digits) {
  return std::isnan(value) ? "NaN" : notation::format_number(value, digits);
}

std::string milliseconds(double seconds) { return number_or_nan(1e3 * seconds, 5); }

std::string figure(double value, const std::string& unit) {
  return number_or_nan(value, 4) + (unit.empty() ? "" : " " + unit);
}

std::string describe_unit_trip(const Trip& trip) {
  const auto flags = static_cast<unsigned>(trip.value);
  const bool has_tripped = trip.cause == TripCause::kUnitTripped;
  const std::string causes = describe_fault_flags(flags);
  std::string text =
      fmt::format("the unit {}: {} (fault flags 0x{:02x}){}",
                  has_tripped ? "switched off" : "cannot be unlocked",
                  causes.empty() ? "it does not respond" : causes, flags, at_time(trip));
  if (has_tripped && (flags & FAULT_TTL) != 0) {
    text += fmt::format(". In the second before the trip, this computer paused for up to {} ms. {}",
                        milliseconds(trip.pause_s), kHowToAllowPauses);
  }
  return text;
}

/// Describes a trip caused by this computer, and the remedy; empty for any other cause.
std::string describe_host_trip(const Trip& trip) {
  const std::string off = at_time(trip) + "; motor off. ";
  const std::string value = milliseconds(trip.value), limit = milliseconds(trip.limit);
  switch (trip.cause) {
    case TripCause::kHostPaused:
      return fmt::format("this computer paused for {} ms, {} ms allowed{}{}", value, limit, off,
                         kHowToAllowPauses);
    case TripCause::kRingFull:
      return fmt::format(
          "{} samples are waiting to be recorded, and the buffer is full{}The disk is too slow, "
          "or something keeps this program from writing",
          notation::format_number(trip.limit), off);
    case TripCause::kRecordingStalled:
      return fmt::format(
          "no data were stored for {} ms, {} ms allowed{}The disk hangs or is too slow; "
          "record to another disk",
          value, limit, off);
    default:
      return {};
  }
}

/// Describes a failed check of a joint's motion, and the remedy; empty for any other cause.
std::string describe_motion_trip(const Trip& trip, const std::string& unit) {
  const std::string value = figure(trip.value, unit);
  const std::string at = ", allowed " + figure(trip.limit, unit) + at_time(trip) + ". ";
  switch (trip.cause) {
    case TripCause::kStall:
      return "its encoder did not count, or a few counts to and fro, while its motor pushed, "
             "equivalent to the stall command for " +
             value + at +
             "Check the encoder and its cable, whether the joint is blocked, "
             "and the motor's supply. "
             "If such commands need not move the joint, raise safety { stall { command } }";
    case TripCause::kFrozenEncoder:
      return "its encoder stopped counting during a motion, for " + value + at +
             "Check the encoder and its cable. "
             "If the joint hit an end stop, add the stop in stops { }";
    case TripCause::kNoResponse:
      return "its encoder did not count while the driven joint moved " + value + at +
             "Check the encoder and its cable, and whether the joint is clamped. "
             "If the motors do not move it, write may_stand_still: true in safety { joint { } }";
    case TripCause::kLateEncoder:
      return "its encoder did not count while its motor set another joint in motion, by " + value +
             at + "Check the encoder and its cable, counts_per_turn, and the order of the channels";
    case TripCause::kWrongDirection:
      return "it moved " + value + " against its motor" + at +
             "Check the field \"inverted\" of its channel, "
             "the order of the channels and the motor's wiring: "
             "turn each joint by hand in rigcal-daq monitor, or run rigcal-daq commission";
    case TripCause::kCountStep:
      return "its encoder jumped by " + value + " between two samples, unlike before and after" +
             at + "Check the encoder and its cable";
    case TripCause::kReversal:
      return "its speed changed by " + value + " at once, against its motor" + at +
             "Check the encoder and its cable, and whether the joint hit something. "
             "If it hit an end stop, add the stop in stops { }";
    case TripCause::kRepeatedCounts:
      return "its encoder repeated a motion to and fro exactly, along a path longer than its "
             "extent by " +
             value + at + "No joint moves like that. Check the unit and its firmware";
    case TripCause::kCreep:
      return "it keeps moving at " + value + " although nothing is driven" + at_time(trip) +
             ". Bring it to rest. "
             "If rigcal-daq monitor shows motion at rest, check the encoder and its cable";
    case TripCause::kGrowingSwings:
      return "its swings grow although nothing is driven: the last was " + value +
             " times the largest before" + at +
             "Switch off the supply. Check the power stage and the encoder";
    default:
      return {};
  }
}

std::string describe_sample_age(const Trip& trip) {
  const bool is_early = trip.value < 0.0;
  return fmt::format(
      "a sample arrived {} {}, allowed {}{}. {}", figure(std::abs(trip.value), "s"),
      is_early ? "before its time stamp" : "after it was taken", figure(trip.limit, "s"),
      at_time(trip),
      is_early ? "The unit's clock jumped ahead; check the unit"
               : "Samples are delayed on the way, or this computer was busy. "
                 "Check the line, hubs and adapters, or raise safety { staleness_ms_max }");
}

std::string describe_clock_trip(const Trip& trip) {
  const std::string allowed = figure(trip.limit, "%") + at_time(trip);
  if (std::isnan(trip.value)) {
    return fmt::format(
        "the rate of the unit's clock cannot be determined to {}. "
        "Its samples arrive too irregularly; check the line, hubs and adapters",
        allowed);
  }
  return fmt::format(
      "the unit's clock is {} by {}, allowed {}. Speeds and times have the same relative error. "
      "Check the unit's tick rate, and whether the line delays samples increasingly",
      trip.value < 0.0 ? "slow" : "fast", figure(std::abs(trip.value), "%"), allowed);
}

/// Describes a failed check of the unit's reports, and the remedy; empty for any other cause.
std::string describe_report_trip(const Trip& trip) {
  const char* const kFaulty =
      ". The unit or its firmware is faulty; test it with rigcal-daq conformance";
  switch (trip.cause) {
    case TripCause::kCommandMismatch:
      return (trip.value == trip.limit
                  ? "the unit reports the output that was sent, " + figure(trip.value, "") +
                        ", but with a status or a command number that contradicts it"
                  : fmt::format("the unit reports an output of {} where {} was sent",
                                figure(trip.value, ""), figure(trip.limit, ""))) +
             at_time(trip) + kFaulty;
    case TripCause::kFaultMismatch:
      return fmt::format(
          "the unit's status and its fault flags, 0x{:02x}, contradict each other{}{}",
          static_cast<unsigned>(trip.value), at_time(trip), kFaulty);
    case TripCause::kStaleCommand:
      return fmt::format(
          "the command in effect is {} old, allowed {}{}. "
          "Commands are delayed on the way to the unit, or arrive too late. "
          "Check the line, hubs and adapters",
          figure(trip.value, "s"), figure(trip.limit, "s"), at_time(trip));
    case TripCause::kSampleAge:
      return describe_sample_age(trip);
    case TripCause::kUnitClock:
      return describe_clock_trip(trip);
    default:
      return {};
  }
}

std::string describe_end_of_stream(const Trip& trip) {
  return fmt::format("the {} {} s after the last sample{}",
                     trip.cause == TripCause::kPortClosed
                         ? "port closed (cable pulled, adapter or unit switched off?)"
                         : "sample stream is broken (the unit restarted, "
                           "or its clock or sample numbers jumped)",
                     notation::format_number(trip.value, 3), at_time(trip));
}

}  // namespace

std::string_view to_string(TripCause cause) { return text_of(cause).name; }

std::string_view trip_unit(TripCause cause, bool slides) {
  return slides ? text_of(cause).unit_of_slide : text_of(cause).unit;
}

bool concerns_joint(TripCause cause) {
  return cause == TripCause::kAngle || cause == TripCause::kSpeed ||
         cause == TripCause::kEncoderJump || cause == TripCause::kMissingChannel ||
         (cause >= TripCause::kStall && cause <= TripCause::kGrowingSwings);
}

bool concerns_motor(TripCause cause) {
  return cause == TripCause::kCommandNotFinite || cause == TripCause::kCommandMismatch;
}

bool concerns_inertial_sensor(TripCause cause) {
  return cause == TripCause::kInertialMissing || cause == TripCause::kInertialStuck ||
         cause == TripCause::kInertialSaturated;
}

TripCause to_trip_cause(InertialFault fault) {
  constexpr TripCause kInertialCauses[kInertialFaultCount] = {
      TripCause::kInertialMissing, TripCause::kInertialStuck, TripCause::kInertialSaturated};
  return kInertialCauses[static_cast<std::size_t>(fault)];
}

std::string find_trip_subject(const Trip& trip, const SafetyLimits& limits) {
  if (concerns_joint(trip.cause) && trip.joint < limits.joint.size()) {
    return limits.joint[trip.joint].joint;
  }
  if (concerns_motor(trip.cause) && trip.joint < limits.motor.size()) {
    return limits.motor[trip.joint].joint;
  }
  if (concerns_inertial_sensor(trip.cause) && trip.joint < limits.inertial.size()) {
    return limits.inertial[trip.joint].sensor;
  }
  return {};
}

std::string describe_trip(const Trip& trip, const SafetyLimits& limits) {
  if (trip.cause == TripCause::kNone) return "no trip";
  if (trip.cause == TripCause::kUnitTripped || trip.cause == TripCause::kClearRefused) {
    return describe_unit_trip(trip);
  }
  if (trip.cause == TripCause::kPortClosed || trip.cause == TripCause::kUnitRestarted) {
    return describe_end_of_stream(trip);
  }
  if (const std::string text = describe_host_trip(trip); !text.empty()) return text;
  const bool named = concerns_joint(trip.cause) && trip.joint < limits.joint.size();
  const bool slides = named && limits.joint[trip.joint].slides;
  const bool is_position = slides && trip.cause == TripCause::kAngle;
  const char* quantity = is_position ? "position" : text_of(trip.cause).quantity;
  const std::string unit(trip_unit(trip.cause, slides));
  const auto exact = [&](double value) {
    return number_or_nan(value, 6) + (unit.empty() ? "" : " " + unit);
  };
  std::string place = find_trip_subject(trip, limits);
  if (!place.empty()) place += ": ";
  std::string text = describe_motion_trip(trip, unit);
  if (text.empty()) text = describe_report_trip(trip);
  if (!text.empty()) return place + text;
  const bool is_of_encoder =
      trip.cause == TripCause::kEncoderJump || trip.cause == TripCause::kMissingChannel;
  const bool is_of_line =
      trip.cause == TripCause::kLinkLost || trip.cause == TripCause::kStaleSample;
  const char* remedy = is_of_encoder ? ". Check the encoder and its cable"
                       : is_of_line  ? ". Check the line, its adapters and the unit's supply"
                       : concerns_inertial_sensor(trip.cause) ? ". Check the sensor and its cable"
                                                              : "";
  return fmt::format("{}{} {}, allowed {}{}{}", place, quantity, exact(trip.value),
                     exact(trip.limit), at_time(trip), remedy);
}

std::string describe_start_remedy(const Trip& trip, const SafetyLimits& limits) {
  if (trip.cause != TripCause::kAngle || trip.joint >= limits.joint.size()) return "";
  const JointLimits& joint = limits.joint[trip.joint];
  const std::string lower = notation::format_number(joint.angle_rad_min);
  const std::string upper = notation::format_number(joint.angle_rad_max);
  const std::string value = notation::format_number(trip.value);
  constexpr const char* kAgain =
      "and switch the unit off and on, because its encoders count from the power-on position.";
  if (joint.slides) {
    return fmt::format(
        "The motor stayed off: joint \"{}\" is at {} m. "
        "Move it by hand to a position between {} and {} m, "
        "or move the rig to its start position {}",
        joint.joint, value, lower, upper, kAgain);
  }
  return fmt::format(
      "The motor stayed off: joint \"{}\" is at {} rad ({} turns). "
      "Turn it by hand to an angle between {} and {} rad, or bring the rig to rest {}",
      joint.joint, value, notation::format_number(trip.value / (2.0 * std::numbers::pi), 3), lower,
      upper, kAgain);
}

}  // namespace daq
