#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/daq/simulated_rig.hpp"
#include "tests/support/seeded_runs.hpp"
#include "tests/support/wire_messages.hpp"

namespace daq {
namespace {

using firmware_iface::LineFaults;
using std::chrono::milliseconds;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Draws the faults of one run at random. About every third kind of fault is present.
class FaultSource {
 public:
  explicit FaultSource(std::uint64_t seed) : random_(seed) {}

  double sometimes(double largest) {
    return uniform() < 0.3 ? largest * uniform() * uniform() : 0.0;
  }
  double uniform() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }

  LineFaults line() {
    LineFaults faults{.seed = random_()};
    faults.frame_lost = sometimes(0.2);
    faults.frame_duplicated = sometimes(0.2);
    faults.frame_delayed = sometimes(0.2);
    faults.delay_max = milliseconds(1 + static_cast<int>(8 * uniform()));
    faults.stall = sometimes(0.01);
    faults.burst = sometimes(0.1);
    faults.byte_lost = sometimes(0.02);
    faults.byte_duplicated = sometimes(0.02);
    faults.bit_flipped = sometimes(0.02);
    return faults;
  }

  firmware_iface::sim::UnitFaults unit() {
    return {.seed = random_(),
            .channel_dropout = sometimes(0.02),
            .dropout_max = milliseconds(1 + static_cast<int>(30 * uniform())),
            .dropout_channels = 0x03,
            .reset = uniform() < 0.1 ? 0.003 : 0.0};
  }

  // Faults of the host, and stale commands on the line.
  struct Host {
    double falls_silent = 0.0;  // per tick: the loop stops for up to silence_max
    Nanoseconds silence_max{0};
    double stale_command = 0.0;  // per tick: an old command that enables reaches the unit
    bool disk_hangs = false;     // from some time in the run
    bool angle_is_nan = false;   // a NaN scale that passed all earlier checks
    bool command_is_nan = false;
  };
  Host host() {
    return {.falls_silent = sometimes(0.01),
            .silence_max = milliseconds(1 + static_cast<int>(199 * uniform())),
            .stale_command = sometimes(0.05),
            .disk_hangs = uniform() < 0.3,
            .angle_is_nan = uniform() < 0.05,
            .command_is_nan = uniform() < 0.05};
  }

  Scenario scenario(bool command_is_nan) {
    const double amplitude = command_is_nan ? kNaN : 16.0 * uniform() - 8.0;
    switch (static_cast<int>(4 * uniform())) {
      case 0:
        return {"step", Step{amplitude, 0.05}, 0.4};
      case 1:
        return {"pulse", Pulse{amplitude, 0.05, 0.2}, 0.4};
      case 2:
        return {"chirp", Chirp{amplitude, 1.0, 20.0, 0.0, 0.4}, 0.4};
      default:
        return {"swing-up",
                SwingUp({.pendulum = 1,
                         .energy_gain = amplitude,
                         .command_max = 8.0,
                         .natural_frequency_Hz = 1.2,
                         .kick_command = 4.0,
                         .kick_time_s = 0.1}),
                0.4};
    }
  }

 private:
  std::mt19937_64 random_;
};

// Every recorded sample was sent by the unit and holds the true counts, in order and once only.
void expect_true_samples(SimulatedRig& rig) {
  std::uint64_t next = 0;
  for (const proto::Sample& sample : rig.sink().samples) {
    ASSERT_GE(sample.sequence, next);
    next = sample.sequence + 1;
    const auto truth = rig.truth().find(sample.sequence);
    ASSERT_NE(truth, rig.truth().end()) << "sample " << sample.sequence << " was never sent";
    for (std::size_t j = 0; j < sample.channel_count; ++j) {
      if (!sample.valid[j]) continue;
      ASSERT_EQ(sample.encoder_counts[j], truth->second.encoder_counts[j]) << sample.sequence;
    }
  }
}

// Samples sent by the unit = recorded + listed as gaps, exactly, and no gap covers a recorded
// sample. A restarted unit has lost its count, so its last samples may be missing in the list.
void expect_balanced(SimulatedRig& rig) {
  std::uint64_t listed = 0;
  for (const proto::Gap& gap : rig.sink().gaps) listed += gap.sample_count;
  const std::uint64_t accounted = rig.sink().samples.size() + listed;
  if (rig.sim_unit().counters().resets == 0) {
    EXPECT_EQ(accounted, rig.sim_unit().counters().samples_sent);
  } else {
    EXPECT_LE(accounted, rig.sim_unit().counters().samples_sent);
  }
}

// Whatever the scenario requested, every sent command is a number within the limit.
void expect_commands_within(double command_max, SimulatedRig& rig) {
  for (const proto::Command& command : rig.sink().commands) {
    ASSERT_LE(std::abs(command.command[0]), command_max) << "false for what is no number, too";
  }
}

// Delivers to the unit a command that this program may have sent long ago.
void replay_command(SimulatedRig& rig, std::uint16_t sequence, std::uint32_t answers) {
  const command_request request{sequence, answers, COMMAND_ENABLE, 20, {20'000}};
  rig.simulation().to_unit().push(test_support::frame_of(test_support::message_of(request, 1)),
                                  rig.transport().now());
}

struct CampaignTotals {
  int trips = 0;
  int resets = 0;
  int pauses = 0;        // of the host, detected by the host
  int stalls = 0;        // of the host's disk
  int silent_trips = 0;  // of the unit, for lack of a command
  std::uint64_t gaps = 0;
};

void run_once(std::uint64_t seed, CampaignTotals& totals) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  FaultSource source(seed);
  auto simulation = simulation_settings();
  SafetyLimits limits = furuta_limits();
  const FaultSource::Host host = source.host();
  LoopSettings settings = furuta_settings();
  std::atomic<std::uint64_t> heartbeat{0};
  settings.storage_heartbeat = &heartbeat;
  limits.unstored_s_max = 0.1;
  const int hangs_from_tick =
      host.disk_hangs ? 100 + static_cast<int>(800 * source.uniform()) : 1'000'000;
  // Faults start before the unit is cleared, before its clock is known, or during the drive.
  const int faults_from_tick = source.uniform() < 0.2 ? 20 : 520;
  if (host.angle_is_nan) settings.channel[source.uniform() < 0.5 ? 0 : 1].offset_rad = kNaN;
  SimulatedRig rig(source.scenario(host.command_is_nan), settings, simulation, limits);
  rig.keep_truth();
  const LineFaults to_host = source.line();
  const LineFaults to_unit = source.line();
  const auto in_unit = source.unit();
  const double ttl_s = 1e-3 * settings.ttl_ms;
  double tripped_at_s = -1.0;
  double replayed_at_s = -1.0;
  rig.run(
      [&](SimulatedRig& r, int tick) {
        if (tick == faults_from_tick) {
          r.simulation().to_host().set_faults(to_host);
          r.simulation().to_unit().set_faults(to_unit);
          r.sim_unit().set_faults(in_unit);
        }
        if (tick < hangs_from_tick) ++heartbeat;
        if (source.uniform() < host.stale_command) {
          // Sent a moment ago, or long ago.
          replay_command(r, static_cast<std::uint16_t>(tick),
                         static_cast<std::uint32_t>(source.uniform() * 1.01 * tick));
          replayed_at_s = r.time_s();
        }
        if (source.uniform() < host.falls_silent) {
          r.abandon(Nanoseconds(static_cast<std::int64_t>(
              source.uniform() * static_cast<double>(host.silence_max.count()))));
        }
        ASSERT_LE(std::abs(r.sim_unit().output_V()), limits.motor[0].command_max + 10.0 / 2048);
        ASSERT_TRUE(!host.angle_is_nan || r.sim_unit().output_V() == 0.0 || replayed_at_s >= 0.0)
            << "driven by an angle that is no number";
        if (r.loop().trip() == nullptr) return;
        if (tripped_at_s < 0.0) tripped_at_s = r.time_s();
        // The line may delay a command in transit at the trip before its ttl starts.
        const double grace_s = ttl_s + 0.1 + 0.01;
        if (r.time_s() > std::max(tripped_at_s, replayed_at_s) + grace_s) {
          ASSERT_EQ(r.sim_unit().output_V(), 0.0);
        }
      },
      3000);
  rig.simulation().to_host().set_faults({});
  rig.simulation().to_unit().set_faults({});
  rig.sim_unit().set_faults({});
  rig.finish();
  rig.abandon(milliseconds(settings.ttl_ms + 120));
  EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
  EXPECT_LE(rig.sim_unit().counters().longest_unrefreshed_output, milliseconds(settings.ttl_ms));
  if (host.angle_is_nan) {
    EXPECT_NE(rig.loop().trip(), nullptr);
  }
  expect_commands_within(limits.motor[0].command_max, rig);
  expect_true_samples(rig);
  expect_balanced(rig);
  totals.trips += rig.loop().trip() != nullptr;
  totals.resets += rig.sim_unit().counters().resets > 0;
  totals.gaps += rig.sink().gaps.size();
  if (const Trip* trip = rig.loop().trip()) {
    totals.pauses += trip->cause == TripCause::kHostPaused;
    totals.stalls += trip->cause == TripCause::kRecordingStalled;
  }
  totals.silent_trips += static_cast<int>(rig.sim_unit().counters().trips[1]);
}

// A seeded campaign in virtual time. Every failure prints the seed that reproduces it.
class FaultCampaign : public ::testing::TestWithParam<int> {};

constexpr int kShards = 10;  // so that they run in parallel

TEST_P(FaultCampaign, AccountsForEverySampleAndEndsWithTheOutputOff) {
  CampaignTotals totals;
  const int count = std::max(test_support::seeded_runs().count / kShards, 1);
  for (int k = 0; k < count && !HasFailure(); ++k) {
    run_once(
        test_support::seeded_runs().first_seed + static_cast<std::uint64_t>(count * GetParam() + k),
        totals);
  }
  if (count < 10) return;
  // A campaign in which nothing or everything goes wrong would prove little.
  EXPECT_GT(totals.trips, count / 15);
  EXPECT_LT(totals.trips, count * 95 / 100);
  EXPECT_GT(totals.gaps, static_cast<std::uint64_t>(count));
  EXPECT_GT(totals.silent_trips, 0);
  EXPECT_GT(totals.pauses, 0);
  EXPECT_GT(totals.stalls, 0);
}

INSTANTIATE_TEST_SUITE_P(Part, FaultCampaign, ::testing::Range(0, kShards));

}  // namespace
}  // namespace daq
