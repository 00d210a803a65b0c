#include "firmware_iface/sim/simulated_unit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

namespace firmware_iface::sim {
namespace {

constexpr double kPpm = 1e-6;
constexpr double kTurn_rad = 2.0 * std::numbers::pi;

unit_description describe(const UnitSettings& settings, int joint_count) {
  unit_description own{};
  own.unit_id = settings.unit_id;
  own.tick_rate_Hz = static_cast<std::uint16_t>(settings.tick_rate_Hz);
  own.ttl_max_ms = static_cast<std::uint8_t>(settings.ttl_max_ms);
  own.capabilities = UNIT_CAN_COMPACT | UNIT_CAN_HOST_PACED | UNIT_CAN_MARKS;
  own.command_bits = static_cast<std::uint8_t>(settings.command_bits);
  own.encoder_count = static_cast<std::uint8_t>(joint_count);
  for (std::size_t k = 0; k < own.encoder_count; ++k) {
    const EncoderSettings& encoder = settings.encoder[k];
    own.encoder[k] = {
        static_cast<std::uint8_t>(encoder.absolute ? ENCODER_ABSOLUTE : ENCODER_COUNTER),
        static_cast<std::uint8_t>(encoder.index ? ENCODER_HAS_INDEX : 0),
        encoder.counts_per_rad > 0.0 ? 0 : encoder.counts_per_turn, encoder.modulus};
    constexpr std::uint32_t kCompactModulusMax = 1U << 24;
    if (encoder.modulus > kCompactModulusMax) own.capabilities &= ~UNIT_CAN_COMPACT;
  }
  own.motor_count = static_cast<std::uint8_t>(settings.motor_count);
  for (std::size_t m = 0; m < own.motor_count; ++m) {
    const MotorSettings& motor = settings.motor[m];
    own.motor[m] = {static_cast<std::uint8_t>(motor.kind), 0,
                    static_cast<std::uint32_t>(std::lround(motor.command_max * 1e3)), 0};
  }
  own.inertial_count = static_cast<std::uint8_t>(settings.inertial_count);
  for (std::size_t k = 0; k < own.inertial_count; ++k) {
    own.inertial_ticks[k] = static_cast<std::uint8_t>(settings.inertial[k].divider);
  }
  return own;
}

// Wraps counts as the encoder's counter does.
std::int32_t wrapped(std::int64_t counts, std::uint32_t modulus) {
  if (modulus == 0) {
    return static_cast<std::int32_t>(static_cast<std::uint64_t>(counts) & 0xFFFFFFFFU);
  }
  const std::int64_t rest = counts % std::int64_t{modulus};
  return static_cast<std::int32_t>(rest < 0 ? rest + modulus : rest);
}

}  // namespace

SimulatedUnit::SimulatedUnit(const UnitSettings& settings, std::unique_ptr<UnitPlant> plant,
                             UnitOutputListener& output, Nanoseconds start)
    : settings_(settings),
      plant_(std::move(plant)),
      output_(&output),
      now_(start),
      plant_time_(start),
      description_(describe(settings, plant_->joint_count())),
      random_(settings.faults.seed),
      inertial_random_(settings.faults.seed + 1) {
  assert(settings.tick_rate_Hz > 0 && settings.motor_count <= MOTORS_MAX);
  assert(settings.ttl_max_ms > 0 && settings.ttl_max_ms <= 255);
  clock_start_us_ = settings.clock_start_us;
  core_.memory.samples_of_last_stream = UNIT_SAMPLES_UNKNOWN;
  boot(start);
  if (settings_.hand.release != HandSettings::ReleaseTime::kFree) plant_->set_held_by_hand(true);
}

void SimulatedUnit::boot(Nanoseconds at) noexcept {
  boot_at_ = at;
  tick_index_ = 0;
  const unit_memory memory = core_.memory;
  unit_init(&core_, &description_, &memory, static_cast<std::uint32_t>(random_()),
            unit_time_of_tick_us(0));
  motor_output_ = {};
}

void SimulatedUnit::reset(Nanoseconds now) noexcept {
  advance_plant_to(now);
  now_ = std::max(now_, now);
  counters_ = counters();
  ++counters_.resets;
  clock_start_us_ = 0;
  boot(now + settings_.boot_time);
  // An incremental encoder counts from power-up.
  counts_at_boot_ = {};
  for (int k = 0; k < plant_->joint_count(); ++k) {
    const auto channel = static_cast<std::size_t>(k);
    if (!settings_.encoder[channel].absolute) counts_at_boot_[channel] = encoder_counts(k);
  }
}

UnitCounters SimulatedUnit::counters() const noexcept {
  UnitCounters total = counters_;
  const unit_counters& own = core_.counters;
  total.samples_sent += own.samples;
  total.streams += own.streams;
  total.hellos += own.hellos;
  total.commands += own.commands;
  total.commands_rejected += own.commands_rejected;
  total.clears += own.clears;
  total.frames_damaged += own.frames_damaged;
  for (std::size_t bit = 0; bit < total.trips.size(); ++bit) total.trips[bit] += own.trips[bit];
  return total;
}

void SimulatedUnit::set_faults(const UnitFaults& faults) noexcept {
  settings_.faults = faults;
  random_.seed(faults.seed);
}

bool SimulatedUnit::draw_random_event(double probability) noexcept {
  return probability > 0.0 && static_cast<double>(random_() >> 11) * 0x1.0p-53 < probability;
}

// A fast unit clock has shorter seconds than the world.
Nanoseconds SimulatedUnit::true_duration(double unit_s) const noexcept {
  return Nanoseconds(std::llround(unit_s * 1e9 / (1.0 + settings_.clock_error_ppm * kPpm)));
}

Nanoseconds SimulatedUnit::tick_time(std::uint64_t index) const noexcept {
  return boot_at_ + true_duration(static_cast<double>(index) / settings_.tick_rate_Hz);
}

std::uint64_t SimulatedUnit::unit_time_of_tick_us(std::uint64_t index) const noexcept {
  return clock_start_us_ +
         index * 1'000'000ULL / static_cast<std::uint64_t>(settings_.tick_rate_Hz);
}

std::uint64_t SimulatedUnit::unit_time_us(Nanoseconds time) const noexcept {
  const double elapsed_us = static_cast<double>((time - boot_at_).count()) * 1e-3 *
                            (1.0 + settings_.clock_error_ppm * kPpm);
  return clock_start_us_ + static_cast<std::uint64_t>(std::max(0.0, std::floor(elapsed_us)));
}

Nanoseconds SimulatedUnit::next_event_time() const noexcept {
  const Nanoseconds next = tick_time(tick_index_);
  return release_at_ ? std::min(next, *release_at_) : next;
}

void SimulatedUnit::advance_to(Nanoseconds now) noexcept {
  for (Nanoseconds event = next_event_time(); event <= now; event = next_event_time()) {
    now_ = std::max(now_, event);
    advance_plant_to(now_);
    if (release_at_ && *release_at_ <= event) {
      release_at_.reset();
      plant_->set_held_by_hand(false);
      ++counters_.releases;
    } else {
      tick();
    }
  }
  now_ = std::max(now_, now);
}

void SimulatedUnit::advance_plant_to(Nanoseconds time) noexcept {
  if (time <= plant_time_) return;
  plant_->advance(std::chrono::duration<double>(time - plant_time_).count(), motor_output_);
  plant_time_ = time;
  if (hand_motion_.joint >= 0) {
    const double share = std::chrono::duration<double>(time - hand_motion_.begin) /
                         std::chrono::duration<double>(hand_motion_.duration);
    const double eased = 0.5 - 0.5 * std::cos(std::numbers::pi * std::clamp(share, 0.0, 1.0));
    plant_->set_joint_angle(hand_motion_.joint,
                            std::lerp(hand_motion_.from_rad, hand_motion_.to_rad, eased));
    if (share >= 1.0) hand_motion_.joint = -1;
  }
  if (motor_output_ == MotorArray{}) return;
  counters_.longest_unrefreshed_output =
      std::max(counters_.longest_unrefreshed_output, time - last_enabling_command_at_);
}

void SimulatedUnit::turn_by_hand(int joint, double angle_rad, Nanoseconds duration,
                                 Nanoseconds now) noexcept {
  advance_to(now);
  advance_plant_to(now_);
  plant_->set_held_by_hand(true);
  release_at_.reset();
  const double from_rad = plant_->state().angle_rad[static_cast<std::size_t>(joint)];
  hand_motion_ = {joint, from_rad, angle_rad, now_, std::max(duration, Nanoseconds(1))};
}

void SimulatedUnit::release_rig(Nanoseconds now) noexcept {
  advance_to(now);
  advance_plant_to(now_);
  hand_motion_.joint = -1;
  plant_->set_held_by_hand(false);
}

void SimulatedUnit::apply_output() noexcept {
  MotorArray output{};
  for (std::size_t m = 0; m < static_cast<std::size_t>(settings_.motor_count); ++m) {
    output[m] = core_.output.command_q15[m] / 32767.0 * settings_.motor[m].command_max;
  }
  if (output == motor_output_) return;
  advance_plant_to(now_);
  motor_output_ = output;
}

void SimulatedUnit::send_frames() noexcept {
  std::array<std::uint8_t, UNIT_TRANSMIT_SIZE_BYTES> bytes{};
  const std::size_t size_bytes = unit_transmit(&core_, bytes.data(), bytes.size());
  for (std::size_t begin = 0, end = 0; end < size_bytes; ++end) {
    if (bytes[end] != 0) continue;
    output_->on_frame(std::span(bytes).subspan(begin, end + 1 - begin), now_);
    begin = end + 1;
  }
}

void SimulatedUnit::tick() noexcept {
  const std::uint64_t index = tick_index_++;
  ++counters_.ticks;
  if (draw_random_event(settings_.faults.reset)) {
    reset(now_);
    return;
  }
  const std::uint64_t unit_us = unit_time_of_tick_us(index);
  unit_tick(&core_, unit_us);
  apply_output();
  latch();
  TrueState truth{now_,
                  unit_us,
                  {},
                  plant_->state(),
                  latched_counts_,
                  motor_output_,
                  is_tripped(),
                  plant_->is_held_by_hand()};
  if (unit_sample_is_due(&core_)) {
    truth.sample_sequence = core_.stream_samples;
    send_sample(unit_us);
  }
  send_frames();
  output_->on_true_state(truth);
}

void SimulatedUnit::receive(std::span<const std::uint8_t> bytes, Nanoseconds now) noexcept {
  advance_to(now);
  if (now < boot_at_) return;  // still starting: ignores input
  const std::uint64_t unit_us = unit_time_us(now_);
  for (const std::uint8_t byte : bytes) {
    const unit_counters before = core_.counters;
    unit_receive(&core_, byte, unit_us);
    count_received_frames(before);
    apply_output();
    if (unit_sample_is_due(&core_)) {  // host-paced
      advance_plant_to(now_);
      latch();
      send_sample(unit_us);
      apply_output();
    }
    send_frames();
  }
}

void SimulatedUnit::count_received_frames(const unit_counters& before) noexcept {
  const unit_counters& after = core_.counters;
  if (after.streams != before.streams) hold_rig_for_stream();
  if (after.commands == before.commands) return;
  if (after.commands_rejected == before.commands_rejected && core_.ttl_runs)
    last_enabling_command_at_ = now_;
  if (settings_.hand.release == HandSettings::ReleaseTime::kAfterFirstCommand &&
      core_.is_streaming && plant_->is_held_by_hand() && !release_at_) {
    release_at_ = now_ + settings_.hand.hold_time;
  }
}

// Each stream is a new experiment: the hand restores and holds the initial state.
void SimulatedUnit::hold_rig_for_stream() noexcept {
  if (settings_.hand.release == HandSettings::ReleaseTime::kFree) return;
  advance_plant_to(now_);
  plant_->restore_initial_state();
  plant_->set_held_by_hand(true);
  release_at_.reset();
  if (settings_.hand.release == HandSettings::ReleaseTime::kAfterStreamStart) {
    release_at_ = now_ + settings_.hand.hold_time;
  }
}

std::int64_t SimulatedUnit::encoder_counts(int channel) const noexcept {
  const auto k = static_cast<std::size_t>(channel);
  const EncoderSettings& encoder = settings_.encoder[k];
  const std::size_t joint = encoder.joint < 0 ? k : static_cast<std::size_t>(encoder.joint);
  const double scale =
      encoder.counts_per_rad > 0.0 ? encoder.counts_per_rad : encoder.counts_per_turn / kTurn_rad;
  const double angle_rad = plant_->encoder_angle(static_cast<int>(joint)) - encoder.zero_offset_rad;
  const double drift = encoder.drift_counts_per_s * std::chrono::duration<double>(now_).count();
  return std::llround(angle_rad * encoder.count_factor * scale + drift) - counts_at_boot_[k];
}

// Reads the encoders; a channel with a dropout keeps its last count.
void SimulatedUnit::latch() noexcept {
  latch_ = {};
  for (int k = 0; k < plant_->joint_count(); ++k) {
    const auto channel = static_cast<std::size_t>(k);
    const EncoderSettings& encoder = settings_.encoder[channel];
    const auto bit = static_cast<std::uint16_t>(1U << channel);
    if ((settings_.faults.dropout_channels & bit) != 0 &&
        draw_random_event(settings_.faults.channel_dropout)) {
      ++counters_.dropouts;
      const auto longest = static_cast<std::uint64_t>(
          std::max<std::int64_t>(settings_.faults.dropout_max.count(), 1));
      dropout_until_[channel] = now_ + Nanoseconds(static_cast<std::int64_t>(random_() % longest));
    }
    if (now_ >= dropout_until_[channel]) {
      const auto turn = [&](std::int64_t counts) {
        return std::floor(static_cast<double>(counts + counts_at_boot_[channel]) /
                          std::max(1U, encoder.counts_per_turn));
      };
      const std::int64_t before = latched_counts_[channel];
      latched_counts_[channel] = encoder_counts(k);
      latch_.encoders_valid |= bit;
      if (encoder.index && turn(before) != turn(latched_counts_[channel])) {
        latch_.index_passed |= bit;
      }
    }
    latch_.encoder_counts[channel] = wrapped(latched_counts_[channel], encoder.modulus);
  }
}

void SimulatedUnit::send_sample(std::uint64_t unit_us) noexcept {
  const unsigned due = unit_inertial_due(&core_);
  for (std::size_t k = 0; k < static_cast<std::size_t>(settings_.inertial_count); ++k) {
    if (((due >> k) & 1U) == 0) continue;
    const InertialSensorSettings& sensor = settings_.inertial[k];
    const auto counts =
        read(sensor, plant_->compute_body_motion(sensor.joint, motor_output_), inertial_random_);
    if (sensor.dropout > 0.0 &&
        static_cast<double>(inertial_random_() >> 11) * 0x1.0p-53 < sensor.dropout) {
      continue;
    }
    std::copy(counts.begin(), counts.end(), std::begin(latch_.inertial[k]));
    latch_.inertial_read = static_cast<std::uint8_t>(latch_.inertial_read | (1U << k));
  }
  unit_send_sample(&core_, &latch_, unit_us);
}

}  // namespace firmware_iface::sim
