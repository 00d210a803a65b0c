#include "firmware_iface/sim/simulated_unit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/sample_compact.h"

// Time, plant and output. What the unit does with messages is in unit_messages.cpp.

namespace firmware_iface::sim {
namespace {

constexpr double kPpm = 1e-6;

}  // namespace

SimulatedUnit::SimulatedUnit(const UnitSettings& settings, Plant plant, UnitOutput& output,
                             Nanoseconds start)
    : settings_(settings),
      plant_(std::move(plant)),
      output_(&output),
      now_(start),
      plant_time_(start),
      random_(settings.faults.seed),
      inertial_random_(settings.faults.seed + 1) {
  assert(settings.tick_rate_Hz > 0 && settings.command_max_V > 0.0);
  assert(settings.ttl_max_ms > 0 && settings.ttl_max_ms <= 255);
  clock_start_us_ = settings.clock_start_us;
  boot(start);
  if (settings_.hand.release != OperatorSettings::Release::kFree) plant_.set_held(true);
}

void SimulatedUnit::boot(Nanoseconds at) noexcept {
  boot_at_ = at;
  tick_index_ = 0;
  ++boot_count_;
  fault_flags_ = FAULT_BOOT;
  ++counters_.trips[0];
  decoder_.reset();
  damaged_at_boot_ = decoder_.counters().damaged();
  streaming_ = false;
  session_ = false;
  configured_.reset();
  pending_.reset();
  in_force_ = {};
  command_seen_ = driving_ = false;
  output_V_ = 0.0;
  output_q15_ = 0;
  ttl_ends_.reset();
  clear_token_ = cleared_token_ = 0;
}

void SimulatedUnit::reset(Nanoseconds now) noexcept {
  move_plant_to(now);
  now_ = std::max(now_, now);
  ++counters_.resets;
  end_stream();
  boot(now + settings_.boot_time);
  clock_start_us_ = 0;
  // An incremental encoder knows only what happened since power-up.
  counts_at_boot_ = {};
  for (int k = 0; k < plant_.joint_count(); ++k) {
    counts_at_boot_[static_cast<std::size_t>(k)] = encoder_counts(k);
  }
}

void SimulatedUnit::set_faults(const UnitFaults& faults) noexcept {
  settings_.faults = faults;
  random_.seed(faults.seed);
}

bool SimulatedUnit::happens(double probability) noexcept {
  return probability > 0.0 && static_cast<double>(random_() >> 11) * 0x1.0p-53 < probability;
}

// The unit's second is shorter than the world's when its clock is fast.
Nanoseconds SimulatedUnit::world_duration(double unit_s) const noexcept {
  return Nanoseconds(std::llround(unit_s * 1e9 / (1.0 + settings_.clock_error_ppm * kPpm)));
}

Nanoseconds SimulatedUnit::tick_time(std::uint64_t index) const noexcept {
  return boot_at_ + world_duration(static_cast<double>(index) / settings_.tick_rate_Hz);
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

Nanoseconds SimulatedUnit::next_event() const noexcept {
  Nanoseconds next = tick_time(tick_index_);
  if (ttl_ends_) next = std::min(next, *ttl_ends_);
  if (release_at_) next = std::min(next, *release_at_);
  return next;
}

void SimulatedUnit::advance_to(Nanoseconds now) noexcept {
  for (Nanoseconds event = next_event(); event <= now; event = next_event()) {
    now_ = std::max(now_, event);
    move_plant_to(now_);
    if (release_at_ && *release_at_ <= event) {
      release_at_.reset();
      plant_.set_held(false);
      ++counters_.releases;
    } else if (ttl_ends_ && *ttl_ends_ <= event) {
      trip(FAULT_TTL, ttl_ms_);
    } else {
      tick();
    }
  }
  now_ = std::max(now_, now);
}

void SimulatedUnit::move_plant_to(Nanoseconds time) noexcept {
  if (time <= plant_time_) return;
  plant_.advance(std::chrono::duration<double>(time - plant_time_).count(), output_V_);
  plant_time_ = time;
  if (output_V_ == 0.0) return;
  counters_.unattended_max = std::max(counters_.unattended_max, time - attended_at_);
}

void SimulatedUnit::tick() noexcept {
  const std::uint64_t index = tick_index_++;
  ++counters_.ticks;
  if (happens(settings_.faults.reset)) {
    reset(now_);
    return;
  }
  put_command_in_force();
  latch();
  const std::uint64_t unit_us = unit_time_of_tick_us(index);
  Truth truth{now_,         unit_us,         {}, plant_.state(), latched_counts_, output_V_,
              is_tripped(), plant_.is_held()};
  const bool due = streaming_ && (stream_flags_ & STREAM_HOST_PACED) == 0 &&
                   index >= stream_start_tick_ &&
                   (index - stream_start_tick_) % static_cast<std::uint64_t>(divider_) == 0;
  if (due) {
    truth.sample_sequence = stream_samples_;
    send_sample(unit_us);
  }
  output_->on_truth(truth);
}

void SimulatedUnit::put_command_in_force() noexcept {
  if (!pending_) return;
  in_force_ = *pending_;
  pending_.reset();
  command_seen_ = true;
  driving_ = !is_tripped() && (in_force_.flags & COMMAND_ENABLE) != 0;
  output_q15_ = driving_ ? converted(in_force_.command_q15) : std::int16_t{0};
  output_V_ = output_q15_ / 32767.0 * settings_.command_max_V;
}

// A converter takes the upper bits of a command: samples tell its output exactly.
std::int16_t SimulatedUnit::converted(std::int16_t command_q15) const noexcept {
  if (settings_.command_bits <= 0) return command_q15;
  const double step = std::ldexp(1.0, 16 - settings_.command_bits);
  const double last = std::ldexp(1.0, settings_.command_bits - 1) - 1.0;
  return static_cast<std::int16_t>(step * std::clamp(std::round(command_q15 / step), -last, last));
}

std::int64_t SimulatedUnit::encoder_counts(int channel) const noexcept {
  const auto k = static_cast<std::size_t>(channel);
  const double turns =
      (plant_.state().angle_rad[k] - settings_.zero_offset_rad[k]) / (2.0 * std::numbers::pi);
  return std::llround(turns * settings_.counts_per_turn[k]) - counts_at_boot_[k];
}

// Reads the encoders; a channel that has dropped out keeps its last count.
void SimulatedUnit::latch() noexcept {
  for (int k = 0; k < plant_.joint_count(); ++k) {
    const auto channel = static_cast<std::size_t>(k);
    const bool can_drop = ((settings_.faults.dropout_channels >> k) & 1) != 0;
    if (can_drop && happens(settings_.faults.channel_dropout)) {
      ++counters_.dropouts;
      const auto longest = static_cast<std::uint64_t>(
          std::max<std::int64_t>(settings_.faults.dropout_max.count(), 1));
      dropout_until_[channel] = now_ + Nanoseconds(static_cast<std::int64_t>(random_() % longest));
    }
    if (now_ >= dropout_until_[channel]) latched_counts_[channel] = encoder_counts(k);
  }
}

void SimulatedUnit::send_sample(std::uint64_t unit_us) noexcept {
  sample_report report{};
  report.sequence = static_cast<std::uint16_t>(stream_samples_ & 0xFFFFU);
  report.tick_us = static_cast<std::uint32_t>(unit_us & 0xFFFFFFFFU);
  report.command_q15 = output_q15_;
  report.command_sequence = in_force_.sequence;
  report.channel_count = static_cast<std::uint8_t>(plant_.joint_count());
  for (std::size_t k = 0; k < report.channel_count; ++k) {
    if (now_ >= dropout_until_[k]) {
      report.channels_valid = static_cast<std::uint8_t>(report.channels_valid | (1U << k));
    }
    report.encoder_counts[k] =
        static_cast<std::int32_t>(static_cast<std::uint64_t>(latched_counts_[k]) & 0xFFFFFFFFU);
  }
  report.status = static_cast<std::uint8_t>((is_tripped() ? STATUS_TRIPPED : 0) |
                                            (driving_ ? STATUS_DRIVING : 0) |
                                            (command_seen_ ? STATUS_COMMAND_SEEN : 0));
  report.fault_flags = fault_flags_;
  report.error_count =
      static_cast<std::uint8_t>((decoder_.counters().damaged() - damaged_at_boot_) & 0xFFU);
  std::array<std::uint8_t, SAMPLE_SIZE_BYTES_MAX> message{};
  const std::size_t size_bytes = (stream_flags_ & STREAM_COMPACT) != 0
                                     ? sample_compact_encode(&report, message.data())
                                     : sample_report_encode(&report, message.data());
  send({message.data(), size_bytes});
  send_inertial();
  ++stream_samples_;
  ++counters_.samples_sent;
}

// Those that are due with this sample.
void SimulatedUnit::send_inertial() noexcept {
  inertial_report report{};
  report.sequence = static_cast<std::uint16_t>(stream_samples_ & 0xFFFFU);
  for (std::size_t k = 0; k < static_cast<std::size_t>(settings_.inertial_count); ++k) {
    if (inertial_divider_[k] == 0 || stream_samples_ % inertial_divider_[k] != 0) continue;
    const InertialSettings& sensor = settings_.inertial[k];
    const auto counts = read(sensor, plant_.body_motion(sensor.joint, output_V_), inertial_random_);
    if (sensor.dropout > 0.0 &&
        static_cast<double>(inertial_random_() >> 11) * 0x1.0p-53 < sensor.dropout) {
      continue;
    }
    std::copy(counts.begin(), counts.end(), std::begin(report.counts[k]));
    report.sensors = static_cast<std::uint8_t>(report.sensors | (1U << k));
  }
  if (report.sensors == 0) return;
  std::array<std::uint8_t, INERTIAL_SIZE_BYTES_MAX> message{};
  send({message.data(), inertial_report_encode(&report, message.data())});
}

void SimulatedUnit::send(std::span<const std::uint8_t> message) noexcept {
  std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> frame{};
  const std::size_t size_bytes =
      frame_encode(message.data(), message.size(), frame.data(), frame.size());
  assert(size_bytes > 0);
  output_->on_frame({frame.data(), size_bytes}, now_);
}

void SimulatedUnit::trip(std::uint8_t cause, std::int32_t detail) noexcept {
  move_plant_to(now_);
  output_V_ = 0.0;
  output_q15_ = 0;
  driving_ = false;
  ttl_ends_.reset();
  if (pending_) pending_->flags = 0;  // it came before the trip and must not act after a CLEAR
  const bool news = (fault_flags_ & cause) == 0;
  fault_flags_ = static_cast<std::uint8_t>(fault_flags_ | cause);
  if (!news) return;
  for (std::size_t bit = 0; bit < counters_.trips.size(); ++bit) {
    if (((cause >> bit) & 1) != 0) ++counters_.trips[bit];
  }
  const fault_report report{fault_flags_, cause,
                            static_cast<std::uint16_t>((stream_samples_ - 1) & 0xFFFFU),
                            static_cast<std::uint32_t>(unit_time_us(now_) & 0xFFFFFFFFU), detail};
  std::array<std::uint8_t, FAULT_SIZE_BYTES> message{};
  fault_report_encode(&report, message.data());
  send(message);
}

}  // namespace firmware_iface::sim
