#include <gtest/gtest.h>

#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/session.h"
#include "tests/firmware_iface/memory_transport.hpp"
#include "tests/firmware_iface/scripted_unit.hpp"
#include "tests/firmware_iface/virtual_rig.hpp"
#include "tests/support/alloc_counter.hpp"
#include "tests/support/virtual_time.hpp"

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using virtual_rig::settings_at;
using virtual_rig::VirtualRig;

constexpr double kQuantum_V = 10.0 / 2047.0;  // the simulated unit's converter has 12 bits

TEST(UnitLink, LearnsTheFactsOfTheUnit) {
  sim::SimulationSettings settings;
  settings.unit.unit_id = 0xABCDEF0123456789;
  settings.unit.encoder[1].counts_per_turn = 8192;
  settings.unit.ttl_max_ms = 80;
  VirtualRig rig(settings);
  const auto facts = rig.link->connect();
  ASSERT_TRUE(facts.ok()) << facts.error().detail;
  EXPECT_EQ(facts.value().unit_id, 0xABCDEF0123456789);
  EXPECT_EQ(facts.value().encoder_count, 2);
  EXPECT_EQ(facts.value().encoder[1].counts_per_turn, 8192U);
  EXPECT_EQ(facts.value().tick_rate_Hz, 1000.0);
  EXPECT_EQ(facts.value().motor[0].command_max, 10.0);
  EXPECT_EQ(facts.value().ttl_max_ms, 80);
  EXPECT_EQ(facts.value().fault_flags, FAULT_BOOT) << "a unit boots tripped";
}

TEST(UnitLink, SilenceIsReportedWithTheNumbers) {
  VirtualTime time;
  auto line = MemoryTransport::make_pair(time);
  UnitLink link(*line.a);
  const auto facts = link.connect({.reply_timeout = 20ms, .attempts_max = 5});
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.error().code, ErrorCode::kUnitSilent);
  EXPECT_NE(facts.error().detail.find("HELLO within 100 ms"), std::string::npos);
  EXPECT_EQ(time.now(), 100ms) << "waits as long as it says";
}

// Each way in which the unit can be the wrong one has its own message.
TEST(UnitLink, RefusesUnitsThatDoNotFit) {
  const auto refusal = [](const std::function<void(hello_reply&)>& alter) {
    scripted_unit::ScriptedUnit unit;
    unit.alter_hello = alter;
    UnitLink link(unit);
    const auto facts = link.connect({.reply_timeout = 5ms, .attempts_max = 2});
    return facts.ok() ? Error{ErrorCode::kBadUrl, "accepted"} : facts.error();
  };
  EXPECT_EQ(refusal([](hello_reply&) {}).detail, "accepted");
  const Error version = refusal([](hello_reply& r) { r.protocol_version = 1; });
  EXPECT_EQ(version.code, ErrorCode::kProtocolVersion);
  EXPECT_NE(version.detail.find("version 1"), std::string::npos);
  EXPECT_NE(version.detail.find("flash the unit"), std::string::npos) << version.detail;
  const Error newer = refusal([](hello_reply& r) { r.protocol_version = 3; });
  EXPECT_EQ(newer.detail.find("flash"), std::string::npos) << newer.detail;
  const Error layout = refusal([](hello_reply& r) { r.layout_hash ^= 1; });
  EXPECT_EQ(layout.code, ErrorCode::kLayoutMismatch);
  EXPECT_NE(layout.detail.find("layout 0xe5f6152d, this program with 0xe5f6152c"),
            std::string::npos)
      << layout.detail;
  EXPECT_EQ(refusal([](hello_reply& r) { r.nonce ^= 1; }).code, ErrorCode::kUnitSilent)
      << "the reply to someone else's HELLO";
  EXPECT_EQ(refusal([](hello_reply& r) { r.ttl_max_ms = 81; }).code, ErrorCode::kUnitRefused)
      << "facts and configuration hash disagree";
  EXPECT_EQ(refusal([](hello_reply& r) { r.encoder_count = 17; }).code, ErrorCode::kUnitRefused);
}

TEST(UnitLink, RefusesAStreamTheLineDoesNotCarry) {
  VirtualRig rig(settings_at(115'200));
  ASSERT_TRUE(rig.link->connect().ok());
  const auto started = rig.link->start_stream({});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, ErrorCode::kLineTooSlow);
  EXPECT_TRUE(rig.link->start_stream({.compact = true, .divider = 2}).ok()) << "500 Hz does fit";
}

// Every sample arrives once, in order and with its tick, in every format. The unit's own count at
// the end agrees.
TEST(UnitLink, DeliversEverySampleOfACleanLine) {
  for (const bool compact : {false, true}) {
    for (const int divider : {1, 4}) {
      SCOPED_TRACE(::testing::Message() << "compact " << compact << ", divider " << divider);
      VirtualRig rig(settings_at(compact ? 230'400 : 460'800), {{0.0, 0.5}, {}});
      rig.start({.compact = compact, .divider = divider});
      const UnitSample first = rig.read();
      UnitSample sample = first;
      for (int k = 0; k < 2000; ++k) {
        const std::int64_t before_us = sample.unit_time_us;
        const std::uint64_t before = sample.sequence;
        sample = rig.read();
        ASSERT_EQ(sample.sequence, before + 1);
        ASSERT_EQ(sample.unit_time_us, before_us + 1000 * divider);
        ASSERT_EQ(sample.lost_before, 0U);
        ASSERT_TRUE(sample.is_encoder_valid(0) && sample.is_encoder_valid(1));
      }
      EXPECT_NE(sample.encoder_counts[1], first.encoder_counts[1]) << "the rig moves";
      std::uint64_t late = 0;
      const auto end = rig.link->stop_stream([&](const UnitSample&) { ++late; });
      ASSERT_TRUE(end.ok()) << end.error().detail;
      EXPECT_EQ(end.value().lost_at_end, 0U);
      EXPECT_EQ(end.value().samples_sent, sample.sequence + 1 + late);
      EXPECT_EQ(rig.link->counters().samples_lost, 0U);
      EXPECT_EQ(rig.link->frame_counters().damaged_count(), 0U);
      EXPECT_EQ(rig.unit().counters().samples_sent, rig.link->counters().samples_received);
    }
  }
}

// The unit's clock starts just before its 32 bits (and, compact, 24 bits) wrap.
TEST(UnitLink, FollowsTheClockThroughItsWrap) {
  for (const bool compact : {false, true}) {
    sim::SimulationSettings settings;
    settings.unit.clock_start_us = 0xFFFFFFFFU - 700'000U;
    VirtualRig rig(settings);
    rig.start({.compact = compact});
    UnitSample sample = rig.read();
    for (int k = 0; k < 20'000; ++k) {
      const std::int64_t before_us = sample.unit_time_us;
      sample = rig.read();
      ASSERT_EQ(sample.unit_time_us - before_us, 1000);
    }
    EXPECT_EQ(rig.link->counters().samples_implausible, 0U);
    EXPECT_GT(sample.unit_time_us, std::int64_t{0xFFFFFFFF});
  }
}

// A command that answers a sample is always in force exactly one tick later.
TEST(UnitLink, MeasuresACommandDelayOfOneTick) {
  for (const bool compact : {false, true}) {
    VirtualRig rig(settings_at(921'600));
    rig.start({.compact = compact});
    for (int k = 0; k < 1000; ++k) {
      const UnitSample sample = rig.read();
      if (k > 1) {
        ASSERT_TRUE(sample.command_delay_ticks.has_value());
        EXPECT_EQ(*sample.command_delay_ticks, 1);
        EXPECT_NEAR(sample.command[0], 1.0 + 1e-3 * (k - 1), kQuantum_V);
        EXPECT_TRUE(sample.driving);
      }
      ASSERT_TRUE(rig.link->write_command(std::array{1.0 + 1e-3 * k}, 20));
    }
    EXPECT_EQ(rig.link->counters().command_delay_ticks_max, 1);
  }
}

// The recorded command must equal the applied one to the last bit: calibrations detect an
// unreported half step of the wire format.
TEST(UnitLink, ReportsTheExactConverterOutput) {
  for (const int bits : {0, 2, 8, 12, 16}) {
    SCOPED_TRACE(bits);
    sim::SimulationSettings settings = settings_at(921'600);
    settings.unit.command_bits = bits;
    VirtualRig rig(settings);
    rig.start({});
    const double step_V = std::ldexp(10.0 / 32767.0, bits == 0 ? 0 : 16 - bits);
    const double last_V = bits == 0 ? 10.0 : 10.0 * 32768.0 / 32767.0 - step_V;
    for (const double wish_V : {-10.0, -3.0, -0.07, 0.0, 0.01, 1.0 / 3.0, 3.0, 5.123, 10.0}) {
      ASSERT_TRUE(rig.link->write_command(std::array{wish_V}, 20));
      rig.read();
      const double told_V = rig.read().command[0];
      EXPECT_NEAR(told_V, rig.unit().output_V(), 1e-12);
      EXPECT_NEAR(told_V / step_V, std::round(told_V / step_V), 1e-9) << wish_V;
      const double nearest_V = std::clamp(wish_V, -last_V, last_V);
      EXPECT_NEAR(told_V, nearest_V, 0.5 * (step_V + 10.0 / 32767.0)) << wish_V;
    }
  }
}

TEST(UnitLink, HostPacedUnitAnswersEachCommand) {
  VirtualRig rig(settings_at(921'600));
  ASSERT_TRUE(rig.link->connect().ok());
  ASSERT_TRUE(rig.link->start_stream({.host_paced = true}).ok());
  UnitSample sample;
  EXPECT_EQ(rig.link->read_sample(rig.transport->now() + 50ms, sample), ReadStatus::kTimeout);
  for (std::uint64_t k = 0; k < 100; ++k) {
    ASSERT_TRUE(rig.link->write_idle_command());
    ASSERT_EQ(rig.link->read_sample(rig.transport->now() + 3ms, sample), ReadStatus::kSample);
    EXPECT_EQ(sample.sequence, k);
    EXPECT_EQ(sample.command_sequence, k + 1);
  }
}

// While the unit is tripped, no command has an effect until CLEAR.
TEST(UnitLink, BootTripHoldsTheOutputAtZeroUntilCleared) {
  VirtualRig rig;
  ASSERT_TRUE(rig.link->connect().ok());
  ASSERT_TRUE(rig.link->start_stream({}).ok());
  for (int k = 0; k < 50; ++k) {
    rig.link->write_command(std::array{5.0}, 20);
    const UnitSample sample = rig.read();
    ASSERT_TRUE(sample.tripped);
    ASSERT_EQ(sample.command[0], 0.0);
    ASSERT_EQ(rig.unit().output_V(), 0.0);
  }
  ASSERT_EQ(rig.clear(), ClearTripState::kDone);
  EXPECT_EQ(rig.unit().output_V(), 0.0) << "a command from before CLEAR must not act after it";
  rig.link->write_command(std::array{5.0}, 20);
  rig.read();
  EXPECT_NEAR(rig.read().command[0], 5.0, kQuantum_V);
}

// The time-out is the unit's own: after the last command its output is zero within the ttl, up to
// the line's time per byte, and it reports the cause.
TEST(UnitLink, SilenceTripsTheUnitWithinTheTtl) {
  VirtualRig rig(settings_at(921'600));
  rig.start();
  for (int k = 0; k < 100; ++k) {
    rig.read();
    rig.link->write_command(std::array{3.0}, 20);
  }
  const Nanoseconds last_command = rig.transport->now();
  UnitSample sample;
  while (rig.unit().output_V() != 0.0) {
    ASSERT_EQ(rig.link->read_sample(rig.transport->now() + 100us, sample) == ReadStatus::kClosed,
              false);
    ASSERT_LT(rig.transport->now(), last_command + 21ms) << "still driving";
  }
  EXPECT_GT(rig.transport->now(), last_command + 19ms) << "not before its time either";
  for (int k = 0; k < 5; ++k) sample = rig.read();
  EXPECT_TRUE(sample.tripped);
  EXPECT_EQ(sample.fault_flags, FAULT_TTL);
  ASSERT_TRUE(rig.link->last_fault().has_value());
  EXPECT_EQ(rig.link->last_fault()->cause, FAULT_TTL);
  EXPECT_EQ(rig.link->last_fault()->detail, 20);
}

TEST(UnitLink, IdleCommandsNeitherDriveNorTrip) {
  VirtualRig rig;
  rig.start();
  rig.read();
  rig.link->write_command(std::array{3.0}, 20);
  rig.read();
  rig.link->write_idle_command();
  UnitSample sample;
  for (int k = 0; k < 300; ++k) sample = rig.read();
  EXPECT_FALSE(sample.tripped);
  EXPECT_FALSE(sample.driving);
  EXPECT_EQ(sample.command[0], 0.0);
}

TEST(UnitLink, TripRequestHelloAndNonsenseCommandsTrip) {
  VirtualRig rig;
  rig.start();
  rig.link->write_command(std::array{3.0}, 20);
  rig.read();
  rig.read();
  rig.link->write_trip_command();
  rig.read();
  EXPECT_EQ(rig.read().fault_flags, FAULT_HOST);
  ASSERT_EQ(rig.clear(), ClearTripState::kDone);
  rig.link->write_command(std::array{3.0}, 20);
  rig.read();
  rig.read();
  ASSERT_NE(rig.unit().output_V(), 0.0);
  rig.link->write_command(std::array{std::numeric_limits<double>::quiet_NaN()}, 20);
  rig.read();
  EXPECT_EQ(rig.unit().output_V(), 0.0) << "a command that is not a number";
  ASSERT_EQ(rig.clear(), ClearTripState::kDone);
  rig.link->write_command(std::array{3.0}, 20);
  rig.read();
  rig.read();
  ASSERT_NE(rig.unit().output_V(), 0.0);
  ASSERT_TRUE(rig.link->connect().ok()) << "another program begins a session";
  EXPECT_EQ(rig.unit().output_V(), 0.0);
  EXPECT_EQ(rig.link->facts().fault_flags, FAULT_SESSION);
}

// CLEAR needs both steps and the right token. Single frames, and any number of wrong ones, do
// nothing.
TEST(UnitLink, NoSingleFrameClearsATrip) {
  VirtualRig rig;
  ASSERT_TRUE(rig.link->connect().ok());
  for (std::uint32_t token = 0; token <= 0xFFFF; ++token) {
    const clear_request request{2, static_cast<std::uint16_t>(token)};
    rig.unit().receive(test_support::frame_of(test_support::message_of(request)),
                       rig.transport->now());
  }
  EXPECT_TRUE(rig.unit().is_tripped());
}

// After a reset in mid-stream the unit is silent. The next session reports how many samples the
// interrupted stream had, so its tail is counted as lost.
TEST(UnitLink, AccountsForTheTailThatAResetCutOff) {
  VirtualRig rig(settings_at(921'600));
  rig.start();
  for (int k = 0; k < 100; ++k) rig.read();
  const std::uint64_t sent_before = rig.unit().counters().samples_sent;
  rig.unit().reset(rig.transport->now());
  UnitSample sample;
  while (rig.link->read_sample(rig.transport->now() + 100ms, sample) == ReadStatus::kSample) {
  }
  ASSERT_TRUE(rig.link->connect().ok());
  EXPECT_EQ(rig.link->facts().boot_count, 2);
  EXPECT_EQ(rig.link->counters().samples_received + rig.link->counters().samples_lost, sent_before);
}

// If the wireless encoder drops out, its channel is marked, keeps its last count and recovers. The
// other channel is unaffected.
TEST(UnitLink, ChannelsAreValidOneByOne) {
  sim::SimulationSettings settings;
  settings.unit.faults.channel_dropout = 0.01;
  VirtualRig rig(settings, {{0.0, 1.0}, {}});
  rig.start();
  int invalid = 0;
  UnitSample sample;
  std::int64_t last_valid = 0;
  for (int k = 0; k < 3000; ++k) {
    sample = rig.read();
    ASSERT_TRUE(sample.is_encoder_valid(0));
    if (sample.is_encoder_valid(1)) {
      last_valid = sample.encoder_counts[1];
    } else {
      ++invalid;
      ASSERT_EQ(sample.encoder_counts[1], last_valid);
    }
  }
  EXPECT_GT(invalid, 10);
  EXPECT_LT(invalid, 2900);
}

// The hand holds the rig at its start position until it lets go, once in each stream.
TEST(UnitLink, HandLetsGoAfterTheStreamStarts) {
  sim::SimulationSettings settings;
  settings.unit.hand = {sim::HandSettings::ReleaseTime::kAfterStreamStart, 500ms};
  VirtualRig rig(settings, {{0.0, 3.0}, {}});
  for (int run = 0; run < 2; ++run) {
    rig.start();
    UnitSample sample = rig.read();
    const std::int64_t held = sample.encoder_counts[1];
    while (sample.sequence < 499) {
      sample = rig.read();
      ASSERT_EQ(sample.encoder_counts[1], held);
    }
    for (int k = 0; k < 500; ++k) sample = rig.read();
    EXPECT_NE(sample.encoder_counts[1], held);
    ASSERT_TRUE(rig.link->stop_stream().ok());
  }
}

// The unit's error counter after frames that were lost or damaged on the way to it.
TEST(UnitLink, ReportsTheUnitsErrorsPastTheWrapOfTheirCounter) {
  VirtualRig rig;
  rig.start();
  rig.read();
  const std::array<std::uint8_t, 3> garbage = {0x05, 0x01, 0x00};
  UnitSample sample;
  for (int k = 0; k < 1000; ++k) {
    rig.transport->write(garbage);
    sample = rig.read();
  }
  sample = rig.read();
  EXPECT_NEAR(static_cast<double>(sample.unit_error_count), 1000.0, 1.0);
}

// 200 ppm through unit, line and link, in virtual time.
TEST(UnitLink, RecoversTheUnitsClockRate) {
  sim::SimulationSettings settings = settings_at(921'600);
  settings.unit.clock_error_ppm = 200.0;
  settings.to_host.faults.frame_delayed = 0.3;
  VirtualRig rig(settings);
  rig.start();
  for (int k = 0; k < 60'000; ++k) rig.read();
  const ClockFit& fit = rig.link->clock().fit();
  ASSERT_TRUE(fit.valid);
  EXPECT_NEAR(fit.rate_error_ppm, 200.0, 5.0);
  EXPECT_LT(fit.rate_sigma_ppm, 1.0);
}

// The real-time half of the interface never allocates, on a good or a bad line.
TEST(UnitLink, ReadingAndCommandingDoNotAllocate) {
  if (!test_support::AllocCounter::works()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  sim::SimulationSettings settings = settings_at(921'600);
  settings.to_host.faults.bit_flipped = 1e-3;
  settings.to_unit.faults.byte_lost = 1e-3;
  VirtualRig rig(settings);
  rig.start();
  UnitSample sample;
  const test_support::AllocCounter allocations;
  for (int k = 0; k < 2000; ++k) {
    rig.link->read_sample(rig.transport->now() + 2ms, sample);
    rig.link->write_command(std::array{1.0}, 20);
    if (sample.tripped) rig.link->request_trip_clear();
  }
  EXPECT_EQ(allocations.count(), 0);
}

}  // namespace
