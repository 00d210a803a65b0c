// What the simulated unit does with the messages of its host.

#include <algorithm>
#include <cmath>

#include "firmware_iface/sim/simulated_unit.hpp"
#include "firmware_iface/wire/clear.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/message_type.h"

namespace firmware_iface::sim {

void SimulatedUnit::receive(std::span<const std::uint8_t> bytes, Nanoseconds now) noexcept {
  advance_to(now);
  if (now < boot_at_) return;  // still starting: deaf
  for (const std::uint8_t byte : bytes) {
    if (decoder_.push(byte)) handle_message(decoder_.message());
  }
}

void SimulatedUnit::handle_message(std::span<const std::uint8_t> message) noexcept {
  hello_head hello;
  configure_request configure;
  command_request command;
  const std::uint8_t* data = message.data();
  switch (data[0]) {
    case MESSAGE_HELLO:
      if (hello_head_decode(data, message.size(), &hello)) handle_hello(hello);
      break;
    case MESSAGE_CONFIGURE:
      if (configure_request_decode(data, message.size(), &configure)) handle_configure(configure);
      break;
    case MESSAGE_CLEAR:
      handle_clear(message);
      break;
    case MESSAGE_COMMAND:
      if (command_request_decode(data, message.size(), &command)) handle_command(command);
      break;
    case MESSAGE_COMMAND_COMPACT:
      if (command_compact_decode(data, message.size(), &command)) handle_command(command);
      break;
    default:
      break;  // a message of the unit's own, e.g. echoed by a shorted line
  }
}

void SimulatedUnit::end_stream() noexcept {
  if (streaming_) samples_of_last_stream_ = stream_samples_;
  streaming_ = false;
}

void SimulatedUnit::handle_hello(const hello_head& head) noexcept {
  ++counters_.hellos;
  if (driving_ || ttl_ends_) trip(FAULT_SESSION, 0);
  end_stream();
  session_ = true;
  configured_.reset();
  hello_reply reply{};
  reply.protocol_version = PROTOCOL_VERSION;
  reply.layout_hash = LAYOUT_HASH;
  reply.nonce = head.nonce;
  reply.unit_id = settings_.unit_id;
  reply.boot_count = boot_count_;
  reply.channel_count = static_cast<std::uint8_t>(plant_.joint_count());
  reply.tick_rate_Hz = static_cast<std::uint16_t>(settings_.tick_rate_Hz);
  reply.command_max_mV = static_cast<std::uint16_t>(std::lround(settings_.command_max_V * 1e3));
  reply.ttl_max_ms = static_cast<std::uint8_t>(settings_.ttl_max_ms);
  reply.capabilities = UNIT_CAN_COMPACT | UNIT_CAN_HOST_PACED;
  reply.fault_flags = fault_flags_;
  reply.stream_count = stream_count_;
  reply.samples_sent = samples_of_last_stream_;
  for (std::size_t k = 0; k < reply.channel_count; ++k) {
    reply.counts_per_turn[k] = settings_.counts_per_turn[k];
  }
  reply.inertial_count = static_cast<std::uint8_t>(settings_.inertial_count);
  for (std::size_t k = 0; k < settings_.inertial.size(); ++k) {
    if (static_cast<int>(k) >= settings_.inertial_count) break;
    reply.inertial_ticks[k] = static_cast<std::uint8_t>(settings_.inertial[k].divider);
  }
  reply.configuration_hash = hello_reply_configuration_hash(&reply);
  std::array<std::uint8_t, HELLO_REPLY_SIZE_BYTES> message{};
  hello_reply_encode(&reply, message.data());
  send(message);
}

bool SimulatedUnit::can_do(const configure_request& request) const noexcept {
  constexpr int kKnownFlags = STREAM_ON | STREAM_COMPACT | STREAM_HOST_PACED;
  if ((request.flags & ~kKnownFlags) != 0 || request.divider == 0) return false;
  for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    const int ticks = request.inertial_divider[k] * request.divider;
    if (ticks == 0) continue;
    if (static_cast<int>(k) >= settings_.inertial_count) return false;
    if (ticks % settings_.inertial[k].divider != 0) return false;
  }
  return true;
}

void SimulatedUnit::handle_configure(const configure_request& request) noexcept {
  std::array<std::uint8_t, CONFIGURE_REPLY_SIZE_BYTES> message{};
  const bool repeated = configured_ && configured_->sequence == request.sequence;
  if (!repeated) {
    configure_answer_ = {
        request.sequence, CONFIGURE_DONE, stream_flags_, static_cast<std::uint8_t>(divider_), 0, 0,
        stream_count_};
    if (!session_) {
      configure_answer_.result = CONFIGURE_NO_SESSION;
    } else if (!can_do(request)) {
      configure_answer_.result = CONFIGURE_UNSUPPORTED;
    } else {
      change_stream(request);
      configured_ = request;
    }
  }
  configure_reply_encode(&configure_answer_, message.data());
  send(message);
}

void SimulatedUnit::change_stream(const configure_request& request) noexcept {
  if (driving_ || ttl_ends_) trip(FAULT_SESSION, 0);
  if (streaming_) configure_answer_.samples_sent = stream_samples_;
  end_stream();
  streaming_ = (request.flags & STREAM_ON) != 0;
  configure_answer_.flags = stream_flags_ = request.flags;
  configure_answer_.divider = request.divider;
  divider_ = request.divider;
  std::copy(std::begin(request.inertial_divider), std::end(request.inertial_divider),
            inertial_divider_.begin());
  stream_start_tick_ = tick_index_;
  configure_answer_.start_tick_us =
      static_cast<std::uint32_t>(unit_time_of_tick_us(tick_index_) & 0xFFFFFFFFU);
  if (!streaming_) return;
  ++counters_.streams;
  configure_answer_.stream_count = ++stream_count_;
  stream_samples_ = 0;
  command_seen_ = false;
  hold_for_stream();
}

// Each stream is a new experiment: the hand puts the rig back where it started, and holds it.
void SimulatedUnit::hold_for_stream() noexcept {
  if (settings_.hand.release == OperatorSettings::Release::kFree) return;
  move_plant_to(now_);
  plant_.return_to_start();
  plant_.set_held(true);
  release_at_.reset();
  if (settings_.hand.release == OperatorSettings::Release::kAfterStreamStart) {
    release_at_ = now_ + settings_.hand.hold_time;
  }
}

void SimulatedUnit::handle_clear(std::span<const std::uint8_t> message) noexcept {
  clear_request request;
  if (!clear_request_decode(message.data(), message.size(), &request)) return;
  clear_reply reply{request.step, CLEAR_DONE, request.token, 0};
  if (request.step == 1) {
    clear_token_ = static_cast<std::uint16_t>(1 + random_() % 0xFFFFU);
    clear_until_ = now_ + world_duration(1e-3 * int{CLEAR_WINDOW_MS});
    reply.token = clear_token_;
  } else if (request.step != 2) {
    reply.result = CLEAR_WRONG_STEP;
  } else if (clear_token_ != 0 && request.token == clear_token_ && now_ <= clear_until_) {
    ++counters_.clears;
    fault_flags_ = 0;
    cleared_token_ = clear_token_;
    clear_token_ = 0;
  } else if (request.token == 0 || request.token != cleared_token_ || is_tripped()) {
    reply.result = CLEAR_WRONG_TOKEN;
  }
  reply.fault_flags = fault_flags_;
  std::array<std::uint8_t, CLEAR_REPLY_SIZE_BYTES> out{};
  clear_reply_encode(&reply, out.data());
  send(out);
}

void SimulatedUnit::handle_command(const command_request& request) noexcept {
  ++counters_.commands;
  if ((request.flags & COMMAND_TRIP) != 0) {
    trip(FAULT_HOST, request.sequence);
  } else if ((request.flags & COMMAND_ENABLE) != 0 &&
             (request.ttl_ms == 0 || request.ttl_ms > settings_.ttl_max_ms)) {
    trip(FAULT_COMMAND, request.ttl_ms);
    return;
  }
  pending_ = request;
  if (is_tripped()) pending_->flags = 0;
  ttl_ends_.reset();
  if ((pending_->flags & COMMAND_ENABLE) != 0) {
    attended_at_ = now_;
    ttl_ms_ = request.ttl_ms;
    ttl_ends_ = now_ + world_duration(request.ttl_ms * 1e-3);
  }
  if (settings_.hand.release == OperatorSettings::Release::kAfterFirstCommand && streaming_ &&
      plant_.is_held() && !release_at_) {
    release_at_ = now_ + settings_.hand.hold_time;
  }
  if (streaming_ && (stream_flags_ & STREAM_HOST_PACED) != 0) {
    move_plant_to(now_);
    put_command_in_force();
    latch();
    send_sample(unit_time_us(now_));
  }
}

}  // namespace firmware_iface::sim
