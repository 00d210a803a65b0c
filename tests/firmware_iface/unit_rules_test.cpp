#include <gtest/gtest.h>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/sim/furuta_plant.hpp"
#include "firmware_iface/sim/simulated_unit.hpp"
#include "firmware_iface/wire/clear.h"
#include "firmware_iface/wire/fault.h"

// What a unit does with single messages, at the moment they arrive: the rules of PROTOCOL.md that a
// host that behaves never tries.

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;

class UnitRules : public ::testing::Test, private sim::UnitOutput {
 protected:
  void SetUp() override { pass(60ms); }

  void pass(Nanoseconds duration) {
    now_ += duration;
    unit_.advance_to(now_);
  }

  void hello() {
    const hello_head head{PROTOCOL_VERSION, LAYOUT_HASH, 1};
    std::array<std::uint8_t, HELLO_SIZE_BYTES> message{};
    hello_encode(&head, message.data());
    receive(message);
  }
  void configure(std::uint8_t flags) {
    const configure_request request{++configure_sequence_, flags, 1, {}};
    std::array<std::uint8_t, CONFIGURE_SIZE_BYTES> message{};
    configure_request_encode(&request, message.data());
    receive(message);
  }
  void command(int ttl_ms, std::uint8_t flags = COMMAND_ENABLE) {
    const command_request request{++command_sequence_, 16'384, flags,
                                  static_cast<std::uint8_t>(ttl_ms)};
    std::array<std::uint8_t, COMMAND_SIZE_BYTES> message{};
    command_request_encode(&request, message.data());
    receive(message);
  }
  clear_reply clear(std::uint8_t step, std::uint16_t token) {
    const clear_request request{step, token};
    std::array<std::uint8_t, CLEAR_SIZE_BYTES> message{};
    clear_request_encode(&request, message.data());
    receive(message);
    return answer_;
  }
  void arm() {
    hello();
    EXPECT_EQ(clear(2, clear(1, 0).token).result, CLEAR_DONE);
    EXPECT_FALSE(unit_.is_tripped());
  }
  std::uint8_t fault() const { return fault_.cause; }

  Nanoseconds now_{0};
  sim::SimulatedUnit unit_{
      {},
      sim::Plant(std::make_unique<sim::FurutaModel>(sim::FurutaParameters{}), sim::JointState{}),
      *this};

 private:
  void receive(std::span<const std::uint8_t> message) {
    std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> frame{};
    const std::size_t size = frame_encode(message.data(), message.size(), frame.data(), 64);
    unit_.receive({frame.data(), size}, now_);
  }
  void on_frame(std::span<const std::uint8_t> frame, Nanoseconds) noexcept override {
    for (const std::uint8_t byte : frame) {
      if (!decoder_.push(byte)) continue;
      const auto message = decoder_.message();
      clear_reply_decode(message.data(), message.size(), &answer_);
      fault_report_decode(message.data(), message.size(), &fault_);
    }
  }

  FrameDecoder decoder_;
  clear_reply answer_{};
  fault_report fault_{};
  std::uint16_t configure_sequence_ = 0;
  std::uint16_t command_sequence_ = 0;
};

// A time to live of nothing, or beyond what the unit can keep, is a host that is broken.
TEST_F(UnitRules, ImpossibleTimeToLiveTrips) {
  for (const int ttl_ms : {1, 100}) {
    arm();
    command(ttl_ms);
    EXPECT_FALSE(unit_.is_tripped()) << ttl_ms;
    command(1, 0);
    pass(2ms);
  }
  for (const int ttl_ms : {0, 101, 255}) {
    arm();
    command(ttl_ms);
    EXPECT_TRUE(unit_.is_tripped()) << ttl_ms;
    EXPECT_EQ(fault(), FAULT_COMMAND) << ttl_ms;
    pass(5ms);
    EXPECT_EQ(unit_.output_V(), 0.0) << ttl_ms;
  }
  // Without ENABLE no ttl runs, so that none can be wrong.
  arm();
  command(0, 0);
  EXPECT_FALSE(unit_.is_tripped());
}

// A token is good for its window, to the end of it, and once.
TEST_F(UnitRules, TokenExpires) {
  hello();
  std::uint16_t token = clear(1, 0).token;
  pass(std::chrono::milliseconds(int{CLEAR_WINDOW_MS}));
  EXPECT_EQ(clear(2, token).result, CLEAR_DONE);
  hello();
  command(10);
  pass(20ms);
  ASSERT_TRUE(unit_.is_tripped()) << "its ttl has passed";
  EXPECT_EQ(clear(2, token).result, CLEAR_WRONG_TOKEN) << "of the exchange before";
  token = clear(1, 0).token;
  pass(std::chrono::milliseconds(int{CLEAR_WINDOW_MS}) + 1us);
  EXPECT_EQ(clear(2, token).result, CLEAR_WRONG_TOKEN);
  EXPECT_TRUE(unit_.is_tripped());
}

// A unit that is asked with token 0 before it gave one does not take that for the one it has.
TEST_F(UnitRules, NoTokenIsNone) {
  hello();
  EXPECT_EQ(clear(2, 0).result, CLEAR_WRONG_TOKEN);
  EXPECT_TRUE(unit_.is_tripped());
  EXPECT_EQ(clear(3, 0).result, CLEAR_WRONG_STEP);
  arm();
  command(0);
  ASSERT_TRUE(unit_.is_tripped());
  EXPECT_EQ(clear(2, 0).result, CLEAR_WRONG_TOKEN) << "the one it gave is used up";
  EXPECT_TRUE(unit_.is_tripped());
}

// Beginning a session or a stream, and ending one, while the motor is driven leaves nobody in
// charge of it.
TEST_F(UnitRules, NewSessionAndAnyChangeOfTheStreamTrip) {
  for (const int change : {0, 1, 2}) {
    SCOPED_TRACE(change);
    arm();
    configure(STREAM_ON);
    command(50);
    pass(2ms);
    ASSERT_NE(unit_.output_V(), 0.0);
    if (change == 0) hello();
    if (change == 1) configure(0);
    if (change == 2) configure(STREAM_ON);
    EXPECT_EQ(unit_.output_V(), 0.0);
    EXPECT_TRUE(unit_.is_tripped());
    EXPECT_EQ(fault(), FAULT_SESSION);
  }
}

// A command that had arrived, but was not in force yet when the unit tripped, does not act when the
// trip is cleared within the same tick.
TEST_F(UnitRules, CommandFromBeforeATripNeverActs) {
  arm();
  command(50);
  hello();  // trips: the command's ttl runs already
  ASSERT_TRUE(unit_.is_tripped());
  EXPECT_EQ(clear(2, clear(1, 0).token).result, CLEAR_DONE);
  pass(5ms);
  EXPECT_EQ(unit_.output_V(), 0.0);
  EXPECT_FALSE(unit_.is_tripped());
}

// After a trip no ttl runs on: it would trip a unit that was cleared and is idle.
TEST_F(UnitRules, NoTtlRunsOnAfterATrip) {
  arm();
  command(50);
  pass(2ms);
  hello();
  EXPECT_EQ(clear(2, clear(1, 0).token).result, CLEAR_DONE);
  pass(200ms);
  EXPECT_FALSE(unit_.is_tripped());
}

}  // namespace
