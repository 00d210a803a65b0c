#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"
#include "tests/firmware/qemu_unit.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/wire_messages.hpp"

namespace test_support {

using Bytes = WireBytes;

/// The firmware's image, a host's end of its line and the rig's end of its board, controlled by a
/// test. The unit's time advances in tick() alone, so results do not depend on the machine's speed.
/// A message may take any number of ticks to reach the unit.
class ImageTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kTick_us = 2000;

  ImageTest();
  ~ImageTest() override;

  /// Boots again, as after a loss of power, and connects.
  void boot(const std::vector<std::string>& qemu_options = {});
  void hang_up();
  void connect();

  /// Sends bytes as they are, or a message as a frame.
  void send_bytes(std::span<const std::uint8_t> bytes);
  void send(std::span<const std::uint8_t> message);

  /// Runs a tick with inputs_, sets output_, and awaits the sample if every tick has one.
  void tick();
  void ticks(int count);

  /// Receives everything that arrives within the time.
  void receive(int timeout_ms);

  /// Ticks until a message of this type has arrived. Returns empty and fails the test if none does.
  Bytes await(std::uint8_t type);

  hello_reply hello();
  configure_reply configure(std::uint8_t flags, std::uint8_t divider = 1,
                            std::uint8_t command_age_ticks = 10);
  void start_stream(std::uint8_t flags = STREAM_ON, std::uint8_t divider = 1);
  /// Call after the unit has ended the stream by itself.
  void forget_stream() { streaming_ = false; }

  clear_reply clear(std::uint8_t step, std::uint16_t token);
  void clear_trip();

  /// Sends commands until the unit drives by one with this ttl.
  /// @return latch time of the sample that this command answers, by the unit's clock
  std::uint32_t drive(std::int16_t command_q15, std::uint8_t ttl_ms);

  /// Opens a new session, arms the unit and drives.
  std::uint32_t start_driving(std::int16_t command_q15 = 8000, std::uint8_t ttl_ms = 250);

  /// Sends a command that answers the newest sample, or one that is `older_by` samples older.
  std::uint16_t send_command(std::int16_t command_q15, std::uint8_t flags, std::uint8_t ttl_ms,
                             std::uint32_t older_by = 0);

  /// Waits until the unit's receiver holds all sent bytes, or has lost them.
  void wait_until_line_is_idle();

  TemporaryFolder folder_;
  std::unique_ptr<QemuUnit> unit_;
  BoardInputs inputs_;
  BoardOutput output_;
  sample_report sample_{};              // the newest
  std::vector<sample_report> samples_;  // of this stream
  std::deque<Bytes> messages_;          // all except SAMPLE
  hello_reply facts_{};

 private:
  Bytes await(std::uint8_t type, int ticks_max);
  void take(std::span<const std::uint8_t> message);

  int line_ = -1;
  int boots_ = 0;
  std::uint64_t bytes_sent_ = 0;  // since the boot
  bool in_stream_ = false;        // started by this host
  bool streaming_ = false;        // with a sample every tick
  sample_shape shape_{};
  std::uint16_t sequence_ = 0;  // of requests
  std::uint16_t command_sequence_ = 0;
  firmware_iface::FrameDecoder decoder_;
};

}  // namespace test_support
