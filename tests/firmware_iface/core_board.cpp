#include "tests/firmware_iface/core_board.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "firmware_iface/wire/message_type.h"
#include "tests/support/wire_messages.hpp"

namespace firmware_iface {

unit_description usual_board() {
  unit_description board{};
  board.unit_id = 0x0123456789ABCDEF;
  board.tick_rate_Hz = 1000;
  board.ttl_max_ms = 100;
  board.capabilities = UNIT_CAN_COMPACT | UNIT_CAN_HOST_PACED | UNIT_CAN_MARKS;
  board.encoder_count = 2;
  board.encoder[0] = {ENCODER_COUNTER, ENCODER_HAS_INDEX, 4096, 0};
  board.encoder[1] = {ENCODER_ABSOLUTE, ENCODER_HAS_HOME, 8192, 8192};
  board.motor_count = 1;
  board.motor[0] = {MOTOR_VOLT, 0, 10'000, 0};
  board.command_bits = 12;
  board.inertial_count = 1;
  board.inertial_ticks[0] = 10;
  return board;
}

CoreBoard::CoreBoard(const unit_description& description, BoardFault fault)
    : description_(description), fault_(std::move(fault)) {
  const unit_memory memory{0, 0, UNIT_SAMPLES_UNKNOWN};
  unit_init(&core_, &description_, &memory, 20260101, 0);
}

// Unit clock, which runs on between ticks.
std::uint64_t CoreBoard::unit_us() const {
  return static_cast<std::uint64_t>(
      std::floor(static_cast<double>(now_.count()) * 1e-3 / fault_.tick_length));
}

// Advances time to the next tick, or to the deadline if that is earlier.
bool CoreBoard::tick_by(Nanoseconds deadline) {
  const double period_ns = 1e9 / description_.tick_rate_Hz * fault_.tick_length;
  const Nanoseconds next(std::llround(std::ceil(static_cast<double>(ticks_) * period_ns)));
  now_ = std::max(now_, std::min(next, deadline));
  if (next > deadline) return false;
  tick();
  return true;
}

void CoreBoard::let_pass(Nanoseconds duration) {
  const Nanoseconds until = now_ + duration;
  while (tick_by(until)) {
  }
}

IoResult CoreBoard::read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept {
  if (fault_.on_read) fault_.on_read(++reads_);
  while (is_open_ && out_.empty()) {
    if (!tick_by(deadline)) return {IoStatus::kTimeout, 0};
  }
  if (!is_open_) return {IoStatus::kClosed, 0};
  const std::size_t size_bytes = std::min(buffer.size(), out_.size());
  std::copy_n(out_.begin(), size_bytes, buffer.begin());
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(size_bytes));
  return {IoStatus::kOk, size_bytes};
}

IoResult CoreBoard::write(std::span<const std::uint8_t> bytes) noexcept {
  if (!is_open_) return {IoStatus::kClosed, 0};
  for (const std::uint8_t byte : bytes) receive(byte);
  return {IoStatus::kOk, bytes.size()};
}

void CoreBoard::receive(std::uint8_t byte) {
  if (byte != 0) {
    frame_.push_back(byte);
    return;
  }
  std::vector<std::uint8_t> frame = std::exchange(frame_, {});
  if (fault_.before_frame && !fault_.before_frame(core_, frame)) return;
  frame.push_back(0);
  FrameDecoder decoder;
  bool is_good = false;
  for (const std::uint8_t each : frame) is_good = decoder.push(each);
  std::vector<std::uint8_t> message;
  if (is_good) {
    message.assign(decoder.message().begin(), decoder.message().end());
    const std::vector<std::uint8_t> before = message;
    if (fault_.before_message) fault_.before_message(core_, message);
    if (message != before) {
      frame = test_support::frame_of(message);
    }
  }
  for (const std::uint8_t each : frame) unit_receive(&core_, each, unit_us());
  if (is_good && fault_.after_message) fault_.after_message(core_, message);
  if (unit_sample_is_due(&core_)) send_sample();  // host-paced
  send_messages();
}

void CoreBoard::tick() {
  const std::uint64_t tick_us = ticks_ * 1'000'000U / description_.tick_rate_Hz;
  ++ticks_;
  if (fault_.forgets_at_tick) frame_.clear();
  unit_tick(&core_, tick_us);
  if (fault_.after_tick) fault_.after_tick(core_);
  for (const std::int16_t q15 : core_.output.command_q15) {
    output_q15_max_ = std::max(output_q15_max_, std::abs(int{q15}));
  }
  if (unit_sample_is_due(&core_)) send_sample();
  send_messages();
}

void CoreBoard::send_sample() {
  unit_latch latch{};
  latch.encoders_valid = static_cast<std::uint16_t>((1U << description_.encoder_count) - 1U);
  latch.inertial_read = unit_inertial_due(&core_);
  if (fault_.on_latch) fault_.on_latch(latch);
  unit_send_sample(&core_, &latch, unit_us());
}

void CoreBoard::send_messages() {
  std::array<std::uint8_t, UNIT_TRANSMIT_SIZE_BYTES> bytes{};
  const std::size_t size_bytes = unit_transmit(&core_, bytes.data(), bytes.size());
  for (const std::uint8_t byte : std::span(bytes).first(size_bytes)) {
    if (!to_host_.push(byte)) continue;
    std::vector<std::uint8_t> message(to_host_.message().begin(), to_host_.message().end());
    if (fault_.before_sending && !fault_.before_sending(core_, message)) continue;
    const auto frame = test_support::frame_of(message);
    out_.insert(out_.end(), frame.begin(), frame.end());
    if (message[0] != MESSAGE_CONFIGURE_REPLY || message[3] == CONFIGURE_DONE) continue;
    out_.insert(out_.end(), fault_.banner.begin(), fault_.banner.end());
  }
}

}  // namespace firmware_iface
