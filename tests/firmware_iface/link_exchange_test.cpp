#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"
#include "tests/firmware_iface/scripted_unit.hpp"
#include "tests/support/refusal.hpp"

// Unusual single messages of a unit, which a correct simulated unit never sends.

namespace {
using namespace firmware_iface;
using namespace std::chrono_literals;
using scripted_unit::ScriptedUnit;
using test_support::expect_parts;

class LinkExchange : public ::testing::Test, protected scripted_unit::Session {};

// --- COMMAND

// The time to live is limited to the unit's range, from 1 ms to its longest. A longer one, which
// the unit would refuse with a trip, or zero must not be sent.
TEST_F(LinkExchange, TimeToLiveIsClampedOnBothSides) {
  start();
  const std::vector<std::pair<int, int>> cases = {
      {-5, 1}, {0, 1}, {1, 1}, {2, 2}, {79, 79}, {80, 80}, {81, 80}, {256 + 7, 80}, {100'000, 80}};
  for (const auto& [asked_ms, sent_ms] : cases) {
    ASSERT_TRUE(link.write_command(std::array{1.0}, asked_ms));
    EXPECT_EQ(unit.commands.back().ttl_ms, sent_ms) << asked_ms;
    EXPECT_EQ(unit.commands.back().flags, COMMAND_ENABLE);
  }
}

// A command beyond the unit's range is clamped to it on both sides. Catches 16-bit overflow.
TEST_F(LinkExchange, CommandIsClampedOnBothSides) {
  start();
  const std::vector<std::pair<double, int>> cases = {
      {10.0, 32767},    {-10.0, -32767}, {10.1, 32767},  {-10.1, -32767}, {1e300, 32767},
      {-1e300, -32767}, {5.0, 16384},    {-5.0, -16384}, {0.0, 0}};
  for (const auto& [command_V, sent] : cases) {
    link.write_command(std::array{command_V}, 20);
    EXPECT_EQ(unit.commands.back().command_q15[0], sent) << command_V;
  }
}

TEST_F(LinkExchange, NaNCommandTripsTheUnit) {
  start();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double command_V : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
    EXPECT_FALSE(link.write_command(std::array{command_V}, 20));
    EXPECT_EQ(unit.commands.back().flags, COMMAND_TRIP) << command_V;
    EXPECT_EQ(unit.commands.back().command_q15[0], 0);
  }
}

TEST_F(LinkExchange, IdleAndTripCarryNoCommand) {
  start();
  link.write_idle_command();
  EXPECT_EQ(unit.commands.back().flags, 0);
  EXPECT_EQ(unit.commands.back().command_q15[0], 0);
  link.write_trip_command();
  EXPECT_EQ(unit.commands.back().flags, COMMAND_TRIP);
  EXPECT_EQ(unit.commands.back().command_q15[0], 0);
}

// --- SAMPLE

TEST_F(LinkExchange, ValuesOfASampleKeepTheirSignAndScale) {
  start();
  sample_report report = ScriptedUnit::sample(0);
  report.command_q15[0] = -32767;
  report.status = STATUS_TRIPPED;
  report.fault_flags = FAULT_TTL;
  report.encoder_counts[0] = -5;
  unit.send(report);
  ASSERT_EQ(read(), ReadStatus::kSample);
  EXPECT_EQ(sample.command[0], -10.0);
  EXPECT_TRUE(sample.tripped);
  EXPECT_FALSE(sample.driving);
  EXPECT_EQ(sample.fault_flags, FAULT_TTL);
  EXPECT_EQ(sample.encoder_counts[0], -5);
  report = ScriptedUnit::sample(1);
  report.status = STATUS_DRIVING;
  unit.send(report);
  ASSERT_EQ(read(), ReadStatus::kSample);
  EXPECT_FALSE(sample.tripped);
  EXPECT_TRUE(sample.driving);
}

// The delay of a command runs from the sample it answers to the first sample that echoes it. Later
// echoes, and echoes of commands that this program did not send, are not used.
TEST_F(LinkExchange, CommandDelayEndsAtTheFirstEcho) {
  start();
  const auto next = [&](std::uint64_t sequence, int echo) {
    sample_report report = ScriptedUnit::sample(sequence);
    if (echo > 0) {
      report.status = STATUS_COMMAND_SEEN;
      report.command_sequence = static_cast<std::uint16_t>(echo);
    }
    unit.send(report);
    EXPECT_EQ(read(), ReadStatus::kSample);
  };
  link.write_command(std::array{1.0}, 20);  // 1: before any sample, so without a delay
  next(0, 1);
  EXPECT_EQ(sample.command_sequence, 1U);
  EXPECT_FALSE(sample.command_delay_ticks.has_value());
  link.write_command(std::array{1.0}, 20);  // 2
  next(1, 0);
  EXPECT_EQ(sample.command_sequence, 1U);
  next(3, 2);
  EXPECT_EQ(sample.command_delay_ticks, 3);
  EXPECT_EQ(sample.command_sequence, 2U);
  next(4, 2);
  EXPECT_FALSE(sample.command_delay_ticks.has_value());
  EXPECT_EQ(sample.command_sequence, 2U);
  next(5, 999);
  EXPECT_EQ(sample.command_sequence, 2U) << "not a command of ours";
  link.write_command(std::array{1.0}, 20);  // 3
  next(6, 3);
  EXPECT_EQ(sample.command_delay_ticks, 1);
  EXPECT_EQ(link.counters().command_delays, 2U);
  EXPECT_EQ(link.counters().command_delay_ticks_min, 1);
  EXPECT_EQ(link.counters().command_delay_ticks_max, 3);
}

// Valid frames with impossible content are counted and dropped.
TEST_F(LinkExchange, SamplesOfAnotherKindAreDropped) {
  start();
  unit.send(test_support::message_of(ScriptedUnit::sample(0), {2, 1, false}));
  EXPECT_EQ(read(), ReadStatus::kTimeout);
  unit.send(test_support::compact_message_of(ScriptedUnit::sample(0), {1, 1, false}));
  EXPECT_EQ(read(), ReadStatus::kTimeout);
  EXPECT_EQ(link.counters().messages_unexpected, 2U);
  EXPECT_EQ(link.counters().samples_received, 0U);
}

// Eight consecutive reports that contradict the stream belong to another stream; seven are damage.
TEST_F(LinkExchange, EightContradictionsInARowAreAnotherStream) {
  start();
  pass({0});
  sample_report wrong = ScriptedUnit::sample(1);
  wrong.sequence = 500;
  for (int k = 0; k < 7; ++k) unit.send(wrong);
  EXPECT_EQ(read(), ReadStatus::kTimeout);
  pass({1});
  for (int k = 0; k < 8; ++k) unit.send(wrong);
  EXPECT_EQ(read(), ReadStatus::kInconsistent);
  EXPECT_EQ(link.counters().samples_implausible, 15U);
}

// The unit's clock jumps, in either direction and by any amount, while its sequence continues. This
// must be reported as another stream, not as repeated samples or a silent line.
TEST_F(LinkExchange, ClockJumpIsReportedAsAnotherStream) {
  for (const std::int64_t jump_us :
       {-50'000'000LL, -1'000'000LL, -5'000LL, 700'000LL, 5'000'000LL, 600'000'000LL}) {
    SCOPED_TRACE(jump_us);
    scripted_unit::Session other;
    other.unit.wait_until(60s);
    other.start();
    std::uint64_t sequence = 0;
    const auto receive = [&](std::int64_t offset_us) {
      sample_report report = ScriptedUnit::sample(sequence++);
      report.tick_us += static_cast<std::uint32_t>(offset_us);
      other.unit.send(report);
      other.unit.wait_until(other.unit.now() + 1ms);
      return other.read(0ms);
    };
    for (int k = 0; k < 60; ++k) ASSERT_EQ(receive(0), ReadStatus::kSample);
    for (int k = 0; k < 7; ++k) ASSERT_EQ(receive(jump_us), ReadStatus::kTimeout);
    EXPECT_EQ(receive(jump_us), ReadStatus::kInconsistent);
    EXPECT_EQ(other.link.counters().samples_repeated, 0U);
  }
}

// The unit's count of damaged frames, continued past its wrap and relative to the start of the
// stream.
TEST_F(LinkExchange, ErrorsOfTheUnitCountFromTheStreamsFirstSample) {
  start();
  const auto next = [&](std::uint64_t sequence, int errors) {
    sample_report report = ScriptedUnit::sample(sequence);
    report.error_count = static_cast<std::uint8_t>(errors);
    unit.send(report);
    EXPECT_EQ(read(), ReadStatus::kSample);
    return sample.unit_error_count;
  };
  EXPECT_EQ(next(0, 250), 0U);
  EXPECT_EQ(next(1, 255), 5U);
  EXPECT_EQ(next(2, 3), 9U);
  EXPECT_EQ(next(3, 3), 9U);
}

// --- Sample counts of a stream

// Samples that the unit sent after the last received one are lost, and form a gap of their own.
TEST_F(LinkExchange, TailLostAtTheStopIsOneGap) {
  start();
  pass({0, 1, 4});
  EXPECT_EQ(link.counters().gaps, 1U);
  EXPECT_EQ(link.counters().samples_lost, 2U);
  unit.configured.samples_sent = 9;
  const auto end = link.stop_stream();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end.value().samples_sent, 9U);
  EXPECT_EQ(end.value().lost_at_end, 4U);
  EXPECT_EQ(link.counters().samples_lost, 6U);
  EXPECT_EQ(link.counters().gaps, 2U);
  EXPECT_EQ(link.counters().samples_received + link.counters().samples_lost, 9U);
}

// The unit reports the low 32 bits of its count.
TEST_F(LinkExchange, SamplesAreCountedPastTheWrapOfTheUnitsCount) {
  start();
  const std::uint64_t wrap = std::uint64_t{1} << 32;
  unit.wait_until(std::chrono::milliseconds(wrap + 1));
  pass({wrap, wrap + 1});
  unit.configured.samples_sent = 5;
  const auto end = link.stop_stream();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end.value().samples_sent, wrap + 5);
  EXPECT_EQ(end.value().lost_at_end, 3U);
  EXPECT_EQ(link.counters().samples_received + link.counters().samples_lost, wrap + 5);
}

TEST_F(LinkExchange, TailIsLostIfTheUnitsCountIsAhead) {
  // The last ones: a unit that counts too few, that is half of the range or more ahead.
  for (const std::uint32_t sent : {2U, 3U, 2U + 0x7FFF'FFFFU, 2U + 0x8000'0000U, 1U}) {
    SCOPED_TRACE(sent);
    scripted_unit::Session fresh;
    fresh.start();
    fresh.pass({0, 1});
    fresh.unit.configured.samples_sent = sent;
    const auto end = fresh.link.stop_stream();
    ASSERT_TRUE(end.ok());
    const std::uint64_t lost = sent == 3U ? 1U : sent == 2U + 0x7FFF'FFFFU ? 0x7FFF'FFFFU : 0U;
    EXPECT_EQ(end.value().lost_at_end, lost);
    EXPECT_EQ(end.value().samples_sent, sent);
    EXPECT_EQ(fresh.link.counters().samples_lost, lost);
    EXPECT_EQ(fresh.link.counters().gaps, lost == 0U ? 0U : 1U);
  }
}

// Samples that arrive while the stream is being stopped are delivered, not lost.
TEST_F(LinkExchange, SamplesThatComeWithTheStopAreHandedOver) {
  start();
  pass({0});
  unit.send(ScriptedUnit::sample(1));
  unit.send(ScriptedUnit::sample(3));
  unit.configured.samples_sent = 4;
  std::vector<std::uint64_t> late;
  const auto end = link.stop_stream([&](const UnitSample& s) { late.push_back(s.sequence); });
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(late, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(link.counters().messages_unexpected, 0U);
  EXPECT_EQ(end.value().lost_at_end, 0U);
  EXPECT_EQ(link.counters().samples_lost, 1U);
}

// A stream whose CONFIGURE_REPLY never arrived is lost as a whole, and the next HELLO gives its
// length. A stream without samples is no gap.
TEST_F(LinkExchange, StreamThatStartedUnheardIsLostAsAWhole) {
  for (const std::uint32_t sent : {0U, 12U}) {
    SCOPED_TRACE(sent);
    ScriptedUnit fresh;
    UnitLink other(fresh);
    ASSERT_TRUE(other.connect().ok());
    fresh.answers_configure = false;
    ASSERT_FALSE(other.start_stream({}, {.reply_timeout = 5ms, .attempts_max = 3}).ok());
    EXPECT_EQ(fresh.configures.size(), 3U);
    fresh.facts.stream_count = 1;
    fresh.facts.samples_sent = sent;
    ASSERT_TRUE(other.connect().ok());
    EXPECT_EQ(other.counters().samples_lost, sent);
    EXPECT_EQ(other.counters().gaps, sent == 0 ? 0U : 1U);
    ASSERT_TRUE(other.connect().ok());
    EXPECT_EQ(other.counters().samples_lost, sent) << "booked once";
  }
}

// A stream that was stopped in order is already counted: the next HELLO reports it again and adds
// nothing.
TEST_F(LinkExchange, StoppedStreamIsCountedOnce) {
  ASSERT_TRUE(link.connect().ok());
  unit.configured.stream_count = 1;
  ASSERT_TRUE(link.start_stream({}).ok());
  pass({0});
  unit.configured.samples_sent = 5;
  ASSERT_TRUE(link.stop_stream().ok());
  EXPECT_EQ(link.counters().samples_lost, 4U);
  unit.facts.stream_count = 1;
  unit.facts.samples_sent = 5;
  ASSERT_TRUE(link.connect().ok());
  EXPECT_EQ(link.counters().samples_lost, 4U);
  EXPECT_EQ(link.counters().gaps, 1U);
}

// Streams of other programs before this one are not this program's losses.
TEST_F(LinkExchange, StreamsOfOtherProgramsAreNotCounted) {
  unit.facts.stream_count = 5;
  unit.facts.samples_sent = 1000;
  ASSERT_TRUE(link.connect().ok());
  EXPECT_EQ(link.counters().samples_lost, 0U);
}

// --- Requests

// The answer to an earlier, repeated CONFIGURE is not the answer to this one.
TEST_F(LinkExchange, AnswerToAnEarlierConfigureIsIgnored) {
  start();
  unit.answers_configure = false;
  configure_reply stale = unit.configured;  // from the start
  stale.flags = 0;
  stale.divider = 1;
  unit.send(test_support::message_of(stale));
  const auto stopped = link.stop_stream({}, {.reply_timeout = 5ms, .attempts_max = 2});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kUnitSilent);
}

// Another stream began while this one ran, and its reply was lost: all its samples are lost.
TEST_F(LinkExchange, StreamBesideTheRunningOneIsLostAsAWhole) {
  unit.configured.stream_count = 1;
  start();
  pass({0, 1, 2});
  unit.facts.stream_count = 2;
  unit.facts.samples_sent = 12;
  ASSERT_TRUE(link.connect().ok());
  EXPECT_EQ(link.counters().samples_lost, 12U);
  EXPECT_EQ(link.counters().gaps, 1U);
}

// Readings of sensors that the unit does not have, or outside of a stream, are dropped.
TEST_F(LinkExchange, ReadingsThatWereNotRequestedAreDropped) {
  unit.facts.inertial_count = 2;
  unit.facts.inertial_ticks[0] = unit.facts.inertial_ticks[1] = 1;
  const auto send_readings = [&](std::uint8_t sensors) {
    inertial_report readings{};
    readings.sensors = sensors;
    unit.send(test_support::message_of(readings));
    EXPECT_EQ(read(), ReadStatus::kTimeout);
  };
  ASSERT_TRUE(link.connect().ok());
  send_readings(1);
  EXPECT_EQ(link.counters().messages_unexpected, 1U);
  ASSERT_TRUE(link.start_stream({}).ok());
  pass({0});
  send_readings(1);
  send_readings(2);
  EXPECT_EQ(link.counters().messages_unexpected, 1U);
  EXPECT_EQ(link.counters().inertial_received, 2U);
  send_readings(4);
  send_readings(5);
  EXPECT_EQ(link.counters().messages_unexpected, 3U);
  EXPECT_EQ(link.counters().inertial_received, 2U);
}

TEST_F(LinkExchange, SamplesAfterTheStopAreDropped) {
  start();
  pass({0});
  unit.configured.samples_sent = 1;
  ASSERT_TRUE(link.stop_stream({}).ok());
  unit.send(ScriptedUnit::sample(1));
  EXPECT_EQ(read(), ReadStatus::kTimeout);
  EXPECT_EQ(link.counters().messages_unexpected, 1U);
  EXPECT_EQ(link.counters().samples_received, 1U);
}

// The black box records the messages of both directions with their times.
TEST(LinkListener, ReceivesEachMessageOfBothDirections) {
  struct Listener final : MessageListener {
    void on_message(Direction direction, std::span<const std::uint8_t> message,
                    Nanoseconds at) noexcept override {
      (direction == Direction::kToUnit ? sent : received).push_back(message[0]);
      times.push_back(at);
    }
    std::vector<std::uint8_t> sent, received;
    std::vector<Nanoseconds> times;
  };
  Listener listener;
  ScriptedUnit unit;
  UnitLink link(unit, &listener);
  ASSERT_TRUE(link.connect().ok());
  ASSERT_TRUE(link.start_stream({}).ok());
  unit.wait_until(unit.now() + 3ms);
  unit.send(ScriptedUnit::sample(0));
  UnitSample sample;
  ASSERT_EQ(link.read_sample(unit.now() + 1ms, sample), ReadStatus::kSample);
  EXPECT_EQ(listener.times.back(), sample.received);
  const double command[] = {1.0};
  unit.wait_until(unit.now() + 2ms);
  ASSERT_TRUE(link.write_command(command, 20));
  EXPECT_EQ(listener.times.back(), unit.now());
  EXPECT_EQ(listener.received.front(), MESSAGE_HELLO_REPLY);
  EXPECT_EQ(listener.received.back(), MESSAGE_SAMPLE);
  EXPECT_EQ(listener.sent.front(), MESSAGE_HELLO);
  EXPECT_EQ(listener.sent.back(), MESSAGE_COMMAND);
}

// Each impossible fact in the unit's description has its own refusal, even if the hash is right.
TEST_F(LinkExchange, UnitsWithSenselessFactsAreRefused) {
  const hello_reply good = unit.facts;
  const auto refusal = [&](const std::function<void(hello_reply&)>& alter) {
    unit.facts = good;
    alter(unit.facts);
    const auto facts = link.connect();
    return facts.ok() ? std::string() : facts.error().detail;
  };
  EXPECT_EQ(refusal([](hello_reply&) {}), "");
  expect_parts(refusal([](hello_reply& r) { r.encoder_count = 0; }), {"0 encoders"});
  EXPECT_EQ(refusal([](hello_reply& r) { r.encoder_count = ENCODERS_MAX; }), "");
  expect_parts(refusal([](hello_reply& r) { r.encoder_count = ENCODERS_MAX + 1; }),
               {"17 encoders"});
  EXPECT_EQ(refusal([](hello_reply& r) { r.motor_count = 0; }), "") << "encoders alone are a unit";
  expect_parts(refusal([](hello_reply& r) { r.motor_count = MOTORS_MAX + 1; }), {"9 motors"});
  expect_parts(refusal([](hello_reply& r) { r.tick_rate_Hz = 0; }), {"tick rate of 0"});
  expect_parts(refusal([](hello_reply& r) { r.ttl_max_ms = 0; }), {"0 ms"});
  const auto inertial = [&](std::uint8_t count, std::uint8_t last_ticks) {
    return refusal([=](hello_reply& r) {
      r.inertial_count = count;
      std::ranges::fill(r.inertial_ticks, std::uint8_t{1});
      r.inertial_ticks[std::min<int>(count, INERTIAL_SENSORS_MAX) - 1] = last_ticks;
    });
  };
  EXPECT_EQ(inertial(INERTIAL_SENSORS_MAX, 1), "");
  expect_parts(inertial(INERTIAL_SENSORS_MAX + 1, 1), {"5 inertial sensors", "at most 4"});
  expect_parts(inertial(INERTIAL_SENSORS_MAX, 0), {"never reads inertial sensor 3"});
}

TEST_F(LinkExchange, ClosedPortIsReportedAtOnce) {
  start();
  unit.close();
  const Nanoseconds before = unit.now();
  EXPECT_EQ(read(1s), ReadStatus::kClosed);
  EXPECT_EQ(unit.now(), before);
  EXPECT_FALSE(link.write_command(std::array{1.0}, 20));
  EXPECT_EQ(link.counters().commands_not_sent, 1U);
  EXPECT_EQ(link.counters().commands_sent, 0U);
  const auto stopped = link.stop_stream();
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kPortFailed);
}

}  // namespace
