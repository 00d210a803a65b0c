#include <gtest/gtest.h>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/simulated_unit.hpp"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/session.h"
#include "tests/support/wire_messages.hpp"

// The unit's reaction to single messages when they arrive: rules of PROTOCOL.md that a correct host
// never exercises.

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using test_support::message_of;

class UnitRules : public ::testing::Test, private sim::UnitOutputListener {
 protected:
  void SetUp() override { pass(60ms); }

  void pass(Nanoseconds duration) {
    now_ += duration;
    unit_.advance_to(now_);
  }

  void hello() { receive(message_of(hello_head{PROTOCOL_VERSION, LAYOUT_HASH, 1})); }
  void configure(std::uint8_t flags, std::uint8_t divider = 1) {
    receive(message_of(
        configure_request{++configure_sequence_, flags, divider, COMMAND_AGE_TICKS_DEFAULT, {}}));
  }
  /// Sends a command that answers the newest sample, or one that is `age` samples older.
  void command(int ttl_ms, std::uint8_t flags = COMMAND_ENABLE, std::int64_t age = 0) {
    const command_request request{++command_sequence_,
                                  static_cast<std::uint32_t>(newest_ - age),
                                  flags,
                                  static_cast<std::uint8_t>(ttl_ms),
                                  {16'384}};
    receive(message_of(request, 1));
  }
  clear_reply clear(std::uint8_t step, std::uint16_t token) {
    receive(message_of(clear_request{step, token}));
    return answer_;
  }
  void arm() {
    hello();
    configure(STREAM_ON);
    pass(20ms);
    EXPECT_EQ(clear(2, clear(1, 0).token).result, CLEAR_DONE);
    EXPECT_FALSE(unit_.is_tripped());
  }
  std::uint8_t fault() const { return fault_.cause; }
  bool is_driven() {
    pass(1ms);
    return unit_.output_V() != 0.0;
  }
  sample_report sample_{};
  configure_reply configured_{};
  std::uint16_t configure_sequence_ = 0;

  Nanoseconds now_{0};
  sim::SimulatedUnit unit_{
      {},
      std::make_unique<sim::Plant>(std::make_unique<sim::FurutaModel>(sim::FurutaParameters{}),
                                   sim::JointState{}),
      *this};

 private:
  void receive(const test_support::WireBytes& message) {
    unit_.receive(test_support::frame_of(message), now_);
  }
  void on_frame(std::span<const std::uint8_t> frame, Nanoseconds) noexcept override {
    for (const std::uint8_t byte : frame) {
      if (!decoder_.push(byte)) continue;
      const auto message = decoder_.message();
      clear_reply_decode(message.data(), message.size(), &answer_);
      fault_report_decode(message.data(), message.size(), &fault_);
      configure_reply_decode(message.data(), message.size(), &configured_);
      if (!sample_report_decode(message.data(), message.size(), {2, 1, false}, &sample_)) continue;
      newest_ = sample_.sequence;
    }
  }

  FrameDecoder decoder_;
  clear_reply answer_{};
  fault_report fault_{};
  std::int64_t newest_ = 0;
  std::uint16_t command_sequence_ = 0;
};

// A zero time to live, or one beyond the unit's range, reveals a faulty host and trips.
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
  // Without ENABLE no ttl runs, so none can be wrong.
  arm();
  command(0, 0);
  EXPECT_FALSE(unit_.is_tripped());
}

// A token is valid once, and until the end of its window.
TEST_F(UnitRules, TokenExpires) {
  hello();
  std::uint16_t token = clear(1, 0).token;
  pass(std::chrono::milliseconds(int{CLEAR_WINDOW_MS}));
  EXPECT_EQ(clear(2, token).result, CLEAR_DONE);
  arm();
  command(10);
  pass(20ms);
  ASSERT_TRUE(unit_.is_tripped()) << "its ttl has passed";
  EXPECT_EQ(clear(2, token).result, CLEAR_WRONG_TOKEN) << "of the exchange before";
  token = clear(1, 0).token;
  pass(std::chrono::milliseconds(int{CLEAR_WINDOW_MS}) + 1us);
  EXPECT_EQ(clear(2, token).result, CLEAR_WRONG_TOKEN);
  EXPECT_TRUE(unit_.is_tripped());
}

// A request with token 0, before the unit has issued a token, must not match.
TEST_F(UnitRules, TokenZeroNeverMatches) {
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

// Step 2 whose answer was lost is repeated. It gets the same answer until the unit trips again.
TEST_F(UnitRules, RepeatedStepTwoIsAnsweredAsBeforeUntilTheNextTrip) {
  hello();
  const std::uint16_t token = clear(1, 0).token;
  EXPECT_EQ(clear(2, token).result, CLEAR_DONE);
  EXPECT_EQ(clear(2, token).result, CLEAR_DONE);
  command(1, COMMAND_TRIP);
  EXPECT_EQ(clear(2, token).result, CLEAR_WRONG_TOKEN);
  EXPECT_TRUE(unit_.is_tripped());
}

// Starting a session or a stream, or ending one, while the motor is driven would leave nobody in
// charge of it.
TEST_F(UnitRules, NewSessionAndAnyChangeOfTheStreamTrip) {
  for (const int change : {0, 1, 2}) {
    SCOPED_TRACE(change);
    arm();
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

// A command that had arrived but was not yet in force when the unit tripped must not act when the
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

// The same for a command that arrives while the unit is tripped. The next one acts.
TEST_F(UnitRules, CommandReceivedWhileTrippedNeverActs) {
  arm();
  command(1, COMMAND_TRIP);
  command(50);
  EXPECT_EQ(clear(2, clear(1, 0).token).result, CLEAR_DONE);
  EXPECT_FALSE(is_driven());
  EXPECT_FALSE(unit_.is_tripped());
  command(50);
  EXPECT_TRUE(is_driven());
}

// A trip stops the ttl. Otherwise it would trip a unit that was cleared and is idle.
TEST_F(UnitRules, NoTtlRunsOnAfterATrip) {
  arm();
  command(50);
  pass(2ms);
  hello();
  EXPECT_EQ(clear(2, clear(1, 0).token).result, CLEAR_DONE);
  pass(200ms);
  EXPECT_FALSE(unit_.is_tripped());
}

// A command acts only if the sample that it answers is recent: by default at most ten ticks older
// than the newest. One tick more, or a sample not sent yet, and the command is ignored. The unit
// stores the times of 256 samples: the one before has the newest one's place.
TEST_F(UnitRules, CommandThatAnswersAnOldSampleIsRejected) {
  for (const auto& [age, accepted] : {std::pair{0, true},
                                      {10, true},
                                      {11, false},
                                      {int{UNIT_ANSWERABLE_SAMPLES}, false},
                                      {300, false},
                                      {-1, false},
                                      {-2, false}}) {
    SCOPED_TRACE(age);
    arm();
    pass(300ms);
    const std::uint64_t rejected = unit_.counters().commands_rejected;
    command(50, COMMAND_ENABLE, age);
    EXPECT_EQ(is_driven(), accepted);
    EXPECT_EQ(unit_.counters().commands_rejected, rejected + (accepted ? 0 : 1));
    EXPECT_EQ((sample_.status & STATUS_COMMAND_REJECTED) != 0, !accepted);
    EXPECT_FALSE(unit_.is_tripped());
    pass(1ms);
    EXPECT_EQ(sample_.status & STATUS_COMMAND_REJECTED, 0) << "reported once";
    command(1, 0);
    pass(2ms);
  }
}

// A CONFIGURE whose answer was lost is repeated. It gets the same answer, also after a refused one,
// and starts no second stream.
TEST_F(UnitRules, RepeatedConfigureIsAnsweredAsBefore) {
  hello();
  configure(STREAM_ON);
  const configure_reply first = configured_;
  ASSERT_EQ(first.result, CONFIGURE_DONE);
  pass(5ms);
  configure(0x80);
  EXPECT_EQ(configured_.result, CONFIGURE_UNSUPPORTED);
  configure_sequence_ -= 2;
  configure(STREAM_ON);
  EXPECT_EQ(configured_.result, CONFIGURE_DONE);
  EXPECT_EQ(configured_.start_tick_us, first.start_tick_us);
  EXPECT_EQ(configured_.stream_count, first.stream_count);
  EXPECT_EQ(unit_.counters().streams, 1U);
  hello();
  --configure_sequence_;
  configure(STREAM_ON);
  EXPECT_EQ(unit_.counters().streams, 2U) << "a new session numbers its requests anew";
}

// A stream starts at the next tick and reports no command of the stream before.
TEST_F(UnitRules, NewStreamStartsAnew) {
  arm();
  configure(STREAM_ON, 10);
  pass(13ms);
  command(1, 0);
  pass(1ms);
  command(1, 0);  // not yet in force
  command(50, COMMAND_ENABLE, 300);
  configure(STREAM_ON, 10);
  pass(1ms);
  EXPECT_EQ(sample_.sequence, 0);
  EXPECT_EQ(sample_.tick_us, configured_.start_tick_us);
  EXPECT_EQ(sample_.status, 0);
  command(1, 0);
  command(50, COMMAND_ENABLE, 300);
  pass(10ms);
  EXPECT_EQ(sample_.sequence, 1);
  EXPECT_EQ(sample_.status, STATUS_COMMAND_SEEN | STATUS_COMMAND_REJECTED);
}

// Before the first sample there is nothing to answer. Numbers of another stream do not count.
TEST_F(UnitRules, CommandBeforeTheFirstSampleIsRejected) {
  hello();
  EXPECT_EQ(clear(2, clear(1, 0).token).result, CLEAR_DONE);
  command(50);
  EXPECT_FALSE(is_driven());
  EXPECT_EQ(unit_.counters().commands_rejected, 1U);
  configure(STREAM_ON);
  command(50);
  pass(100us);
  EXPECT_EQ(unit_.counters().commands_rejected, 2U);
}

// The time to live counts from the latch of the answered sample, so it includes the line's delay.
// It ends at the first tick at or after that time.
TEST_F(UnitRules, TimeToLiveCountsFromTheSampleAnswered) {
  for (const int age : {0, 4, 9}) {
    SCOPED_TRACE(age);
    arm();
    command(12, COMMAND_ENABLE, age);
    pass(std::chrono::milliseconds(11 - age));
    EXPECT_NE(unit_.output_V(), 0.0);
    pass(1ms);
    EXPECT_EQ(unit_.output_V(), 0.0);
    EXPECT_EQ(fault(), FAULT_TTL);
  }
  arm();
  command(5, COMMAND_ENABLE, 5);
  EXPECT_FALSE(is_driven()) << "its ttl had run out when it came";
  EXPECT_FALSE(unit_.is_tripped());
}

// Two commands that the line has swapped: the older one neither acts nor shortens the time to live.
TEST_F(UnitRules, CommandOlderThanTheOneInForceIsRejected) {
  arm();
  command(20);
  command(20, COMMAND_ENABLE, 3);
  EXPECT_EQ(unit_.counters().commands_rejected, 1U);
  pass(19ms);
  EXPECT_NE(unit_.output_V(), 0.0);
}

// Commands that switch the output off are obeyed at any age.
TEST_F(UnitRules, LateIdleAndTripAreObeyed) {
  arm();
  command(50);
  ASSERT_TRUE(is_driven());
  command(1, 0, 5000);
  EXPECT_FALSE(is_driven());
  EXPECT_FALSE(unit_.is_tripped());
  command(50);
  ASSERT_TRUE(is_driven());
  command(1, COMMAND_TRIP, 5000);
  EXPECT_TRUE(unit_.is_tripped());
  EXPECT_EQ(unit_.output_V(), 0.0);
}

}  // namespace
