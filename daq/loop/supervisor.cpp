#include "daq/loop/supervisor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <numbers>
#include <utility>

#include "firmware_iface/wire/command.h"

namespace daq {
namespace {

constexpr double kStatsPeriod_s = 1.0;
// Messages that the recording has accepted but not written. Beyond this number they wait in the
// ring; a full ring ends the run. About 2 MB, a second of samples and commands at 1 kHz.
constexpr std::size_t kUnwrittenMax = 4096;
constexpr std::size_t kTakeAll = std::numeric_limits<std::size_t>::max();
constexpr double kWarningPeriod_s = 1.0;
// A quartz errs by up to 100 ppm, a ceramic resonator by up to 5000 ppm.
constexpr double kClockErrorMax_ppm = 5000.0;
constexpr double kClockSigmas =
    4.0;  // standard deviations of the fit, so that an early fit causes no warning

struct PhaseText {
  const char* name;
  const char* prompt;
};

PhaseText text_of(RunPhase phase) {
  switch (phase) {
    case RunPhase::kSettling:
      return {"settling", "Checking the limits, motor off."};
    case RunPhase::kArming:
      return {"arming", "Unlocking the motor."};
    case RunPhase::kWaitingForHold:
      return {"waiting for hold", ""};
    case RunPhase::kWaitingForRelease:
      return {"waiting for release", "Held. Let go when ready."};
    case RunPhase::kRunning:
      return {"running", "Running."};
    case RunPhase::kTripped:
      return {"tripped", "Tripped: trip command sent."};
    case RunPhase::kFinished:
      return {"finished", "The scenario has finished."};
  }
  return {"", ""};
}

// Formats degrees or millimetres, with as many decimals as the tolerance needs.
std::string position_text(const HeldJoint& held, double value) {
  const double per_unit = held.slides ? 1e3 : 180.0 / std::numbers::pi;
  const double tolerance = held.tolerance_rad * per_unit;
  const int decimals = tolerance >= 10.0 ? 0 : tolerance >= 1.0 ? 1 : 2;
  const double scale = std::pow(10.0, decimals);
  const double rounded =
      std::round(value * per_unit * scale) / scale + 0.0;  // adding 0.0 avoids "-0"
  char text[64];
  std::snprintf(text, sizeof text, "%.*f%s", decimals, rounded, held.slides ? " mm" : "°");
  return text;
}

// Formats an angle without whole turns, near the target without a jump by a turn.
std::string present_text(const HeldJoint& held, const JointState& joint) {
  if (!joint.valid || !std::isfinite(joint.angle_rad)) return "no reading";
  double position = joint.angle_rad;
  if (!held.slides) {
    position = wrapped_difference(joint.angle_rad, 0.0);
    if (std::abs(position - held.angle_rad) > 1.5 * std::numbers::pi) {
      position = held.angle_rad + wrapped_difference(joint.angle_rad, held.angle_rad);
    }
  }
  return "now " + position_text(held, position);
}

std::uint64_t read(const std::atomic<std::int64_t>& counter) {
  return static_cast<std::uint64_t>(counter.load(std::memory_order_relaxed));
}

// A recording has one command per motor, and one command of zero without a motor.
std::uint32_t command_count(const SafetyLimits& limits) {
  return static_cast<std::uint32_t>(std::max(limits.motor.size(), std::size_t{1}));
}

proto::Sample sample_of(const LoopRecord& record, const SafetyLimits& limits) {
  const firmware_iface::UnitSample& from = record.sample;
  proto::Sample sample;
  sample.timestamp_s = record.observation.time_s;
  sample.sequence = from.sequence;
  sample.device_time_us = from.unit_time_us;
  sample.channel_count = static_cast<std::uint32_t>(from.encoder_count);
  for (const std::size_t j : indices(sample.channel_count)) {
    // A NaN angle has tripped the run; readers would reject the whole sample for it.
    const double angle_rad = record.observation.joint[j].angle_rad;
    sample.valid[j] = from.is_encoder_valid(static_cast<int>(j)) && std::isfinite(angle_rad);
    sample.encoder_counts[j] = from.encoder_counts[j];
    sample.angle_rad[j] = sample.valid[j] ? angle_rad : std::numeric_limits<double>::quiet_NaN();
  }
  sample.motor_count = command_count(limits);
  sample.command = from.command;
  sample.command_sequence = from.command_sequence;
  sample.tripped = from.tripped;
  sample.driving = from.driving;
  sample.fault_flags = from.fault_flags;
  sample.error_count = from.unit_error_count;
  return sample;
}

proto::Command command_of(const LoopRecord& record, const SafetyLimits& limits) {
  return {.timestamp_s = record.observation.time_s,
          .command_sequence = record.command_number,
          .motor_count = command_count(limits),
          .command = record.sent,
          .command_requested = record.requested,
          .flags = record.enabled ? std::uint32_t{COMMAND_ENABLE} : 0U};
}

proto::InertialReading reading_of(const firmware_iface::InertialReadings& from, std::size_t sensor,
                                  const InertialScale& scale, double time_s) {
  proto::InertialReading reading{.timestamp_s = time_s,
                                 .sequence = from.sequence,
                                 .sensor = static_cast<std::uint32_t>(sensor)};
  for (const std::size_t axis : indices(proto::kInertialAxes)) {
    const std::int16_t counts = from.counts[sensor][axis];
    const bool is_read = counts != INERTIAL_NOT_READ && scale.si_per_count[axis] > 0.0;
    reading.counts[axis] = counts;
    reading.value[axis] =
        is_read ? scale.si_per_count[axis] * counts : std::numeric_limits<double>::quiet_NaN();
    if (is_read && std::abs(int{counts}) >= scale.counts_max[axis]) {
      reading.saturated |= 1U << axis;
    }
  }
  return reading;
}

}  // namespace

std::string describe_output_state(OutputState state, int ttl_ms) {
  switch (state) {
    case OutputState::kInUse:
      return "";
    case OutputState::kTripSent:
      return "The trip command was sent; no sample has confirmed yet that the output is off.";
    case OutputState::kOff:
      return "The unit reports that its output is off.";
    case OutputState::kStillDrives:
      return "THE UNIT STILL DRIVES: switch off the supply. The trip command was sent, but the "
             "unit's samples do not show that it took effect.";
    case OutputState::kUnconfirmed:
      return "The unit no longer responds. It switches its output off after its time to live of " +
             std::to_string(ttl_ms) +
             " ms, but this could not be confirmed. Switch off the supply before you touch the "
             "rig.";
  }
  return "";
}

Supervisor::Supervisor(ControlLoop& loop, const BlackBox& black_box, const SafetyLimits& limits,
                       RunSink& recording, RunSink* stream,
                       std::function<void(const std::string&)> say)
    : loop_(loop),
      black_box_(black_box),
      limits_(limits),
      recording_(recording),
      stream_(stream),
      say_(std::move(say)) {}

void Supervisor::publish(const proto::RecordingMessage& message) {
  if (const proto::Status status = recording_.write(message); !status.ok() && !storage_error_) {
    storage_error_ = status.error();
  }
  if (stream_ == nullptr) return;
  if (const proto::Status status = stream_->write(message); !status.ok()) {
    report_stream_failure(status.error());
  }
}

void Supervisor::report_stream_failure(const proto::Error& error) {
  stream_ = nullptr;
  say_("Streaming stopped: " + error.detail);
}

void Supervisor::poll() {
  drain(kUnwrittenMax);
  if (const proto::Status status = recording_.idle(); !status.ok() && !storage_error_) {
    storage_error_ = status.error();
  }
  report_storage_error();
  if (stream_ == nullptr) return;
  if (const proto::Status status = stream_->idle(); !status.ok()) {
    report_stream_failure(status.error());
  }
}

void Supervisor::drain(std::size_t unwritten_max) {
  LoopRecord record;
  while (recording_.unwritten_message_count() < unwritten_max && loop_.records().try_pop(record)) {
    take(record);
  }
  record_trip();
  report_output_state();
  report_inertial_faults();
  if (black_box_.is_frozen()) record_black_box();
  record_clock_fits();
  if (time_s() < next_stats_s_) return;
  next_stats_s_ = time_s() + kStatsPeriod_s;
  record_loop_statistics();
}

void Supervisor::take(const LoopRecord& record) {
  if (sample_counts_.recorded == 0) host_epoch_ns_ = record.sample.received.count();
  count_missing_samples(record);
  driven_ = driven_ || (record.phase > RunPhase::kArming && record.phase < RunPhase::kTripped);
  record_phase_change(record);
  add_inertial_readings(record.sample.inertial);
  publish(sample_of(record, limits_));
  if (record.command_number > last_.command_number) publish(command_of(record, limits_));
  ++sample_counts_.recorded;
  last_ = record;
}

void Supervisor::add_inertial_readings(const firmware_iface::InertialReadings& readings) {
  const LoopSettings& settings = loop_.settings();
  for (const std::size_t i : indices(settings.inertial_count)) {
    if (!readings.has(static_cast<int>(i))) continue;
    publish(reading_of(readings, i, settings.inertial[i],
                       loop_.seconds_since_start(readings.unit_time_us)));
    ++reading_counts_[i];
  }
}

void Supervisor::add_late_sample(const firmware_iface::UnitSample& sample) {
  drain(kTakeAll);
  LoopRecord record = last_;
  record.observation.time_s +=
      static_cast<double>(sample.unit_time_us - last_.sample.unit_time_us) * 1e-6;
  loop_.convert_angles(sample, record.observation);
  record.sample = sample;
  take(record);
}

// Sequence numbers that were skipped: up to lost_before were lost on the link, the others were
// dropped at the full ring.
void Supervisor::count_missing_samples(const LoopRecord& record) {
  const std::uint64_t sequence = record.sample.sequence;
  if (sequence > next_sequence_) {
    const std::uint64_t missing = sequence - next_sequence_;
    const std::uint64_t on_link = std::min(missing, record.sample.lost_before);
    record_gap(next_sequence_, missing - on_link, proto::GapCause::kRingFull);
    record_gap(sequence - on_link, on_link, proto::GapCause::kLink);
  }
  next_sequence_ = sequence + 1;
}

void Supervisor::record_gap(std::uint64_t first, std::uint64_t count, proto::GapCause cause) {
  if (count == 0) return;
  (cause == proto::GapCause::kLink ? sample_counts_.lost_on_link : sample_counts_.lost_in_ring) +=
      count;
  publish(proto::Gap{seconds_since_start(first), first, count, cause});
}

// Samples lie on the unit's time grid, relative to the last record.
double Supervisor::seconds_since_start(std::uint64_t sequence) const {
  if (sample_counts_.recorded == 0) return 0.0;
  const auto ahead = static_cast<double>(sequence) - static_cast<double>(last_.sample.sequence);
  return last_.observation.time_s + ahead * loop_.period_s();
}

void Supervisor::record_phase_change(const LoopRecord& record) {
  if (record.phase == phase_ && sample_counts_.recorded > 0) return;
  phase_ = record.phase;
  const std::string prompt = operator_prompt(record);
  if (is_first_report_of_output_off(record)) reported_output_ = OutputState::kOff;
  say_(prompt);
  publish(proto::Event{.timestamp_s = record.observation.time_s,
                       .kind = proto::EventKind::kScenario,
                       .name = text_of(phase_).name,
                       .text = prompt,
                       .sequence = record.sample.sequence});
}

// After the unit was lost, report_output_state reports that it responds again.
bool Supervisor::is_first_report_of_output_off(const LoopRecord& record) const {
  return record.phase == RunPhase::kTripped && reported_output_ != OutputState::kUnconfirmed &&
         UnitReportMonitor::is_output_off(record.sample);
}

std::string Supervisor::operator_prompt(const LoopRecord& record) const {
  if (is_first_report_of_output_off(record)) return "Tripped: the output is off.";
  const std::optional<HeldJoint> held = loop_.held_joint();
  if (record.phase != RunPhase::kWaitingForHold || !held) return text_of(record.phase).prompt;
  return "Hold joint \"" + limits_.joint[held->joint].joint + "\" at " +
         position_text(*held, held->angle_rad) + " ± " + position_text(*held, held->tolerance_rad) +
         " (" + present_text(*held, record.observation.joint[held->joint]) +
         "), and keep it still.";
}

std::string Supervisor::describe_held_joint() const {
  const std::optional<HeldJoint> held = loop_.held_joint();
  if (last_.phase != RunPhase::kWaitingForHold || !held) return "";
  return "joint \"" + limits_.joint[held->joint].joint + "\" " +
         present_text(*held, last_.observation.joint[held->joint]);
}

void Supervisor::record_trip() {
  const Trip* trip = loop_.trip();
  if (trip == nullptr || trip_reported_) return;
  trip_reported_ = true;
  std::string text = describe_trip(*trip, limits_);
  const std::string advice = driven_ ? "" : describe_start_remedy(*trip, limits_);
  if (!advice.empty()) text += ". " + advice;
  say_("TRIP: " + text);
  const bool slides = concerns_joint(trip->cause) && limits_.joint[trip->joint].slides;
  publish(proto::Event{.timestamp_s = trip->time_s,
                       .kind = proto::EventKind::kTrip,
                       .name = std::string(to_string(trip->cause)),
                       .text = text,
                       .channel = find_trip_subject(*trip, limits_),
                       .value = trip->value,
                       .limit = trip->limit,
                       .unit = std::string(trip_unit(trip->cause, slides)),
                       .sequence = last_.sample.sequence});
}

// Reported at every change, and repeatedly while the unit still drives.
void Supervisor::report_output_state() {
  const OutputState state = loop_.output_state();
  const bool drives = state == OutputState::kStillDrives;
  if (state == reported_output_ && !(drives && time_s() >= next_warning_s_)) return;
  reported_output_ = state;
  next_warning_s_ = time_s() + kWarningPeriod_s;
  if (state == OutputState::kTripSent) return;
  const std::string text = describe_output_state(state, loop_.settings().ttl_ms);
  say_(text);
  report(proto::EventKind::kTrip, "output", text);
}

// Reported once per sensor and fault, as the recording lacks readings.
void Supervisor::report_inertial_faults() {
  constexpr const char* kTexts[kInertialFaultCount] = {
      "is missing: no reading within the allowed time",
      "is stuck: its counts do not change while the rig moves",
      "is saturated: it remains at the end of its measuring range"};
  for (const std::size_t i : indices(limits_.inertial.size())) {
    const unsigned faults = loop_.counters().inertial_faults[i].load(std::memory_order_relaxed);
    for (const std::size_t fault : indices(std::size(kTexts))) {
      const auto bit = static_cast<std::uint8_t>(1U << fault);
      if ((faults & bit) == 0 || (reported_inertial_faults_[i] & bit) != 0) continue;
      reported_inertial_faults_[i] = static_cast<std::uint8_t>(reported_inertial_faults_[i] | bit);
      const std::string text = "inertial sensor \"" + limits_.inertial[i].sensor + "\" " +
                               kTexts[fault] + "; check its wiring, mounting and measuring range";
      say_("note: " + text);
      report(proto::EventKind::kLink, "inertial sensor", text);
    }
  }
}

// The messages are a separate event, because the trip must reach the disk at once and the black box
// is frozen a little later.
void Supervisor::record_black_box() {
  if (!trip_reported_ || black_box_reported_) return;
  black_box_reported_ = true;
  proto::Event event{.timestamp_s = time_s(),
                     .kind = proto::EventKind::kTrip,
                     .name = "black box",
                     .text = "Messages on the link before and after the trip.",
                     .sequence = last_.sample.sequence};
  for (const std::size_t k : indices(black_box_.count())) {
    const StoredMessage& kept = black_box_.message(k);
    const std::span<const std::uint8_t> bytes = kept.message();
    event.last_frames.push_back(
        {.timestamp_s = static_cast<double>(kept.at.count() - host_epoch_ns_) * 1e-9,
         .direction = kept.direction == firmware_iface::Direction::kToHost
                          ? proto::LinkDirection::kFromUnit
                          : proto::LinkDirection::kToUnit,
         .frame = {bytes.begin(), bytes.end()}});
  }
  publish(event);
}

void Supervisor::record_clock_fits() {
  firmware_iface::ClockFit fit;
  while (loop_.clock_fits().try_pop(fit)) {
    warn_about_clock(fit);
    publish(proto::ClockFit{.timestamp_s = time_s(),
                            .rate_error_ppm = fit.rate_error_ppm,
                            .rate_error_ppm_sd = fit.rate_sigma_ppm,
                            .offset_s = static_cast<double>(fit.host_reference.count()) * 1e-9 -
                                        static_cast<double>(fit.unit_reference_us) * 1e-6,
                            .residual_s_rms = fit.residual_rms_us * 1e-6,
                            .point_count = fit.blocks_used,
                            .rejected_count = fit.blocks_rejected});
  }
}

// Reported once, because a wrong clock rate does not change.
void Supervisor::warn_about_clock(const firmware_iface::ClockFit& fit) {
  const double least_ppm = std::abs(fit.rate_error_ppm) - kClockSigmas * fit.rate_sigma_ppm;
  if (clock_reported_ || least_ppm <= kClockErrorMax_ppm) return;
  clock_reported_ = true;
  char text[320];
  std::snprintf(text, sizeof text,
                "The unit's clock differs by %+.0f ± %.0f ppm from this computer's, more than any "
                "intact clock. Either speeds and times have this relative error, or samples arrive "
                "in bunches. Check the unit's tick rate and the line.",
                fit.rate_error_ppm, fit.rate_sigma_ppm);
  say_("note: " + std::string(text));
  report(proto::EventKind::kLink, "clock", text);
}

void Supervisor::record_loop_statistics() {
  const LoopCounters& counters = loop_.counters();
  const TimingHistogram& jitter = loop_.arrival_jitter_histogram();
  const TimingHistogram& cycle = loop_.cycle_time_histogram();
  publish(proto::LoopStats{.timestamp_s = time_s(),
                           .cycle_count = read(counters.samples),
                           .skipped_periods = read(counters.skipped_periods),
                           .dropped_samples = read(counters.dropped_records),
                           .link_timeouts = read(counters.timeouts),
                           .damaged_frames = read(counters.damaged_frames),
                           .wakeup_us_mean = microseconds(jitter.mean()),
                           .wakeup_us_p99 = jitter.percentile_us(0.99),
                           .wakeup_us_max = microseconds(jitter.max()),
                           .cycle_us_mean = microseconds(cycle.mean()),
                           .cycle_us_max = microseconds(cycle.max())});
}

// The recorder reserves space for this last message on a full disk.
void Supervisor::report_storage_error() {
  if (!storage_error_ || storage_error_reported_) return;
  storage_error_reported_ = true;
  const std::string text =
      "Output off, because the run cannot be recorded: " + storage_error_->detail;
  say_("TRIP: " + text);
  report(proto::EventKind::kTrip, "storage", text);
}

void Supervisor::report(proto::EventKind kind, const std::string& name, const std::string& text) {
  publish(proto::Event{.timestamp_s = time_s(),
                       .kind = kind,
                       .name = name,
                       .text = text,
                       .sequence = last_.sample.sequence});
}

void Supervisor::finish(std::optional<std::uint64_t> samples_sent) {
  drain(kTakeAll);
  if (samples_sent && *samples_sent > next_sequence_) {
    // No later sample shows losses at the end. Records dropped by the ring come first. Losses
    // on the link before a dropped record were counted as lost in the ring.
    const std::uint64_t missing = *samples_sent - next_sequence_;
    const std::uint64_t known = sample_counts_.lost_in_ring;
    const std::uint64_t dropped = std::max(read(loop_.counters().dropped_records), known) - known;
    const std::uint64_t in_ring = std::min(missing, dropped);
    record_gap(next_sequence_, in_ring, proto::GapCause::kRingFull);
    record_gap(next_sequence_ + in_ring, missing - in_ring, proto::GapCause::kLink);
    next_sequence_ = *samples_sent;
  }
  record_loop_statistics();
}

}  // namespace daq
