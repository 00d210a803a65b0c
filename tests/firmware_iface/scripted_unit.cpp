#include "tests/firmware_iface/scripted_unit.hpp"

#include <utility>

#include "firmware_iface/wire/message_type.h"

namespace scripted_unit {

using namespace firmware_iface;
using test_support::message_of;

ScriptedUnit::ScriptedUnit() {
  facts.protocol_version = PROTOCOL_VERSION;
  facts.layout_hash = LAYOUT_HASH;
  facts.encoder_count = 1;
  facts.motor_count = 1;
  facts.tick_rate_Hz = 1000;
  facts.ttl_max_ms = 80;
  facts.capabilities = UNIT_CAN_COMPACT | UNIT_CAN_HOST_PACED;
  encoder.fill({ENCODER_COUNTER, 0, 4096, 0});
  motor.fill({MOTOR_VOLT, 0, 10'000, 0});
  facts.samples_sent = 0xFFFFFFFFU;
}

void ScriptedUnit::send(std::span<const std::uint8_t> message) {
  const auto frame = test_support::frame_of(message);
  to_host_.insert(to_host_.end(), frame.begin(), frame.end());
}

void ScriptedUnit::send_damaged_frame() {
  auto frame = test_support::frame_of(message_of(sample(0), shape()));
  frame[frame.size() / 2] ^= 0x80U;
  to_host_.insert(to_host_.end(), frame.begin(), frame.end());
}

sample_report ScriptedUnit::sample(std::uint64_t sequence) {
  sample_report report{};
  report.sequence = static_cast<std::uint16_t>(sequence & 0xFFFFU);
  report.tick_us = static_cast<std::uint32_t>((1000 * sequence) & 0xFFFFFFFFU);
  report.encoders_valid = 1;
  return report;
}

IoResult ScriptedUnit::read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept {
  if (!open_) return {IoStatus::kClosed, 0};
  if (!flood.empty() && to_host_.empty()) {
    time_.sleep_until(time_.now() + std::chrono::milliseconds(1));
    to_host_.insert(to_host_.end(), flood.begin(), flood.end());
  }
  if (to_host_.empty()) {
    time_.sleep_until(deadline);
    return {IoStatus::kTimeout, 0};
  }
  std::size_t size_bytes = 0;
  for (; size_bytes < buffer.size() && !to_host_.empty(); ++size_bytes) {
    buffer[size_bytes] = to_host_.front();
    to_host_.pop_front();
  }
  sent_size_bytes += size_bytes;
  return {IoStatus::kOk, size_bytes};
}

IoResult ScriptedUnit::write(std::span<const std::uint8_t> bytes) noexcept {
  if (!open_) return {IoStatus::kClosed, 0};
  if (std::exchange(refuses_next_write, false)) return {IoStatus::kTimeout, 0};
  for (const std::uint8_t byte : bytes) {
    if (decoder_.push(byte)) take(decoder_.message());
  }
  return {IoStatus::kOk, bytes.size()};
}

void ScriptedUnit::take(std::span<const std::uint8_t> message) {
  hello_head hello{};
  configure_request configure{};
  clear_request clear{};
  command_request command{};
  describe_request describe{};
  if (hello_head_decode(message.data(), message.size(), &hello)) {
    ++hello_count;
    facts.nonce = hello.nonce;
    facts.configuration_hash = unit_configuration_hash(&facts, encoder.data(), motor.data());
    hello_reply answer = facts;
    if (alter_hello) alter_hello(answer);
    test_support::WireBytes bytes = message_of(answer);
    if (alter_hello_bytes) alter_hello_bytes(bytes);
    send(bytes);
  } else if (describe_request_decode(message.data(), message.size(), &describe)) {
    if (!answers_describe) return;
    // Late replies about the same index of the other kind, and about the next index.
    const auto other = static_cast<std::uint8_t>(PART_ENCODER + PART_MOTOR - describe.part);
    const auto next = static_cast<std::uint8_t>(describe.index + 1);
    send(message_of(describe_reply{other, describe.index, {ENCODER_COUNTER, 0, 1, 0}}));
    send(message_of(describe_reply{describe.part, next, {ENCODER_COUNTER, 0, 1, 0}}));
    send(message_of(describe_reply{
        describe.part, describe.index,
        describe.part == PART_MOTOR ? motor.at(describe.index) : encoder.at(describe.index)}));
  } else if (configure_request_decode(message.data(), message.size(), &configure)) {
    configures.push_back(configure);
    if (!answers_configure) return;
    configured.sequence = configure.sequence;
    configured.flags = configure.flags;
    configured.divider = configure.divider;
    send(message_of(configured));
  } else if (clear_request_decode(message.data(), message.size(), &clear)) {
    clears.push_back(clear);
    if (on_clear) on_clear(clear);
  } else if (command_request_decode(message.data(), message.size(), facts.motor_count, &command) ||
             command_compact_decode(message.data(), message.size(), &command)) {
    commands.push_back(command);
  }
}

}  // namespace scripted_unit
