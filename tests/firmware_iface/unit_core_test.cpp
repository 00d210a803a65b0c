#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/session.h"
#include "tests/firmware_iface/core_board.hpp"
#include "tests/support/wire_messages.hpp"

// Properties of the unit's core that the simulated unit, with its one motor and without a
// persistent cause of a trip, cannot show.

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using test_support::message_of;

class UnitCore : public ::testing::Test {
 protected:
  static unit_description two_motors() {
    unit_description board = usual_board();
    board.motor_count = 2;
    board.motor[1] = board.motor[0];
    return board;
  }

  void send(const test_support::WireBytes& message) {
    board_->write(test_support::frame_of(message));
  }
  void start_stream(std::uint8_t flags = STREAM_ON) {
    send(message_of(hello_head{PROTOCOL_VERSION, LAYOUT_HASH, 1}));
    send(message_of(configure_request{1, flags, 1, COMMAND_AGE_TICKS_DEFAULT, {}}));
    board_->let_pass(20ms);
  }
  void clear() {
    for (std::uint8_t step = 1; step <= 2; ++step) {
      send(message_of(
          clear_request{step, step == 1 ? std::uint16_t{0} : board_->core().clear_token}));
    }
  }
  /// Answers the newest sample, or one that is `age` samples older.
  void drive(std::int16_t first_q15, std::int16_t second_q15, std::uint32_t age = 0) {
    unit& core = board_->core();
    const command_request request{
        1, core.stream_samples - 1 - age, COMMAND_ENABLE, 50, {first_q15, second_q15}};
    send((core.stream_flags & STREAM_COMPACT) != 0 ? test_support::compact_message_of(request)
                                                   : message_of(request, 2));
    board_->let_pass(2ms);
  }

  std::unique_ptr<CoreBoard> board_ = std::make_unique<CoreBoard>(two_motors());
};

// The board reports a cause that lasts, such as a hot amplifier. CLEAR must fail until it has gone.
TEST_F(UnitCore, ClearFailsWhileTheCauseLasts) {
  start_stream();
  board_->core().causes_present = FAULT_AMPLIFIER;
  clear();
  EXPECT_EQ(board_->core().fault_flags, FAULT_AMPLIFIER) << "FAULT_BOOT is cleared, it is not";
  drive(8192, 8192);
  EXPECT_FALSE(board_->core().output.is_enabled);

  board_->core().causes_present = 0;
  clear();
  EXPECT_FALSE(unit_is_tripped(&board_->core()));
  drive(8192, 8192);
  EXPECT_TRUE(board_->core().output.is_enabled);
}

TEST_F(UnitCore, EachMotorReceivesItsOwnCommand) {
  start_stream();
  clear();
  drive(8192, -4096);
  ASSERT_TRUE(board_->core().output.is_enabled);
  EXPECT_EQ(board_->core().output.command_q15[0], 8192);
  EXPECT_EQ(board_->core().output.command_q15[1], -4096);
}

// Samples hold 32 bits of the unit's time, 71.6 min.
TEST_F(UnitCore, TimeToLiveCountsPastTheWrapOfTheSamplesTime) {
  board_->let_pass(72min);
  start_stream();
  clear();
  drive(8192, 8192);
  board_->let_pass(47ms);
  EXPECT_TRUE(board_->core().output.is_enabled);
  board_->let_pass(1ms);
  EXPECT_FALSE(board_->core().output.is_enabled);
}

// At 3 kHz, ten ticks take 3333 or 3334 µs of the unit's clock.
TEST_F(UnitCore, AgeOfACommandIsCountedInTicksOfAnyLength) {
  unit_description description = two_motors();
  description.tick_rate_Hz = 3000;
  board_ = std::make_unique<CoreBoard>(description);
  start_stream();
  clear();
  for (int tick = 0; tick < 3; ++tick) {
    drive(8192, 8192, COMMAND_AGE_TICKS_DEFAULT);
    EXPECT_EQ(board_->core().counters.commands_rejected, tick);
    drive(8192, 8192, COMMAND_AGE_TICKS_DEFAULT + 1);
    EXPECT_EQ(board_->core().counters.commands_rejected, tick + 1);
    board_->let_pass(334us);
  }
}

// Compact commands hold 24 bits of the answered sample's number, 4.7 h at 1 kHz.
TEST_F(UnitCore, CompactCommandsAreOrderedPastTheirBits) {
  board_ = std::make_unique<CoreBoard>(usual_board());
  start_stream(STREAM_ON | STREAM_COMPACT);
  clear();
  board_->core().stream_samples += 1U << 24;
  drive(8192, 0);
  EXPECT_TRUE(board_->core().output.is_enabled);
  EXPECT_EQ(board_->core().counters.commands_rejected, 0U);
  drive(8192, 0, 5);
  EXPECT_EQ(board_->core().counters.commands_rejected, 1U) << "older than the one in force";
}

}  // namespace
