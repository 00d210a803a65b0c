#include <gtest/gtest.h>

#include <random>

#include "firmware_iface/wire/fault.h"
#include "tests/firmware_iface/virtual_rig.hpp"
#include "tests/support/seeded_runs.hpp"

// Many short sessions of a unit on a bad line, in virtual time. Every sample that the unit sent is
// received once or counted as lost, and the output is zero within the ttl of the last command that
// reached the unit. Each session is a function of its seed.

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using virtual_rig::settings_at;
using virtual_rig::VirtualRig;

constexpr int kTtl_ms = 20;

// Every seed draws its own mixture of faults. Each kind is absent in about a third of the sessions.
sim::SimulationSettings draw_settings(std::mt19937_64& random, bool compact) {
  sim::SimulationSettings settings = settings_at(compact ? 230'400 : 921'600);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto maybe = [&](double largest) {
    const double u = uniform(random);
    return u < 0.33 ? 0.0 : largest * u * u;
  };
  for (LineSettings* line : {&settings.to_host, &settings.to_unit}) {
    LineFaults& faults = line->faults;
    faults.seed = random();
    faults.frame_lost = maybe(0.1);
    faults.frame_duplicated = maybe(0.05);
    faults.frame_delayed = maybe(0.1);
    faults.stall = maybe(0.005);
    faults.burst = maybe(0.02);
    faults.byte_lost = maybe(0.005);
    faults.byte_duplicated = maybe(0.005);
    faults.bit_flipped = maybe(0.005);
  }
  settings.unit.clock_error_ppm = 400.0 * uniform(random) - 200.0;
  settings.unit.clock_start_us = random();
  settings.unit.clock_start_us &= 0xFFFFFFFFFFU;
  settings.unit.faults.seed = random();
  settings.unit.faults.channel_dropout = maybe(0.01);
  settings.unit.faults.reset = uniform(random) < 0.3 ? 1e-3 : 0.0;
  return settings;
}

void end_faults(VirtualRig& rig) {
  rig.transport->simulation().to_host().set_faults({});
  rig.transport->simulation().to_unit().set_faults({});
  rig.unit().set_faults({});
}

struct Outcome {
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  std::uint64_t resets = 0;
  std::uint64_t ttl_trips = 0;
  std::uint64_t damaged = 0;
};

// Connects and starts the stream, with as many attempts as this line needs.
bool begin(VirtualRig& rig, const StreamSettings& stream) {
  const RequestSettings patient{.reply_timeout = 30ms, .attempts_max = 100};
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (rig.link->connect(patient).ok() && rig.link->start_stream(stream, patient).ok())
      return true;
  }
  return false;
}

void live(std::uint64_t seed, Outcome& outcome) {
  std::mt19937_64 random(seed);
  const StreamSettings stream{.compact = random() % 2 == 0};
  VirtualRig rig(draw_settings(random, stream.compact), {{0.0, 1.0}, {}});
  ASSERT_TRUE(begin(rig, stream)) << "no session in spite of 1000 attempts";

  UnitSample sample;
  std::uint64_t next_sequence = 0;
  std::uint64_t listed = 0;  // received samples and listed gaps, as seen by a recorder
  int silent_periods = 0;
  const Nanoseconds end = rig.transport->now() + 600ms;
  while (rig.transport->now() < end) {
    const ReadStatus status = rig.link->read_sample(rig.transport->now() + 2ms, sample);
    if (status == ReadStatus::kSample) {
      silent_periods = 0;
      ASSERT_EQ(sample.sequence, next_sequence + sample.lost_before) << "order or accounting";
      next_sequence = sample.sequence + 1;
      listed += 1 + sample.lost_before;
      if (sample.tripped && rig.link->trip_clear_state() != ClearTripState::kPending) {
        rig.link->request_trip_clear();
      }
      rig.link->write_command(std::array{2.0}, kTtl_ms);
    } else if (++silent_periods > 100 || status == ReadStatus::kInconsistent) {
      ASSERT_TRUE(begin(rig, stream));  // after a reset of the unit
      next_sequence = 0;
      silent_periods = 0;
    }
    ASSERT_TRUE(!rig.unit().is_tripped() || rig.unit().output_V() == 0.0);
  }

  // The host falls silent. Bytes on the line to the unit may still arrive, each delayed by a stall
  // of up to 100 ms. One ttl after the last of them the output must stay zero.
  const Nanoseconds silent_from = rig.transport->now();
  Nanoseconds last_arrival = silent_from;
  while (rig.transport->now() < silent_from + 2s) {
    if (rig.transport->simulation().to_unit().next_arrival()) {
      last_arrival = rig.transport->now() + 1ms;
    }
    if (rig.unit().output_V() != 0.0) {
      ASSERT_LE(rig.transport->now(), last_arrival + std::chrono::milliseconds(kTtl_ms) + 1ms)
          << "still driving";
    }
    rig.link->read_sample(rig.transport->now() + 1ms, sample);
  }

  // Balance: on a clean line the unit reports its total number of samples sent.
  end_faults(rig);
  const auto stopped = rig.link->stop_stream();
  ASSERT_TRUE(stopped.ok() || rig.link->connect().ok());
  const LinkCounters& link = rig.link->counters();
  // Measured by the unit's own clock, which may be off by 200 ppm: 4 µs of the ttl.
  EXPECT_LE(rig.unit().counters().longest_unrefreshed_output,
            std::chrono::milliseconds(kTtl_ms) + 5us);
  EXPECT_EQ(link.samples_received + link.samples_lost, rig.unit().counters().samples_sent);
  EXPECT_GE(link.samples_received + link.samples_lost, listed);
  outcome.received += link.samples_received;
  outcome.lost += link.samples_lost;
  outcome.resets += rig.unit().counters().resets;
  outcome.ttl_trips += rig.unit().counters().trips[1];
  outcome.damaged += rig.link->frame_counters().damaged_count();
}

class Campaign : public ::testing::TestWithParam<int> {};

constexpr int kShards = 10;  // so that they run in parallel

TEST_P(Campaign, AccountsForEverySampleAndNeverDrivesInSilence) {
  Outcome outcome;
  const int count = std::max(test_support::seeded_runs().count / kShards, 1);
  for (int k = 0; k < count; ++k) {
    const auto seed =
        test_support::seeded_runs().first_seed + static_cast<std::uint64_t>(count * GetParam() + k);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    live(seed, outcome);
    if (HasFailure()) return;
  }
  if (count < 10) return;
  // A campaign without faults would prove nothing.
  const auto lives = static_cast<std::uint64_t>(count);
  EXPECT_GT(outcome.received, 200 * lives);
  EXPECT_GT(outcome.lost, 5 * lives);
  EXPECT_GT(outcome.damaged, 5 * lives);
  EXPECT_GT(outcome.resets, lives / 50);
  EXPECT_GT(outcome.ttl_trips, lives / 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Campaign, ::testing::Range(0, kShards));

}  // namespace
