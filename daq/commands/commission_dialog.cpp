#include "daq/commands/commission_dialog.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "daq/config/commission_file.hpp"
#include "daq/console/unit_connection.hpp"
#include "daq/safety/unit_report_monitor.hpp"
#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"

namespace daq {
namespace {

using firmware_iface::ReadStatus;
using firmware_iface::UnitSample;

constexpr double kHandsOff_s = 2.0;
constexpr double kSwitchOff_s_max = 1.0;
constexpr double kRest_s_max = 15.0;
constexpr int kMissedMax = 1000;  // samples in a row
constexpr Nanoseconds kStatusPeriod = std::chrono::milliseconds(100);

// Levels of the test pulses, as shares of command_max.
constexpr double kFirstLevel = 0.05, kLastLevel = 0.2;
constexpr int kLevelCount = 4;
constexpr double kPush_s = 0.5;
constexpr double kRise_s = 2.0;

constexpr std::size_t kIndent = 10;

std::string level_text(const CheckedMotor& motor, double level) {
  return notation::format_number(level) + " " + motor.command_unit + " (" +
         notation::format_number(100.0 * level / motor.command_max, 3) + " % of command_max)";
}

// Returns whether the cause concerns link or unit, so that a repetition would not help.
bool concerns_link(TripCause cause) {
  return cause == TripCause::kLinkLost || cause == TripCause::kPortClosed ||
         cause == TripCause::kUnitRestarted;
}

}  // namespace

// --- Reading and asking ---

// Returns the next sample; nothing if none arrives in time.
std::optional<UnitSample> CommissionDialog::read_sample(bool may_stop) {
  const Nanoseconds period = compute_sample_period(commissioning_.rig(), unit_.facts());
  UnitSample sample;
  const ReadStatus status = unit_.read_sample(unit_.transport().now() + 2 * period, sample);
  if (may_stop && stop_.load()) {
    throw CommissioningAborted{ExitCode::kNotCommissioned,
                               "Stopped. The motor is off, and nothing was written."};
  }
  if (status == ReadStatus::kClosed || status == ReadStatus::kInconsistent) {
    throw CommissioningAborted{ExitCode::kTrouble,
                               "the connection to the unit is lost; nothing was written"};
  }
  return status == ReadStatus::kSample ? std::optional(sample) : std::nullopt;
}

// Answers each sample with "output off", which also suits a unit that the host paces.
void CommissionDialog::record_sample(EncoderRecorder& watch) {
  unit_.write_idle_command();
  const std::optional<UnitSample> sample = read_sample(true);
  missed_ = sample ? 0 : missed_ + 1;
  if (missed_ > kMissedMax) {
    throw CommissioningAborted{ExitCode::kTrouble,
                               "the unit sends no samples; nothing was written"};
  }
  if (!sample) return;
  watch.add(*sample);
  if (!UnitReportMonitor::is_output_off(*sample)) {
    throw CommissioningAborted{ExitCode::kTrouble,
                               "THE UNIT MAY STILL DRIVE: it left the tripped state by itself. "
                               "Switch off the motor's supply. Nothing was written"};
  }
}

void CommissionDialog::watch(EncoderRecorder& watch, double duration_s) {
  missed_ = 0;
  while (watch.duration_s() < duration_s) record_sample(watch);
}

void CommissionDialog::switch_output_off() {
  const Nanoseconds give_up =
      unit_.transport().now() + Nanoseconds(std::llround(kSwitchOff_s_max * 1e9));
  while (unit_.transport().now() < give_up) {
    unit_.write_trip_command();
    const std::optional<UnitSample> sample = read_sample(false);
    if (sample && UnitReportMonitor::is_output_off(*sample)) return;
  }
  throw CommissioningAborted{ExitCode::kTrouble,
                             "THE UNIT MAY STILL DRIVE: it does not confirm that it tripped. "
                             "Switch off the motor's supply. Nothing was written"};
}

std::string CommissionDialog::ask(const std::string& question, EncoderRecorder& watch,
                                  const Status& status) {
  person_.discard_typed_input();
  person_.ask(question, 2);
  Nanoseconds shown{0};
  missed_ = 0;
  for (;;) {
    record_sample(watch);
    if (auto answer = person_.read_answer()) {
      if (*answer != "q") return *answer;
      throw CommissioningAborted{ExitCode::kNotCommissioned,
                                 "Ended. The motor is off, and nothing was written."};
    }
    if (person_.has_input_ended()) {
      throw proto::InputError(
          "commission needs the operator's answers: "
          "run it in a terminal, or write them to its standard input; nothing was written");
    }
    const Nanoseconds now = unit_.transport().now();
    if (!status || now - shown < kStatusPeriod) continue;
    shown = now;
    person_.show(status(watch));
  }
}

std::string CommissionDialog::ask(const std::string& question) {
  EncoderRecorder watch;
  return ask(question, watch, {});
}

void CommissionDialog::say(const Findings& findings) {
  for (const Finding& finding : findings) {
    const char* label = "  ok      ";
    if (finding.kind == Finding::FindingKind::kNote) label = "  note    ";
    if (finding.kind == Finding::FindingKind::kChange) label = "  change  ";
    if (finding.kind == Finding::FindingKind::kFault) label = "  FAULT   ";
    person_.say(label + finding.text, kIndent);
  }
}

// Repeats a step with a fault on request; only the last results count.
void CommissionDialog::repeat(const Step& step) {
  for (;;) {
    const Findings findings = step();
    say(findings);
    const bool again =
        count_faults(findings) > 0 &&
        ask("  Enter: continue with this fault, r: repeat the step, q: quit.") == "r";
    if (again) continue;
    findings_.insert(findings_.end(), findings.begin(), findings.end());
    return;
  }
}

std::string CommissionDialog::format_count_status(const EncoderRecorder& watch,
                                                  std::size_t own) const {
  std::string status;
  for (int e = 0; e < watch.encoder_count(); ++e) {
    const auto encoder = static_cast<std::size_t>(e);
    const ChannelConfig& channel = commissioning_.rig().channel[encoder];
    const double change = watch.track(encoder).total_change();
    if (encoder != own && std::abs(change) <= kFlickerCounts) continue;
    const double amount = change / channel.counts_per_turn;
    char text[96];
    std::snprintf(text, sizeof text, "  encoder %d: %+lld counts (%+.*f %s)", e,
                  std::llround(change), channel.slides ? 1 : 3,
                  channel.slides ? 1e3 * amount : amount, channel.slides ? "mm" : "turn");
    status += text;
  }
  return status;
}

// --- Encoders, with the motor off ---

void CommissionDialog::check_encoders() {
  person_.say("");
  person_.say("Encoders, with the motor off");
  repeat([this] {
    ask("  Do not touch the rig. Wait until all joints are at rest, then press Enter.");
    EncoderRecorder watch;
    this->watch(watch, kHandsOff_s);
    return commissioning_.add_rest_recording(watch);
  });
  for (std::size_t j = 0; j < commissioning_.joints().size(); ++j) {
    repeat([this, j] { return guide_hand_motion(j); });
  }
  const Findings order = commissioning_.assign_encoders();
  say(order);
  findings_.insert(findings_.end(), order.begin(), order.end());
  for (std::size_t j = 0; j < commissioning_.joints().size(); ++j) {
    repeat([this, j] { return find_joint_zero(j); });
  }
}

Findings CommissionDialog::guide_hand_motion(std::size_t index) {
  const CheckedJoint& joint = commissioning_.joints()[index];
  const JointDescription guide = read_joint_description(commissioning_.rig(), joint.name);
  const auto own = static_cast<std::size_t>(commissioning_.rig().find_channel(joint.name));
  const JointLimits& limits = commissioning_.joint_limits(index);
  const auto make = [&](const HandMotion& motion) {
    EncoderRecorder watch;
    const std::string verb = limits.slides ? "  Push joint " : "  Turn joint ";
    const std::string way = guide.positive_way.empty() ? "" : ", " + guide.positive_way;
    ask(verb + quote_name(joint.name) + " by hand " + motion.words + " in the positive direction" +
            way + ". Hold it there, wait until the other joints are at rest, and press Enter.",
        watch, [&](const EncoderRecorder& so_far) { return format_count_status(so_far, own); });
    return commissioning_.add_hand_motion(index, motion, watch);
  };
  Findings findings = make(choose_hand_motion(limits));
  const auto exact = choose_full_turn(limits);
  if (joint.is_encoder_known && !joint.is_scale_confirmed && exact) {
    say(findings);
    person_.say("  A whole turn is more exact. Move the joint back first.", 2);
    ask("  Press Enter when it is back.");
    findings = make(*exact);
  }
  return findings;
}

Findings CommissionDialog::find_joint_zero(std::size_t index) {
  const CheckedJoint& joint = commissioning_.joints()[index];
  if (!joint.is_encoder_known || !joint.is_scale_confirmed)
    return {};  // its position is not meaningful yet
  const JointDescription guide = read_joint_description(commissioning_.rig(), joint.name);
  const auto own = static_cast<std::size_t>(commissioning_.rig().find_channel(joint.name));
  EncoderRecorder watch;
  ask("  Move joint " + quote_name(joint.name) + " to its zero position, " + guide.zero +
          ", let it come to rest there, and press Enter.",
      watch, [&](const EncoderRecorder& so_far) { return format_count_status(so_far, own); });
  EncoderRecorder after;
  this->watch(after, 0.5);
  return commissioning_.add_zero_recording(index, after);
}

// --- Motors ---

TestPushLimits CommissionDialog::test_push_limits(const CheckedMotor& motor) const {
  const ChannelScale scale = compute_channel_scales(commissioning_.rig())[motor.channel];
  return compute_test_push_limits(commissioning_.rig().limits.joint[motor.channel],
                                  std::abs(scale.rad_per_count));
}

bool CommissionDialog::wait_for_rest(std::size_t channel) {
  EncoderRecorder watch;
  while (watch.duration_s() < kRest_s_max) {
    this->watch(watch, watch.duration_s() + 0.1);
    if (watch.is_still(channel)) return true;
  }
  return false;
}

MotorTrial CommissionDialog::nudge(std::size_t index, double level, double rise_s,
                                   Findings& findings) {
  const CheckedMotor& motor = commissioning_.motors()[index];
  if (!wait_for_rest(motor.channel)) {
    ask("  Joint " + quote_name(motor.joint) +
        " still moves. Stop it, release it, and press Enter.");
  }
  const RigConfig rig = commissioning_.corrected_rig();
  const TestPushLimits limits = test_push_limits(motor);
  TestPushSettings settings;
  settings.joint = motor.channel;
  settings.joint_count = rig.channel.size();
  settings.level = level;
  settings.rise_s = rise_s;
  settings.push_s_max = rise_s + kPush_s;
  settings.motion_rad = limits.end_motion_rad;
  settings.other_motion_rad = limits.other_rad;
  MotorTrial trial = run_test_push(rig, unit_, black_box_, settings, motor.index, stop_, [this] {
    person_.say("THE UNIT STILL DRIVES: switch off the motor's supply.");
  });
  if (trial.trip && concerns_link(trial.trip->cause)) {
    throw CommissioningAborted{ExitCode::kTrouble,
                               describe_trip(*trial.trip, rig.limits) +
                                   "; the unit switches off by itself, and nothing was written"};
  }
  switch_output_off();
  if (trial.trip && trial.trip->cause == TripCause::kWrongDirection &&
      trial.trip->joint == motor.channel) {
    findings = commissioning_.add_reversed_pulse(index);
  } else if (trial.trip) {
    findings.push_back(
        {Finding::FindingKind::kFault,
         "A safety limit ended the motion: " + describe_trip(*trial.trip, rig.limits) + "."});
  }
  return trial;
}

Findings CommissionDialog::test_motor_pulses(std::size_t index) {
  const CheckedMotor& motor = commissioning_.motors()[index];
  const double detectable_motion_rad = test_push_limits(motor).detectable_motion_rad;
  for (int k = 1; k <= kLevelCount; ++k) {
    const double share = std::lerp(kFirstLevel, kLastLevel, (k - 1.0) / (kLevelCount - 1.0));
    level_ = share * motor.command_max;
    ask(k == 1 ? "  Bring all joints to rest well within their limits. "
                 "Release the brake, keep clear, and press Enter: the motor will push joint " +
                     quote_name(motor.joint) + " a little in both directions with " +
                     level_text(motor, level_) + "."
               : "  Keep clear, and press Enter to try " + level_text(motor, level_) + ".");
    Findings findings;
    const MotorTrial positive = nudge(index, level_, 0.0, findings);
    if (!findings.empty()) return findings;
    const MotorTrial negative = nudge(index, -level_, 0.0, findings);
    if (!findings.empty()) return findings;
    std::string others;
    for (std::size_t j = 0; j < positive.motion_rad.size(); ++j) {
      const double motion = std::max(positive.motion_rad[j], negative.motion_rad[j]);
      if (j == motor.channel || motion < detectable_motion_rad) continue;
      others += (others.empty() ? "" : ", ") + quote_name(commissioning_.rig().channel[j].joint);
    }
    findings = commissioning_.add_pulses(
        index, level_, k == kLevelCount, evaluate_pulse(positive.samples, detectable_motion_rad),
        evaluate_pulse(negative.samples, detectable_motion_rad), others);
    const bool is_over = motor.is_good || count_faults(findings) > 0;
    if (is_over || k == kLevelCount) return findings;
    say(findings);
  }
  return {};
}

Findings CommissionDialog::test_motor_ramps(std::size_t index) {
  const CheckedMotor& motor = commissioning_.motors()[index];
  const double detectable_motion_rad = test_push_limits(motor).detectable_motion_rad;
  ask("  Keep clear, and press Enter: the command rises slowly to " + level_text(motor, level_) +
      ", in both directions, until the joint moves.");
  Findings findings;
  const MotorTrial rise = nudge(index, level_, kRise_s, findings);
  if (!findings.empty()) return findings;
  const MotorTrial fall = nudge(index, -level_, kRise_s, findings);
  if (!findings.empty()) return findings;
  std::vector<int> delays = rise.delays;
  delays.insert(delays.end(), fall.delays.begin(), fall.delays.end());
  std::optional<int> median;
  if (!delays.empty()) {
    const auto middle = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 2);
    std::nth_element(delays.begin(), middle, delays.end());
    median = *middle;
  }
  return commissioning_.add_ramps(index, evaluate_ramp(rise.samples, detectable_motion_rad),
                                  evaluate_ramp(fall.samples, detectable_motion_rad), median);
}

void CommissionDialog::check_motor(std::size_t index) {
  person_.say("");
  person_.say("Motor of joint " + quote_name(commissioning_.motors()[index].joint));
  if (const std::string reason = commissioning_.reason_against_motor_tests(); !reason.empty()) {
    const Findings findings = {
        {Finding::FindingKind::kFault, "The motor is not tested: " + reason + "."}};
    say(findings);
    findings_.insert(findings_.end(), findings.begin(), findings.end());
    return;
  }
  repeat([&] { return test_motor_pulses(index); });
  if (commissioning_.motors()[index].is_good) repeat([&] { return test_motor_ramps(index); });
}

void CommissionDialog::run() {
  switch_output_off();
  const Findings limits = commissioning_.find_limits_beyond_stops();
  say(limits);
  findings_.insert(findings_.end(), limits.begin(), limits.end());
  check_encoders();
  for (std::size_t m = 0; m < commissioning_.motors().size(); ++m) check_motor(m);
}

}  // namespace daq
