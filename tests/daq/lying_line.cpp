#include "tests/daq/lying_line.hpp"

#include <algorithm>
#include <array>

#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/message_type.h"

namespace daq {
namespace {

using firmware_iface::IoResult;
using firmware_iface::IoStatus;

std::vector<std::uint8_t> frame_of(std::span<const std::uint8_t> message) {
  std::vector<std::uint8_t> frame(FRAME_SIZE_BYTES_MAX);
  frame.resize(frame_encode(message.data(), message.size(), frame.data(), frame.size()));
  return frame;
}

}  // namespace

void LyingLine::take_from_unit(std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) {
    if (!from_unit_.push(byte)) continue;
    const auto message = from_unit_.message();
    std::vector<std::uint8_t> altered(message.begin(), message.end());
    sample_report report;
    Nanoseconds until = now();
    if (sample_report_decode(message.data(), message.size(), shape_, &report)) {
      if (on_sample) on_sample(report);
      altered.resize(SAMPLE_SIZE_BYTES_MAX);
      altered.resize(sample_report_encode(&report, shape_, altered.data()));
      if (sample_delay) until += sample_delay(now());
    }
    to_host_.push_back({until, frame_of(altered)});
  }
}

void LyingLine::pass_commands_due() {
  while (!to_unit_.empty() && to_unit_.front().until <= now()) {
    inner_.write(to_unit_.front().bytes);
    to_unit_.pop_front();
  }
}

IoResult LyingLine::read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept {
  if (!on_sample && !sample_delay && !command_delay && to_host_.empty() && to_unit_.empty()) {
    return inner_.read_some(buffer, deadline);
  }
  for (;;) {
    pass_commands_due();
    if (!to_host_.empty() && to_host_.front().until <= now()) {
      const std::vector<std::uint8_t> bytes = std::move(to_host_.front().bytes);
      to_host_.pop_front();
      std::copy(bytes.begin(), bytes.end(), buffer.begin());
      return {IoStatus::kOk, bytes.size()};
    }
    Nanoseconds until = deadline;
    if (!to_host_.empty()) until = std::min(until, to_host_.front().until);
    if (!to_unit_.empty()) until = std::min(until, to_unit_.front().until);
    std::array<std::uint8_t, 512> read{};
    const IoResult result = inner_.read_some(read, until);
    take_from_unit(std::span(read).first(result.size_bytes));
    if (result.status == IoStatus::kClosed) return {IoStatus::kClosed, 0};
    const bool ready = !to_host_.empty() && to_host_.front().until <= now();
    if (!ready && result.size_bytes == 0 && now() >= deadline) return {IoStatus::kTimeout, 0};
  }
}

IoResult LyingLine::write(std::span<const std::uint8_t> bytes) noexcept {
  if (!on_command && !command_delay && to_unit_.empty()) return inner_.write(bytes);
  for (const std::uint8_t byte : bytes) {
    if (!from_host_.push(byte)) continue;
    const auto message = from_host_.message();
    std::vector<std::uint8_t> altered(message.begin(), message.end());
    command_request request;
    Nanoseconds until = now();
    if (command_request_decode(message.data(), message.size(), shape_.motor_count, &request)) {
      if (on_command) on_command(request);
      altered.resize(COMMAND_SIZE_BYTES_MAX);
      altered.resize(command_request_encode(&request, shape_.motor_count, altered.data()));
      if (command_delay) until += command_delay(now());
    }
    to_unit_.push_back({until, frame_of(altered)});
  }
  pass_commands_due();
  return {IoStatus::kOk, bytes.size()};
}

}  // namespace daq
