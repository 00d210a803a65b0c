#include "daq/commission/commissioning.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"

namespace daq {
namespace {

using Kind = Finding::FindingKind;

std::string encoder_name(std::size_t encoder) { return "Encoder " + std::to_string(encoder); }
std::string number(double value, int digits = 3) { return notation::format_number(value, digits); }

std::string signed_counts(double counts) {
  const auto whole = std::llround(counts);
  return (whole > 0 ? "+" : "") + std::to_string(whole);
}

const char* scale_field(const ChannelConfig& channel) {
  return channel.slides ? "counts_per_m" : "counts_per_turn";
}

std::string position_text(double value, bool slides) {
  return slides ? number(1e3 * value) + " mm" : number(value) + " rad";
}

// Advice for an encoder whose counts are wrong by a usual factor.
std::string advise_factor(const ChannelConfig& channel, double factor) {
  const std::string likely =
      scale_field(channel) + std::string(": ") + number(channel.counts_per_turn * factor, 7);
  const std::string times = number(factor > 1.0 ? factor : 1.0 / factor) + " times too " +
                            (factor > 1.0 ? "many" : "few");
  std::string cause;
  if (factor == 4.0)
    cause = " The rig file probably gives lines; a decoder counts 4 edges per line.";
  if (factor == 0.25) cause = " The unit probably counts only one of four encoder edges.";
  return times + "." + cause + " Write encoder { " + likely +
         " } if this matches the encoder's data sheet, or correct the unit's decoder.";
}

}  // namespace

std::string quote_name(const std::string& name) { return "\"" + name + "\""; }

std::size_t count_faults(const Findings& findings) {
  return static_cast<std::size_t>(std::ranges::count(findings, Kind::kFault, &Finding::kind));
}

Commissioning::Commissioning(RigConfig rig, const firmware_iface::UnitDescription& facts,
                             const std::vector<std::string>& names)
    : rig_(std::move(rig)), facts_(facts) {
  for (const std::string& name : names) {
    if (rig_.find_channel(name) >= 0) continue;
    std::string known;
    for (const ChannelConfig& channel : rig_.channel) known += " " + quote_name(channel.joint);
    throw proto::InputError("--joint " + name + ": " + rig_.path +
                            " has no channel of that name; use one of" + known);
  }
  for (std::size_t k = 0; k < rig_.channel.size(); ++k) {
    const ChannelConfig& channel = rig_.channel[k];
    if (!names.empty() && std::ranges::find(names, channel.joint) == names.end()) continue;
    joints_.push_back({.name = channel.joint,
                       .encoder = k,
                       .inverted = channel.inverted,
                       .offset = channel.offset_rad});
  }
  for (std::size_t m = 0; m < rig_.motor.size(); ++m) {
    const MotorConfig& motor = rig_.motor[m];
    const int channel = rig_.find_channel(motor.joint);
    if (channel < 0 ||
        std::ranges::find(joints_, motor.joint, &CheckedJoint::name) == joints_.end()) {
      continue;
    }
    motors_.push_back({.joint = motor.joint,
                       .command_unit = motor.command_unit,
                       .command_max = rig_.limits.motor[m].command_max,
                       .index = m,
                       .channel = static_cast<std::size_t>(channel)});
  }
}

const ChannelConfig& Commissioning::joint_channel(const CheckedJoint& joint) const {
  return rig_.channel[static_cast<std::size_t>(rig_.find_channel(joint.name))];
}

const JointLimits& Commissioning::joint_limits(std::size_t joint) const {
  return rig_.limits.joint[static_cast<std::size_t>(rig_.find_channel(joints_[joint].name))];
}

Findings Commissioning::find_limits_beyond_stops() const {
  Findings findings;
  const auto add = [&](const JointLimits& limits, const char* bound, double limit, double stop) {
    findings.push_back({Kind::kNote, std::string(limits.slides ? "position_m_" : "angle_rad_") +
                                         bound + " of joint " + quote_name(limits.joint) + ", " +
                                         number(limit, 4) + ", is beyond its end stop at " +
                                         number(stop, 4) +
                                         ": the joint hits the stop before the limit ends a run. "
                                         "Set the limit inside the stop; "
                                         "a tighter limit keeps the commissioning valid."});
  };
  for (const CheckedJoint& joint : joints_) {
    const auto channel = static_cast<std::size_t>(rig_.find_channel(joint.name));
    const JointLimits& limits = rig_.limits.joint[channel];
    const JointDrive& drive = rig_.limits.motion[channel];
    if (limits.angle_rad_min < drive.stop_rad_min) {
      add(limits, "min", limits.angle_rad_min, drive.stop_rad_min);
    }
    if (limits.angle_rad_max > drive.stop_rad_max) {
      add(limits, "max", limits.angle_rad_max, drive.stop_rad_max);
    }
  }
  return findings;
}

Findings Commissioning::add_rest_recording(const EncoderRecorder& watch) {
  Findings findings;
  for (CheckedJoint& joint : joints_) {
    const auto channel = static_cast<std::size_t>(rig_.find_channel(joint.name));
    const EncoderCounts track = watch.track(channel);
    const RestVerdict verdict = assess_rest(track);
    joint.is_still_at_rest = verdict == RestVerdict::kStill;
    const std::string of = encoder_name(channel) + " of joint " + quote_name(joint.name);
    switch (verdict) {
      case RestVerdict::kStill:
        break;
      case RestVerdict::kMoves:
        findings.push_back(
            {Kind::kFault, of + " counted back and forth by " + std::to_string(track.span()) +
                               " counts. Wait until the joint is at rest and repeat; "
                               "if it was at rest, check the encoder's cable and shield."});
        break;
      case RestVerdict::kDrifts:
        findings.push_back(
            {Kind::kFault,
             of + " drifts by " + signed_counts(track.total_change() / watch.duration_s()) +
                 " counts per second. Wait until the joint is at rest and repeat; "
                 "if it was at rest, check the encoder's supply, ground and shield."});
        break;
      case RestVerdict::kMissing:
        findings.push_back({Kind::kFault, of + " sends no valid reading. Check its supply, cable "
                                               "or wireless receiver."});
        break;
    }
  }
  if (findings.empty()) {
    findings.push_back({Kind::kGood, joints_.size() == 1 ? "The encoder does not count at rest."
                                                         : "No encoder counts at rest."});
  }
  return findings;
}

Findings Commissioning::add_hand_motion(std::size_t index, const HandMotion& motion,
                                        const EncoderRecorder& watch) {
  CheckedJoint& joint = joints_[index];
  const ChannelConfig& channel = joint_channel(joint);
  const auto own = static_cast<std::size_t>(rig_.find_channel(joint.name));
  std::vector<EncoderCounts> tracks;
  for (int e = 0; e < watch.encoder_count(); ++e) {
    tracks.push_back(watch.track(static_cast<std::size_t>(e)));
  }
  const double expected = motion.amount * channel.counts_per_turn;
  const HandMotionResult turn = assess_hand_motion(tracks, own, expected, motion.tolerance);

  joint.encoder = turn.encoder;
  joint.count_ratio = turn.counts / expected;
  joint.is_encoder_known = false;
  joint.is_scale_confirmed = false;
  Findings findings;
  const std::string counted = encoder_name(turn.encoder) + " counted " +
                              signed_counts(turn.counts) + " for " + motion.words + ", " +
                              number(expected, 6) + " expected";
  const std::string is_right = ": " + std::string(scale_field(channel)) + " " +
                               number(channel.counts_per_turn, 7) + " is right.";
  switch (turn.verdict) {
    case HandMotionVerdict::kRight:
      joint.is_encoder_known = joint.is_scale_confirmed = true;
      findings.push_back({Kind::kGood, counted + is_right});
      break;
    case HandMotionVerdict::kOtherEncoder: {
      joint.is_encoder_known = true;
      joint.is_scale_confirmed =
          std::abs(std::log(std::abs(joint.count_ratio))) <= std::log(motion.tolerance);
      findings.push_back({joint.is_scale_confirmed ? Kind::kNote : Kind::kFault,
                          counted + ", but the rig file lists it for joint " +
                              quote_name(rig_.channel[turn.encoder].joint) + ". " +
                              encoder_name(own) + " counted " +
                              signed_counts(tracks[own].total_change()) + "."});
      break;
    }
    case HandMotionVerdict::kFactor:
      joint.is_encoder_known = true;
      findings.push_back({Kind::kFault, counted + ": " + advise_factor(channel, turn.factor)});
      break;
    case HandMotionVerdict::kUncertain:
      joint.is_encoder_known = true;
      findings.push_back(
          {Kind::kFault, counted + ". Repeat the motion; if the result is the same, " +
                             scale_field(channel) + " is about " +
                             number(std::abs(joint.count_ratio) * channel.counts_per_turn, 2) +
                             "."});
      break;
    case HandMotionVerdict::kTwoEncoders:
      findings.push_back(
          {Kind::kFault, "Encoders " + std::to_string(own) + " and " + std::to_string(turn.other) +
                             " both counted. Hold the other joints still and repeat the step."});
      break;
    case HandMotionVerdict::kNothing: {
      std::string text = encoder_name(own) +
                         " did not count. "
                         "If the joint was moved, check the encoder's supply, "
                         "its cable and the unit's input " +
                         std::to_string(own) + ".";
      if (const double other = turn.other == own ? 0.0 : tracks[turn.other].total_change();
          std::abs(other) >= 0.01 * expected) {
        text += " (" + encoder_name(turn.other) + " counted " + signed_counts(other) + ".)";
      }
      findings.push_back({Kind::kFault, text});
      break;
    }
  }
  const std::int64_t jump =
      find_count_jump(tracks[turn.encoder], channel.slides ? 0.0 : channel.counts_per_turn);
  if (jump != 0) {
    joint.is_scale_confirmed = false;
    const std::uint32_t modulus = guess_counter_modulus(jump);
    findings.push_back(
        {Kind::kFault,
         encoder_name(turn.encoder) + " jumped by " + signed_counts(static_cast<double>(jump)) +
             " from one sample to the next. " +
             (modulus != 0
                  ? "It seems to wrap at " + std::to_string(modulus) +
                        ", but the unit reports another modulus: "
                        "correct the firmware's description."
                  : "Check its cable and the plugs that may loosen when the joint moves.")});
  }
  if (!joint.is_encoder_known) return findings;
  joint.inverted = turn.counts < 0.0;
  const std::string counts_way = joint.inverted ? "down" : "up";
  const bool is_new = joint.inverted != channel.inverted;
  findings.push_back(
      {is_new ? Kind::kChange : Kind::kGood,
       "It counts " + counts_way + " in the positive direction: " +
           (is_new ? std::string("inverted becomes ") + (joint.inverted ? "true." : "false.")
                   : "the sign is right.")});
  return findings;
}

Findings Commissioning::assign_encoders() {
  Findings findings;
  std::vector<std::string> owner(rig_.channel.size());  // joint of each encoder
  for (const CheckedJoint& joint : joints_) {
    if (!joint.is_encoder_known) continue;
    if (!owner[joint.encoder].empty()) {
      findings.push_back({Kind::kFault, encoder_name(joint.encoder) + " counted for joint " +
                                            quote_name(owner[joint.encoder]) + " and for joint " +
                                            quote_name(joint.name) +
                                            ". Check the encoders' cables."});
    }
    owner[joint.encoder] = joint.name;
  }
  // Joints that were not checked, or did not count, keep their own encoder unless it was assigned.
  for (std::size_t e = 0; e < owner.size(); ++e) {
    const std::string& listed = rig_.channel[e].joint;
    if (owner[e].empty() && std::ranges::find(owner, listed) == owner.end()) owner[e] = listed;
  }
  const auto listed = [&](std::size_t e) { return rig_.channel[e].joint; };
  bool is_same = true;
  for (std::size_t e = 0; e < owner.size(); ++e) is_same = is_same && owner[e] == listed(e);
  const bool covers_all_joints = std::ranges::find(owner, std::string()) == owner.end();
  if (is_same && findings.empty()) return findings;
  if (!covers_all_joints || !findings.empty()) {
    if (findings.empty()) {
      findings.push_back({Kind::kFault,
                          "The encoders of the other joints are not known. "
                          "Commission all joints, without --joint."});
    }
    for (CheckedJoint& joint : joints_)
      joint.is_scale_confirmed = joint.is_scale_confirmed && findings.empty();
    return findings;
  }
  std::vector<ChannelConfig> channels;
  std::vector<JointLimits> limits;
  std::vector<JointDrive> motion;
  std::string order;
  for (const std::string& name : owner) {
    const auto from = static_cast<std::size_t>(rig_.find_channel(name));
    channels.push_back(rig_.channel[from]);
    limits.push_back(rig_.limits.joint[from]);
    motion.push_back(rig_.limits.motion[from]);
    order += (order.empty() ? "" : ", ") + quote_name(name);
  }
  rig_.channel = std::move(channels);
  rig_.limits.joint = std::move(limits);
  rig_.limits.motion = std::move(motion);
  for (CheckedMotor& motor : motors_) {
    motor.channel = static_cast<std::size_t>(rig_.find_channel(motor.joint));
  }
  findings.push_back({Kind::kChange,
                      "The encoders are connected in another order than the rig file lists: "
                      "the channels become " +
                          order + "."});
  for (std::size_t e = 0; e < rig_.channel.size(); ++e) {
    const std::uint32_t in_unit = facts_.encoder[e].counts_per_turn;
    const ChannelConfig& channel = rig_.channel[e];
    if (channel.slides || in_unit == 0 || channel.counts_per_turn == in_unit) continue;
    findings.push_back({Kind::kFault, "The unit describes " + encoder_name(e) + " with " +
                                          std::to_string(in_unit) + " counts per turn, joint " +
                                          quote_name(channel.joint) + " has " +
                                          number(channel.counts_per_turn, 7) +
                                          ". Exchange the cables instead."});
  }
  return findings;
}

Findings Commissioning::add_zero_recording(std::size_t index, const EncoderRecorder& watch) {
  CheckedJoint& joint = joints_[index];
  ChannelConfig channel = joint_channel(joint);
  const auto encoder = static_cast<std::size_t>(rig_.find_channel(joint.name));
  joint.has_zero = watch.is_still(encoder);
  if (!joint.has_zero) {
    return {{Kind::kFault,
             "Joint " + quote_name(joint.name) +
                 " still moved. Hold it at rest at its zero position, and repeat the step."}};
  }
  channel.inverted = joint.inverted;
  const ZeroResult zero = assess_zero(watch.track(encoder).last, channel);
  joint.offset = zero.offset;
  joint.present_offset = zero.present_offset;
  const std::string field = channel.slides ? "offset_m" : "offset_rad";
  Findings findings;
  if (zero.confirmed) {
    findings.push_back({Kind::kGood, field + " " + number(zero.offset) +
                                         " is right, within the accuracy of positioning by hand."});
  } else {
    findings.push_back({Kind::kChange, field + " becomes " + number(zero.offset, 4) + ", from " +
                                           number(channel.offset_rad, 4) + "."});
  }
  if (!zero.confirmed && !facts_.encoder[encoder].is_absolute) {
    findings.push_back({Kind::kNote,
                        "The encoder counts from its power-on position: "
                        "this offset is valid only if the unit is always switched on with the "
                        "joint at " +
                            position_text(zero.offset, channel.slides) + "."});
  }
  if (zero.whole_turns != 0) {
    findings.push_back({Kind::kNote, "The joint is " + std::to_string(std::abs(zero.whole_turns)) +
                                         (std::abs(zero.whole_turns) == 1 ? " turn" : " turns") +
                                         " from where the unit was switched on. "
                                         "Turn it back before a run."});
  }
  return findings;
}

RigConfig Commissioning::corrected_rig() const {
  RigConfig found = rig_;
  for (const CheckedJoint& joint : joints_) {
    const auto index = static_cast<std::size_t>(found.find_channel(joint.name));
    found.channel[index].inverted = joint.inverted;
    if (joint.has_zero) found.channel[index].offset_rad = joint.present_offset;
    double& rad_per_count = found.limits.motion[index].rad_per_count;
    rad_per_count = std::copysign(rad_per_count, joint.inverted ? -1.0 : 1.0);
  }
  return found;
}

std::string Commissioning::reason_against_motor_tests() const {
  for (const CheckedJoint& joint : joints_) {
    if (joint.is_reliable() && joint.has_zero) continue;
    return "the encoder of joint " + quote_name(joint.name) +
           " is not confirmed yet, and the safety limits depend on it";
  }
  return "";
}

Findings Commissioning::add_pulses(std::size_t index, double level, bool is_last,
                                   const TestPushResult& positive, const TestPushResult& negative,
                                   const std::string& others) {
  CheckedMotor& motor = motors_[index];
  motor.is_good = false;
  level_ = level;
  positive_ = positive;
  negative_ = negative;
  const bool slides = rig_.channel[motor.channel].slides;
  const std::string at = number(level) + " " + motor.command_unit + " (" +
                         number(100.0 * level / motor.command_max) + " % of command_max)";
  const std::string joint = "Joint " + quote_name(motor.joint);
  if (!positive.moved && !negative.moved) {
    if (!is_last) return {{Kind::kNote, joint + " did not move at " + at + "."}};
    return {{Kind::kFault, joint + " did not move at " + at +
                               ". Check its brake, the motor's supply, the emergency stop, "
                               "the power stage's enable line and the motor's wires." +
                               (others.empty() ? ""
                                               : " Joint " + others +
                                                     " moved instead: "
                                                     "check which motor is connected.")}};
  }
  if (!positive.moved || !negative.moved) {
    const std::string way = positive.moved ? "positive" : "negative";
    return {{is_last ? Kind::kFault : Kind::kNote,
             joint + " moved only under a " + way + " command of " + at + "." +
                 (is_last ? " Check whether it is at an end stop, its brake drags, "
                            "or half of the power stage is defective."
                          : "")}};
  }
  if (positive.motion_rad * negative.motion_rad > 0.0) {
    return {{Kind::kFault, joint + " moved in the same direction under both commands. "
                                   "Balance it or lock it against falling, "
                                   "or check the sign of the power stage."}};
  }
  const double as_told = positive.motion_rad * rig_.limits.motion[motor.channel].gain_sign;
  if (as_told < 0.0) return add_reversed_pulse(index);
  motor.is_good = true;
  return {{Kind::kGood, joint + " moved by " + position_text(positive.motion_rad, slides) +
                            " and " + position_text(negative.motion_rad, slides) + " at ±" + at +
                            ": the motor's sign is right."}};
}

Findings Commissioning::add_reversed_pulse(std::size_t index) {
  CheckedMotor& motor = motors_[index];
  motor.is_good = false;
  const bool is_negative = rig_.limits.motion[motor.channel].gain_sign < 0.0;
  return {{Kind::kFault, "Joint " + quote_name(motor.joint) + " moves in the " +
                             (is_negative ? "positive" : "negative") +
                             " direction under a positive command, "
                             "but the rig file's motor { gain } has the opposite sign. "
                             "Exchange the motor's two wires, or make gain " +
                             (is_negative ? "positive" : "negative") +
                             ". If you turned the joint by hand in the negative direction, "
                             "the encoder's sign is wrong instead: repeat the commissioning."}};
}

// Called only if the ramps moved the joint, as limits need its dead band.
Findings Commissioning::assess_stall_limits(CheckedMotor& motor) const {
  const JointDrive& motion = rig_.limits.motion[motor.channel];
  const bool slides = rig_.channel[motor.channel].slides;
  const double count = std::abs(motion.rad_per_count);
  const StallLimits own{motion.stall_command, motion.stall_time_s};
  const auto text_of = [&](const StallLimits& stall) {
    return "stall { command: " + number(stall.command, 2) + " time_s: " + number(stall.time_s, 2) +
           " }";
  };
  motor.stall.reset();
  if (are_stall_limits_suitable(own, motor.figures, count, slides)) {
    return {{Kind::kGood, text_of(own) +
                              " is suitable: "
                              "a frozen encoder is detected before the joint has moved " +
                              position_text(compute_undetected_motion(motor.figures, own), slides) +
                              "."}};
  }
  motor.stall = propose_stall_limits(motor.figures, motor.command_max, count, slides);
  return {{Kind::kChange,
           text_of(*motor.stall) + " in safety, from " + text_of(own) +
               ": this command surely moves the joint, "
               "and a frozen encoder is detected before it has moved " +
               position_text(compute_undetected_motion(motor.figures, *motor.stall), slides) +
               "."}};
}

Findings Commissioning::add_ramps(std::size_t index, const TestPushResult& rise,
                                  const TestPushResult& fall, std::optional<int> delay_ticks) {
  constexpr double kLargeDeadBand = 0.1;  // share of command_max
  CheckedMotor& motor = motors_[index];
  motor.figures = compute_motor_properties(level_, positive_, negative_, rise, fall);
  motor.figures.delay_ticks = delay_ticks;
  const std::string& unit = motor.command_unit;
  const std::string speed_unit = rig_.channel[motor.channel].slides ? "m/s²" : "rad/s²";
  Findings findings;
  if (rise.moved && fall.moved) {
    const double share = motor.figures.dead_band / motor.command_max;
    findings.push_back({share > kLargeDeadBand ? Kind::kNote : Kind::kGood,
                        "Dead band: the joint begins to move at " +
                            number(motor.figures.dead_band, 2) + " " + unit + ", " +
                            number(100.0 * share, 2) + " % of command_max" +
                            (share > kLargeDeadBand ? ", which is large. "
                                                      "Check whether the brake drags or a bearing "
                                                      "is clamped."
                                                    : ".")});
  } else {
    findings.push_back(
        {Kind::kNote, "Dead band: not measured, because the joint did not move in the ramp up to " +
                          number(level_) + " " + unit + "."});
  }
  findings.push_back({Kind::kGood, "Acceleration: " + number(motor.figures.acceleration, 2) + " " +
                                       speed_unit + " per " + unit + "."});
  if (delay_ticks) {
    findings.push_back({Kind::kGood, "Delay: a command acts " + std::to_string(*delay_ticks) +
                                         (*delay_ticks == 1 ? " tick" : " ticks") +
                                         " after the sample that it answers."});
  }
  if (!rise.moved || !fall.moved) return findings;
  const Findings stall = assess_stall_limits(motor);
  findings.insert(findings.end(), stall.begin(), stall.end());
  return findings;
}

}  // namespace daq
