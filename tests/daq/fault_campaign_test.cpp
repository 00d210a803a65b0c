#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/daq/simulated_rig.hpp"

namespace daq {
namespace {

using firmware_iface::LineFaults;
using std::chrono::milliseconds;

constexpr int kRuns = 1000;

// Draws what goes wrong in one run; about every third kind of fault is present at all.
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

  Scenario scenario() {
    const double amplitude = 16.0 * uniform() - 8.0;
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

// Every sample recorded is one the unit sent, with the counts that were true; in order, never
// twice.
void expect_true_samples(SimulatedRig& rig) {
  std::uint64_t next = 0;
  for (const proto::Sample& sample : rig.told().samples) {
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

// Sent by the unit = recorded + listed as gaps, exactly; and no gap names a sample recorded.
void expect_balanced(SimulatedRig& rig) {
  std::uint64_t listed = 0;
  for (const proto::Gap& gap : rig.told().gaps) listed += gap.sample_count;
  EXPECT_EQ(rig.told().samples.size() + listed, rig.sim_unit().counters().samples_sent);
}

struct CampaignTotals {
  int trips = 0;
  int resets = 0;
  std::uint64_t gaps = 0;
};

void run_once(std::uint64_t seed, CampaignTotals& totals) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  FaultSource source(seed);
  auto simulation = simulation_settings();
  SafetyLimits limits = furuta_limits();
  SimulatedRig rig(source.scenario(), furuta_settings(), simulation, limits);
  rig.keep_truth();
  const LineFaults to_host = source.line();
  const LineFaults to_unit = source.line();
  const auto in_unit = source.unit();
  const double ttl_s = 1e-3 * furuta_settings().ttl_ms;
  double tripped_at_s = -1.0;
  rig.run(
      [&](SimulatedRig& r, int tick) {
        if (tick == 20) {
          r.simulation().to_host().set_faults(to_host);
          r.simulation().to_unit().set_faults(to_unit);
          r.sim_unit().set_faults(in_unit);
        }
        ASSERT_LE(std::abs(r.sim_unit().output_V()), limits.command_max + 10.0 / 2048);
        if (r.loop().trip() == nullptr) return;
        if (tripped_at_s < 0.0) tripped_at_s = r.time_s();
        // A command under way when the host tripped may be delayed by the line before its ttl runs.
        const double grace_s = ttl_s + 0.1 + 0.01;
        if (r.time_s() > tripped_at_s + grace_s) {
          ASSERT_EQ(r.sim_unit().output_V(), 0.0);
        }
      },
      3000);
  rig.simulation().to_host().set_faults({});
  rig.simulation().to_unit().set_faults({});
  rig.sim_unit().set_faults({});
  rig.finish();
  rig.abandon(milliseconds(furuta_settings().ttl_ms + 120));
  EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
  expect_true_samples(rig);
  const bool reset = rig.sim_unit().counters().resets > 0;
  if (!reset) expect_balanced(rig);  // a unit that restarts forgets what it had sent
  totals.trips += rig.loop().trip() != nullptr;
  totals.resets += reset;
  totals.gaps += rig.told().gaps.size();
}

// A seeded campaign in virtual time. Any failure replays from the seed it prints.
class FaultCampaign : public ::testing::TestWithParam<int> {};

TEST_P(FaultCampaign, AccountsForEverySampleAndEndsWithTheOutputOff) {
  CampaignTotals totals;
  constexpr int kParts = 10;
  for (int k = 0; k < kRuns / kParts && !HasFatalFailure(); ++k) {
    run_once(static_cast<std::uint64_t>(GetParam() * kRuns / kParts + k + 1), totals);
  }
  // A campaign in which nothing goes wrong, or everything, would prove little.
  EXPECT_GT(totals.trips, 10);
  EXPECT_LT(totals.trips, 95);
  EXPECT_GT(totals.gaps, 100U);
}

INSTANTIATE_TEST_SUITE_P(Part, FaultCampaign, ::testing::Range(0, 10));

}  // namespace
}  // namespace daq
