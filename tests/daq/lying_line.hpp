#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "tests/support/wire_messages.hpp"

namespace daq {

/// A line between host and unit that decodes samples and commands, alters or delays them and
/// recomputes their checksums. All frames that it delivers are valid. Compact messages are not
/// supported. Passes everything unchanged until a test sets a fault.
class LyingLine final : public firmware_iface::Transport {
 public:
  using Nanoseconds = firmware_iface::Nanoseconds;

  LyingLine(firmware_iface::Transport& inner, sample_shape shape) : inner_(inner), shape_(shape) {}

  std::function<void(sample_report&)> on_sample;     ///< alters the unit's reports
  std::function<void(command_request&)> on_command;  ///< alters the host's commands
  std::function<Nanoseconds(Nanoseconds now)> sample_delay;
  std::function<Nanoseconds(Nanoseconds now)> command_delay;

  Nanoseconds now() const noexcept override { return inner_.now(); }
  firmware_iface::IoResult read_some(std::span<std::uint8_t> buffer,
                                     Nanoseconds deadline) noexcept override;
  firmware_iface::IoResult write(std::span<const std::uint8_t> bytes) noexcept override;
  void close() noexcept override { inner_.close(); }
  const firmware_iface::TransportReport& report() const noexcept override {
    return inner_.report();
  }

 private:
  struct Held {
    Nanoseconds until;
    std::vector<std::uint8_t> bytes;
  };

  void take_from_unit(std::span<const std::uint8_t> bytes);
  void pass_commands_due();

  firmware_iface::Transport& inner_;
  sample_shape shape_;
  firmware_iface::FrameDecoder from_unit_;
  firmware_iface::FrameDecoder from_host_;
  std::deque<Held> to_host_;
  std::deque<Held> to_unit_;
};

inline void LyingLine::take_from_unit(std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) {
    if (!from_unit_.push(byte)) continue;
    const auto message = from_unit_.message();
    std::vector<std::uint8_t> altered(message.begin(), message.end());
    sample_report report;
    Nanoseconds until = now();
    if (sample_report_decode(message.data(), message.size(), shape_, &report)) {
      if (on_sample) on_sample(report);
      altered = test_support::message_of(report, shape_);
      if (sample_delay) until += sample_delay(now());
    }
    to_host_.push_back({until, test_support::frame_of(altered)});
  }
}

inline void LyingLine::pass_commands_due() {
  while (!to_unit_.empty() && to_unit_.front().until <= now()) {
    inner_.write(to_unit_.front().bytes);
    to_unit_.pop_front();
  }
}

inline firmware_iface::IoResult LyingLine::read_some(std::span<std::uint8_t> buffer,
                                                     Nanoseconds deadline) noexcept {
  if (!on_sample && !sample_delay && !command_delay && to_host_.empty() && to_unit_.empty()) {
    return inner_.read_some(buffer, deadline);
  }
  for (;;) {
    pass_commands_due();
    if (!to_host_.empty() && to_host_.front().until <= now()) {
      const std::vector<std::uint8_t> bytes = std::move(to_host_.front().bytes);
      to_host_.pop_front();
      std::copy(bytes.begin(), bytes.end(), buffer.begin());
      return {firmware_iface::IoStatus::kOk, bytes.size()};
    }
    Nanoseconds until = deadline;
    if (!to_host_.empty()) until = std::min(until, to_host_.front().until);
    if (!to_unit_.empty()) until = std::min(until, to_unit_.front().until);
    std::array<std::uint8_t, 512> read{};
    const firmware_iface::IoResult result = inner_.read_some(read, until);
    take_from_unit(std::span(read).first(result.size_bytes));
    if (result.status == firmware_iface::IoStatus::kClosed)
      return {firmware_iface::IoStatus::kClosed, 0};
    const bool ready = !to_host_.empty() && to_host_.front().until <= now();
    if (!ready && result.size_bytes == 0 && now() >= deadline)
      return {firmware_iface::IoStatus::kTimeout, 0};
  }
}

inline firmware_iface::IoResult LyingLine::write(std::span<const std::uint8_t> bytes) noexcept {
  if (!on_command && !command_delay && to_unit_.empty()) return inner_.write(bytes);
  for (const std::uint8_t byte : bytes) {
    if (!from_host_.push(byte)) continue;
    const auto message = from_host_.message();
    std::vector<std::uint8_t> altered(message.begin(), message.end());
    command_request request;
    Nanoseconds until = now();
    if (command_request_decode(message.data(), message.size(), shape_.motor_count, &request)) {
      if (on_command) on_command(request);
      altered = test_support::message_of(request, shape_.motor_count);
      if (command_delay) until += command_delay(now());
    }
    to_unit_.push_back({until, test_support::frame_of(altered)});
  }
  pass_commands_due();
  return {firmware_iface::IoStatus::kOk, bytes.size()};
}

}  // namespace daq
