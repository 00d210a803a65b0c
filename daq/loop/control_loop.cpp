#include "daq/loop/control_loop.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace daq {
namespace {

using firmware_iface::ClearTripState;
using firmware_iface::ReadStatus;
using firmware_iface::UnitSample;

// Tolerated delay of a sample, as a share of the period.
constexpr double kLateShare = 0.8;
constexpr double kClockPeriod_s = 1.0;

void increase(std::atomic<std::int64_t>& value, std::uint64_t by = 1) noexcept {
  value.store(value.load(std::memory_order_relaxed) + static_cast<std::int64_t>(by),
              std::memory_order_relaxed);
}

double seconds(Nanoseconds duration) noexcept {
  return static_cast<double>(duration.count()) * 1e-9;
}

Nanoseconds scaled(Nanoseconds duration, double factor) noexcept {
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(duration.count()) * factor));
}

// The unit link numbers its commands from 1, including those that could not be sent.
std::uint64_t commands_written(const firmware_iface::UnitLink& unit) noexcept {
  return unit.counters().commands_sent + unit.counters().commands_not_sent;
}

RunPhase phase_of(ScenarioPhase scenario) noexcept {
  switch (scenario) {
    case ScenarioPhase::kWaitingForHold:
      return RunPhase::kWaitingForHold;
    case ScenarioPhase::kWaitingForRelease:
      return RunPhase::kWaitingForRelease;
    case ScenarioPhase::kRunning:
      return RunPhase::kRunning;
    case ScenarioPhase::kFinished:
      return RunPhase::kFinished;
  }
  return RunPhase::kFinished;
}

}  // namespace

ControlLoop::ControlLoop(firmware_iface::UnitLink& unit, BlackBox& black_box, Scenario scenario,
                         const SafetyLimits& limits, const LoopSettings& settings)
    : unit_(unit),
      black_box_(black_box),
      scenario_(std::move(scenario)),
      safety_(limits),
      inertial_(limits.inertial),
      motion_(limits),
      settings_(settings),
      staleness_s_max_(limits.staleness_s_max) {}

void ControlLoop::run(const std::atomic<bool>& stop) noexcept {
  while (!stop.load(std::memory_order_relaxed) && tick()) {
  }
  switch_output_off();
  black_box_.freeze();
}

bool ControlLoop::tick() noexcept {
  const Nanoseconds now = unit_.transport().now();
  if (!started_ && last_received_.count() == 0) {
    last_received_ = deadline_ = last_run_at_ = last_stored_at_ = now;
  }
  check_host_timing(last_run_at_);
  Nanoseconds read_until = last_received_ + scaled(settings_.period, 1.0 + kLateShare);
  if (settings_.host_paced) {
    const NextDeadline next = compute_next_deadline(deadline_, settings_.period, now);
    increase(counters_.skipped_periods, static_cast<std::uint64_t>(next.skipped));
    read_until = deadline_ = next.deadline;
    send(pending_commands_);
  } else if (read_until <= now) {
    read_until = now + settings_.period;  // after a missing sample, check once per period
  }

  UnitSample sample;
  const ReadStatus status = read(read_until, sample);
  if (status != ReadStatus::kSample) return handle_missing_sample(status);
  LoopRecord record = take(sample);
  // Host-paced: wait on the line for the rest of the period. A later sample replaces the command.
  while (settings_.host_paced && read(deadline_, sample) == ReadStatus::kSample) {
    record.command_number = 0;
    pass_on(record);
    record = take(sample);
  }
  pass_on(record);
  return !is_run_over();
}

ReadStatus ControlLoop::read(Nanoseconds until, UnitSample& sample) noexcept {
  const ReadStatus status = unit_.read_sample(until, sample);
  check_host_timing(until);
  return status;
}

// Measures for how long this thread did not run although it did not wait, and since when no data
// have been stored. While the computer pauses, it stores nothing either, which is not a fault of
// the disk.
void ControlLoop::check_host_timing(Nanoseconds waited_until) noexcept {
  const Nanoseconds ran_at = std::max(last_run_at_, waited_until);
  last_run_at_ = unit_.transport().now();
  const Nanoseconds pause = std::max(Nanoseconds(0), last_run_at_ - ran_at);
  const std::uint64_t heartbeat =
      settings_.storage_heartbeat == nullptr
          ? heartbeat_ + 1
          : settings_.storage_heartbeat->load(std::memory_order_relaxed);
  last_stored_at_ = heartbeat == heartbeat_ ? last_stored_at_ + pause : last_run_at_;
  heartbeat_ = heartbeat;
  safety_.trip_on_host_pause(time_s_, seconds(pause), seconds(last_run_at_ - last_stored_at_));
}

// Called for a period without a sample. Never command from an old angle.
bool ControlLoop::handle_missing_sample(ReadStatus status) noexcept {
  increase(counters_.timeouts);
  const double silent_s = seconds(unit_.transport().now() - last_received_);
  if (status == ReadStatus::kInconsistent) {
    safety_.trip(TripCause::kUnitRestarted, time_s_, silent_s, staleness_s_max_);
  } else if (status == ReadStatus::kClosed) {
    safety_.trip(TripCause::kPortClosed, time_s_, silent_s, 0.0);
  } else if (!(silent_s <= staleness_s_max_)) {
    safety_.trip(TripCause::kLinkLost, time_s_, silent_s, staleness_s_max_);
  }
  const bool is_over = status != ReadStatus::kTimeout ||
                       (safety_.is_tripped() && !(silent_s <= settings_.after_trip_s));
  if (safety_.is_tripped()) {
    publish_trip();
    const bool lost = is_over || !(silent_s <= staleness_s_max_);
    if (lost && output_state() != OutputState::kOff) {
      output_state_.store(OutputState::kUnconfirmed, std::memory_order_release);
    }
  }
  sample_missed_ = true;
  pending_commands_ = {};
  if (!settings_.host_paced) send({});
  return !is_over;
}

LoopRecord ControlLoop::take(const UnitSample& sample) noexcept {
  sample_missed_ = false;
  measure_timing(sample);
  unit_time_us_ = sample.unit_time_us;
  if (sample.command_rejected) increase(counters_.rejected_commands);
  LoopRecord record{.sample = sample};
  record.observation = update_observation(sample);
  record.sent = decide_commands(sample, record.observation, record.requested);
  record.enabled = is_driving();
  record.phase = phase_;
  if (settings_.host_paced) {
    pending_commands_ = record.sent;
    record.command_number = commands_written(unit_) + 1;
  } else {
    send(record.sent);
    record.command_number = commands_written(unit_);
  }
  cycle_time_.add(unit_.transport().now() - sample.received);
  return record;
}

void ControlLoop::pass_on(const LoopRecord& record) noexcept {
  if (!records_.try_push(record)) {
    increase(counters_.dropped_records);
    safety_.trip(TripCause::kRingFull, time_s_, Ring::kCapacity + 1.0, Ring::kCapacity);
    publish_trip();
  }
  publish_clock_fit();
  increase(counters_.samples);
  counters_.damaged_frames.store(static_cast<std::int64_t>(unit_.frame_counters().damaged_count()),
                                 std::memory_order_relaxed);
}

void ControlLoop::measure_timing(const UnitSample& sample) noexcept {
  if (started_) {
    arrival_jitter_.add(std::chrono::abs(sample.received - last_received_ - settings_.period));
  } else {
    start_unit_time_us_ = sample.unit_time_us;
    first_received_ = sample.received;
    started_ = true;
    set_unit_expectations();
  }
  last_received_ = sample.received;
  if (!sample.command_delay_ticks) return;
  const auto longest = static_cast<int>(command_delays_.size()) - 1;
  const int delay = std::clamp(*sample.command_delay_ticks, 0, longest);
  increase(command_delays_[static_cast<std::size_t>(delay)]);
}

void ControlLoop::set_unit_expectations() noexcept {
  const firmware_iface::UnitDescription& facts = unit_.facts();
  UnitExpectations expected{.tick_s = 1.0 / facts.tick_rate_Hz,
                            .period_s = period_s(),
                            .ttl_s = 1e-3 * settings_.ttl_ms,
                            .staleness_s_max = staleness_s_max_,
                            .motor_count = static_cast<std::size_t>(facts.motor_count)};
  for (const std::size_t m : indices(expected.motor_count)) {
    expected.command_range[m] = facts.motor[m].command_max;
  }
  unit_check_.expect(expected);
}

void ControlLoop::convert_angles(const UnitSample& sample,
                                 Observation& observation) const noexcept {
  for (const std::size_t j : indices(settings_.joint_count)) {
    JointState& joint = observation.joint[j];
    joint.valid = sample.is_encoder_valid(static_cast<int>(j));
    if (!joint.valid) continue;
    const ChannelScale& scale = settings_.channel[j];
    joint.angle_rad =
        scale.rad_per_count * static_cast<double>(sample.encoder_counts[j]) + scale.offset_rad;
  }
}

Observation ControlLoop::update_observation(const UnitSample& sample) noexcept {
  time_s_ = seconds_since_start(sample.unit_time_us);
  observation_.time_s = time_s_;
  convert_angles(sample, observation_);
  for (const std::size_t j : indices(settings_.joint_count)) {
    JointState& joint = observation_.joint[j];
    if (joint.valid) joint.speed_rad_per_s = trackers_[j].add(time_s_, joint.angle_rad);
  }
  return observation_;
}

// The supervisor reports faults. If the rig file has limits for the sensor, they also end the run.
void ControlLoop::check_inertial_sensors(const UnitSample& sample,
                                         const Observation& now) noexcept {
  constexpr InertialFault kFaults[] = {InertialFault::kMissing, InertialFault::kStuck,
                                       InertialFault::kSaturated};
  inertial_.add(now, sample.inertial);
  for (const std::size_t i : indices(inertial_.sensor_count())) {
    for (const InertialFault fault : kFaults) {
      InertialMonitor::DetectedFault finding;
      if (!inertial_.has(i, fault, finding)) continue;
      counters_.inertial_faults[i].fetch_or(
          static_cast<std::uint8_t>(1U << static_cast<unsigned>(fault)), std::memory_order_relaxed);
      if (!inertial_.stops_run(i)) continue;
      safety_.trip(to_trip_cause(fault), now.time_s, finding.value, finding.limit,
                   static_cast<std::uint8_t>(i));
    }
  }
}

MotorCommands ControlLoop::decide_commands(const UnitSample& sample, const Observation& now,
                                           MotorCommands& requested) noexcept {
  advance_run_phase(sample);
  check_inertial_sensors(sample, now);
  const bool in_scenario = phase_ > RunPhase::kArming && phase_ < RunPhase::kTripped;
  if (in_scenario && settings_.drive && sample.tripped) {
    safety_.trip(TripCause::kUnitTripped, now.time_s, sample.fault_flags, 0.0);
  }
  check_plausibility(sample, now);
  if (in_scenario && !safety_.is_tripped()) requested = evaluate_scenario(now);
  const MotorCommands commands = safety_.limit_commands(now, requested);
  if (safety_.is_tripped()) {
    phase_ = RunPhase::kTripped;
    publish_trip();
    update_output_state(sample);
  }
  return commands;
}

void ControlLoop::check_plausibility(const UnitSample& sample, const Observation& now) noexcept {
  const double driving_for_s = is_driving() ? time_s_ - scenario_start_s_ : -1.0;
  const bool has_fault =
      is_driving() && unit_.last_fault() && unit_.last_fault()->received > armed_at_;
  for (const Trip& trip :
       {unit_check_.add(sample, unit_.clock().fit(), now.time_s, driving_for_s, has_fault),
        motion_.add({now, std::span(sample.encoder_counts).first(settings_.joint_count),
                     std::span(sample.command).first(static_cast<std::size_t>(sample.motor_count)),
                     motion_phase(), scenario_.is_open_loop()})}) {
    if (trip.cause == TripCause::kNone) continue;
    safety_.trip(trip.cause, trip.time_s, trip.value, trip.limit, trip.joint);
  }
}

MotionPhase ControlLoop::motion_phase() const noexcept {
  if (phase_ <= RunPhase::kArming) {
    return settings_.drive ? MotionPhase::kWatched : MotionPhase::kHandled;
  }
  if (phase_ != RunPhase::kRunning) return MotionPhase::kHandled;
  return settings_.drive ? MotionPhase::kDriven : MotionPhase::kReleased;
}

// Before driving, the unit's clock rate must be known to one percent and no joint may creep. The
// waiting time is bounded by the host's clock. After a pause of the host, the first samples arrive
// at once, so a wrong rate may only be apparent.
bool ControlLoop::is_settled() noexcept {
  if (!settings_.drive) return true;
  const firmware_iface::ClockFit& fit = unit_.clock().fit();
  const ClockVerdict verdict = UnitReportMonitor::judge(fit);
  const double waited_s = seconds(last_received_ - first_received_);
  if (verdict != ClockVerdict::kGood && !(waited_s <= settings_.clock_s_max)) {
    const Trip trip = UnitReportMonitor::make_clock_trip(fit, time_s_);
    safety_.trip(trip.cause, trip.time_s, trip.value, trip.limit);
  }
  return verdict == ClockVerdict::kGood && !motion_.may_creep();
}

// A sample that was latched before the trip could take effect does not count yet.
void ControlLoop::update_output_state(const UnitSample& sample) noexcept {
  const double since_s = time_s_ - safety_.current_trip().time_s;
  OutputState state = OutputState::kTripSent;
  if (UnitReportMonitor::is_output_off(sample)) {
    state = OutputState::kOff;
  } else if (!(since_s <= unit_check_.reaction_time_s())) {
    state = OutputState::kStillDrives;
  }
  output_state_.store(state, std::memory_order_release);
}

// Changes from watching to driving. evaluate_scenario follows the scenario's own phases.
void ControlLoop::advance_run_phase(const UnitSample& sample) noexcept {
  if (phase_ == RunPhase::kSettling && time_s_ >= settings_.settle_s && is_settled()) {
    phase_ = RunPhase::kArming;
    arming_since_s_ = time_s_;
    if (settings_.drive) unit_.request_trip_clear();
  }
  if (phase_ != RunPhase::kArming) return;
  const ClearTripState state = unit_.trip_clear_state();
  const bool cleared = state == ClearTripState::kDone && !sample.tripped;
  if (!settings_.drive || cleared) {
    phase_ = RunPhase::kRunning;
    scenario_start_s_ = time_s_;
    armed_at_ = last_received_;
  } else if (state == ClearTripState::kRefused || state == ClearTripState::kNoReply ||
             !(time_s_ - arming_since_s_ <= settings_.arm_s_max)) {
    safety_.trip(TripCause::kClearRefused, time_s_, unit_.fault_flags_after_clear(), 0.0);
  }
}

// Rounded to the unit's whole microseconds, because a round-off error in the difference of two
// times could start a pulse one sample late.
MotorCommands ControlLoop::evaluate_scenario(Observation now) noexcept {
  now.time_s = std::round((now.time_s - scenario_start_s_) * 1e6) / 1e6;
  MotorCommands requested{};
  scenario_.compute_command(now, requested);
  phase_ = phase_of(scenario_.phase());
  return requested;
}

bool ControlLoop::is_driving() const noexcept {
  return settings_.drive && phase_ > RunPhase::kArming && phase_ < RunPhase::kTripped;
}

void ControlLoop::send(const MotorCommands& commands) noexcept {
  bool taken = false;
  if (safety_.is_tripped()) {
    taken = unit_.write_trip_command();
  } else if (is_driving() && !sample_missed_) {
    taken = unit_.write_command(commands, settings_.ttl_ms);
  } else {
    taken = unit_.write_idle_command();
  }
  if (!taken) increase(counters_.unsent_commands);
  const SentCommand sent{.number = commands_written(unit_),
                         .unit_time_us = unit_time_us_,
                         .at = unit_.transport().now(),
                         .enabled = !safety_.is_tripped() && is_driving() && !sample_missed_,
                         .command = commands};
  unit_check_.record_sent_command(sent);
}

void ControlLoop::switch_output_off() noexcept {
  if (safety_.is_tripped()) {
    unit_.write_trip_command();
  } else {
    unit_.write_idle_command();
  }
}

// If the ring is full, the supervisor has earlier fits to read first.
void ControlLoop::publish_clock_fit() noexcept {
  if (time_s_ < next_clock_fit_s_ || !unit_.clock().fit().valid) return;
  next_clock_fit_s_ = time_s_ + kClockPeriod_s;
  clock_fits_.try_push(unit_.clock().fit());
}

void ControlLoop::publish_trip() noexcept {
  if (trip_published_.load(std::memory_order_relaxed)) return;
  published_trip_ = safety_.current_trip();
  black_box_.freeze_after_trip();
  trip_published_.store(true, std::memory_order_release);
}

bool ControlLoop::is_run_over() const noexcept {
  if (safety_.is_tripped()) {
    return !(time_s_ - safety_.current_trip().time_s <= settings_.after_trip_s) &&
           output_state() == OutputState::kOff;
  }
  return phase_ == RunPhase::kFinished;
}

}  // namespace daq
