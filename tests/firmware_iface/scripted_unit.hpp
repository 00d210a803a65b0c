#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"
#include "tests/support/virtual_time.hpp"
#include "tests/support/wire_messages.hpp"

namespace scripted_unit {

/// A unit whose every message the test controls. It answers HELLO and CONFIGURE as a correct unit
/// does unless the test changes that, stores everything else the host writes, and sends what it is
/// given at once. Time passes only while the host waits for it.
class ScriptedUnit final : public firmware_iface::Transport {
 public:
  ScriptedUnit();

  /// Sends a message to the host.
  void send(std::span<const std::uint8_t> message);
  void send(const sample_report& report) { send(test_support::message_of(report, shape())); }
  /// Sends a frame whose checksum is wrong.
  void send_damaged_frame();
  void send(const clear_reply& reply) { send(test_support::message_of(reply)); }

  /// Returns a sample of a stream at 1 kHz that started with unit clock 0 at host time 0, with its
  /// clock, sequence number and one valid channel.
  static sample_report sample(std::uint64_t sequence);
  sample_shape shape() const { return {facts.encoder_count, facts.motor_count, has_marks}; }
  bool has_marks = false;

  /// Messages written by the host, one kind each, in order.
  std::vector<clear_request> clears;
  std::vector<command_request> commands;
  int hello_count = 0;
  std::vector<configure_request> configures;

  /// Description of the unit in HELLO_REPLY. Its configuration hash is computed before it is sent.
  hello_reply facts{};
  std::array<part_description, ENCODERS_MAX> encoder{};
  std::array<part_description, MOTORS_MAX> motor{};
  /// Called with each HELLO_REPLY before it is sent.
  std::function<void(hello_reply&)> alter_hello;
  /// The answer to CONFIGURE, except for the request's own numbers.
  configure_reply configured{};
  /// Called for each CLEAR, e.g. to send an answer.
  std::function<void(const clear_request&)> on_clear;
  bool answers_configure = true;
  bool answers_describe = true;
  /// Called with the bytes of each HELLO_REPLY before they are sent.
  std::function<void(test_support::WireBytes&)> alter_hello_bytes;
  /// Sends these bytes in each millisecond in which the host waits.
  test_support::WireBytes flood;
  /// The next write takes no bytes, as if the kernel's buffer were full.
  bool refuses_next_write = false;
  std::uint64_t sent_size_bytes = 0;  ///< of all frames that the host has read

  firmware_iface::Nanoseconds now() const noexcept override { return time_.now(); }
  firmware_iface::IoResult read_some(std::span<std::uint8_t> buffer,
                                     firmware_iface::Nanoseconds deadline) noexcept override;
  firmware_iface::IoResult write(std::span<const std::uint8_t> bytes) noexcept override;
  void close() noexcept override { open_ = false; }
  const firmware_iface::TransportReport& report() const noexcept override { return report_; }
  void wait_until(firmware_iface::Nanoseconds time) { time_.sleep_until(time); }

 private:
  void take(std::span<const std::uint8_t> message);

  firmware_iface::VirtualTime time_;
  firmware_iface::FrameDecoder decoder_;
  std::deque<std::uint8_t> to_host_;
  bool open_ = true;
  firmware_iface::TransportReport report_{"scripted unit", {}, {}};
};

/// A scripted unit and the link to it.
struct Session {
  ScriptedUnit unit;
  firmware_iface::UnitLink link{unit};
  firmware_iface::UnitSample sample;

  void start(const firmware_iface::StreamSettings& stream = {}) {
    ASSERT_TRUE(link.connect().ok());
    ASSERT_TRUE(link.start_stream(stream).ok());
  }

  /// Reads from the line into `sample`, waiting up to `patience`.
  firmware_iface::ReadStatus read(
      firmware_iface::Nanoseconds patience = std::chrono::milliseconds(1)) {
    return link.read_sample(unit.now() + patience, sample);
  }

  /// Sends samples and expects that each is read.
  void pass(std::initializer_list<std::uint64_t> sequences) {
    for (const std::uint64_t sequence : sequences) {
      unit.send(ScriptedUnit::sample(sequence));
      ASSERT_EQ(read(), firmware_iface::ReadStatus::kSample);
    }
  }
};

}  // namespace scripted_unit
