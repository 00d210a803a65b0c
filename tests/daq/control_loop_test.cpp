#include "daq/loop/control_loop.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "firmware_iface/wire/fault.h"
#include "tests/daq/simulated_rig.hpp"
#include "tests/support/alloc_counter.hpp"

namespace daq {
namespace {

using std::chrono::milliseconds;

Scenario pulse(double amplitude = 2.0, double duration_s = 1.5) {
  return {"pulse", Pulse{.amplitude = amplitude, .start_s = 0.1, .width_s = 1.0}, duration_s};
}

Scenario steady_drive() { return {"step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0}; }

void expect_balanced(SimulatedRig& rig) {
  const SampleCounts& sample_counts = rig.supervisor().sample_counts();
  EXPECT_EQ(sample_counts.sent(), rig.sim_unit().counters().samples_sent);
  EXPECT_EQ(sample_counts.recorded, rig.sink().samples.size());
  std::uint64_t listed = 0;
  for (const proto::Gap& gap : rig.sink().gaps) listed += gap.sample_count;
  EXPECT_EQ(sample_counts.lost_on_link + sample_counts.lost_in_ring, listed);
}

TEST(ControlLoop, RunsAScenarioToItsEndAndRecordsEverySample) {
  SimulatedRig rig(pulse());
  rig.run();
  rig.finish();
  EXPECT_EQ(rig.loop().trip(), nullptr);
  expect_balanced(rig);
  EXPECT_TRUE(rig.sink().gaps.empty());
  EXPECT_NE(rig.sink().find("finished"), nullptr);
  EXPECT_EQ(rig.sink().find("output"), nullptr) << "of no interest without a trip";
  EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
  // The unit's clock is fitted for 0.5 s, arming takes a few ticks, the scenario lasts 1.5 s.
  EXPECT_NEAR(static_cast<double>(rig.sink().samples.size()), 2000.0, 30.0);
}

// The command must act on the simulated plant. Catches a wrong sign of the angle, a command in the
// wrong unit or one that is never enabled.
TEST(ControlLoop, DrivesThePlantAndReadsItsAngles) {
  SimulatedRig rig(pulse(2.0, 1.2));
  rig.run();
  double largest_V = 0.0;
  for (const proto::Sample& sample : rig.sink().samples) {
    largest_V = std::max(largest_V, sample.command[0]);
  }
  EXPECT_NEAR(largest_V, 2.0, 10.0 / 2048);  // the unit's converter has 12 bits over ±10 V
  rig.supervisor().poll();
  const double truth = rig.sim_unit().plant().state().angle_rad[0];
  EXPECT_GT(truth, 0.5);
  // The last sample may be one tick old: the arm moves less than 0.06 rad in it.
  EXPECT_NEAR(rig.sink().samples.back().angle_rad[0], truth, 0.06);
}

// Without drive no command may ever enable the output.
TEST(ControlLoop, NeverEnablesTheOutputWithoutDrive) {
  LoopSettings settings = furuta_settings();
  settings.drive = false;
  SimulatedRig rig(
      Scenario("release", Release({.held_angle_rad = 0.0, .held_tolerance_rad = 0.1}), 1.0),
      settings);
  rig.run([](SimulatedRig& r, int) { EXPECT_EQ(r.sim_unit().output_V(), 0.0); }, 2000);
  EXPECT_TRUE(rig.sim_unit().is_tripped());  // tripped since boot: nobody cleared it
  rig.poll();
  ASSERT_GT(rig.sink().commands.size(), 1900U);
  for (const proto::Command& command : rig.sink().commands) ASSERT_EQ(command.flags, 0U);
  EXPECT_EQ(rig.loop().trip(), nullptr);
  EXPECT_NE(rig.sink().find("waiting for hold"), nullptr);
  EXPECT_NE(rig.sink().find("waiting for release"), nullptr);
}

// A run is a function of its settings: nothing may depend on the machine's clock.
TEST(ControlLoop, RepeatsARunExactly) {
  std::vector<double> first;
  for (int round = 0; round < 2; ++round) {
    SimulatedRig rig(pulse());
    rig.run();
    rig.finish();
    std::vector<double> angles;
    for (const proto::Sample& sample : rig.sink().samples) angles.push_back(sample.angle_rad[1]);
    if (round == 0) first = angles;
    EXPECT_EQ(angles, first);
  }
}

TEST(ControlLoop, TickDoesNotAllocate) {
  if (!test_support::AllocCounter::works()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  SimulatedRig rig(steady_drive());
  rig.run({}, 500, 0);
  const test_support::AllocCounter allocations;
  for (int k = 0; k < 1000; ++k) rig.loop().tick();
  rig.sim_unit().set_faults({.channel_dropout = 1.0, .dropout_max = std::chrono::seconds(5)});
  for (int k = 0; k < 100; ++k) rig.loop().tick();  // through a trip
  EXPECT_NE(rig.loop().trip(), nullptr);
  EXPECT_EQ(allocations.count(), 0);
}

// Single lost frames are normal: they become gaps without a trip, and sent = recorded + lost.
TEST(ControlLoop, ListsFramesLostOnTheLinkAsGaps) {
  auto simulation = simulation_settings();
  simulation.to_host.faults = {.seed = 5, .frame_lost = 0.02};
  SimulatedRig rig(pulse(), furuta_settings(), simulation);
  rig.run();
  rig.simulation().to_host().set_faults({});
  rig.finish();
  EXPECT_EQ(rig.loop().trip(), nullptr);
  EXPECT_GT(rig.supervisor().sample_counts().lost_on_link, 10U);
  expect_balanced(rig);
}

// ----- Safety: after any failure the unit's output is zero within the ttl. -----

// Runs half a second into a steady drive, injects a fault, and expects a trip with this cause and
// the output off within the ttl from then on.
class Failure : public ::testing::Test {
 protected:
  static constexpr int kBreakTick = 700;

  void expect_safe(const std::function<void(SimulatedRig&)>& break_it, TripCause cause,
                   Nanoseconds after = Nanoseconds(0)) {
    const SafetyLimits limits = furuta_limits();
    SimulatedRig rig(steady_drive(), furuta_settings(), simulation_settings(), limits);
    const double ttl_s = 1e-3 * furuta_settings().ttl_ms;
    double broken_at_s = 0.0;
    rig.run(
        [&](SimulatedRig& r, int tick) {
          if (tick == kBreakTick) {
            ASSERT_GT(r.sim_unit().output_V(), 0.9);
            broken_at_s = r.time_s();
            break_it(r);
          }
          // From the fault until the trip the command may still be in force.
          const double grace_s = ttl_s + limits.joint[1].missing_s_max + 2e-3;
          if (tick > kBreakTick && r.time_s() > broken_at_s + grace_s) {
            EXPECT_EQ(r.sim_unit().output_V(), 0.0) << "at " << r.time_s();
          }
        },
        20'000);
    rig.simulation().to_host().set_faults({});
    rig.simulation().to_unit().set_faults({});
    rig.finish();
    rig.abandon(after);
    ASSERT_NE(rig.loop().trip(), nullptr);
    EXPECT_EQ(rig.loop().trip()->cause, cause) << describe_trip(*rig.loop().trip(), limits);
    EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
    EXPECT_NEAR(rig.loop().trip()->time_s, 1e-3 * kBreakTick, 0.05);
    const double limit = cause == TripCause::kLinkLost ? limits.staleness_s_max
                         : cause == TripCause::kMissingChannel
                             ? limits.joint[rig.loop().trip()->joint].missing_s_max
                             : 0.0;
    EXPECT_EQ(rig.loop().trip()->limit, limit);
    if (cause == TripCause::kUnitTripped) {
      EXPECT_EQ(rig.loop().trip()->value, FAULT_TTL);
    } else {
      EXPECT_GE(rig.loop().trip()->value, limit);
      EXPECT_NEAR(rig.loop().trip()->value, limit, 0.01);
    }
    for (const proto::Command& command : rig.sink().commands) {
      if (command.timestamp_s > rig.loop().trip()->time_s) ASSERT_EQ(command.flags, 0U);
    }
    const proto::Event* trip = rig.sink().find(std::string(to_string(cause)));
    ASSERT_NE(trip, nullptr);
    EXPECT_EQ(trip->kind, proto::EventKind::kTrip);
    EXPECT_FALSE(trip->text.empty());
    const proto::Event* box = rig.sink().find("black box");
    ASSERT_NE(box, nullptr);
    EXPECT_GT(box->last_frames.size(), 100U);
  }
};

TEST_F(Failure, LineToTheHostCut) {
  expect_safe([](SimulatedRig& rig) { rig.simulation().to_host().set_faults({.frame_lost = 1.0}); },
              TripCause::kLinkLost);
}

// The unit receives nothing any more and switches itself off. The host sees its output off.
TEST_F(Failure, LineToTheUnitCut) {
  expect_safe([](SimulatedRig& rig) { rig.simulation().to_unit().set_faults({.frame_lost = 1.0}); },
              TripCause::kUnitTripped);
}

TEST_F(Failure, EveryByteToTheHostDamaged) {
  expect_safe(
      [](SimulatedRig& rig) { rig.simulation().to_host().set_faults({.bit_flipped = 1.0}); },
      TripCause::kLinkLost);
}

TEST_F(Failure, EveryByteToTheUnitDamaged) {
  expect_safe(
      [](SimulatedRig& rig) { rig.simulation().to_unit().set_faults({.bit_flipped = 1.0}); },
      TripCause::kUnitTripped);
}

TEST_F(Failure, LineStalled) {
  expect_safe(
      [](SimulatedRig& rig) {
        rig.simulation().to_host().set_faults({.stall = 1.0, .stall_max = std::chrono::seconds(2)});
      },
      TripCause::kLinkLost);
}

TEST_F(Failure, WirelessEncoderLost) {
  expect_safe(
      [](SimulatedRig& rig) {
        rig.sim_unit().set_faults(
            {.channel_dropout = 1.0, .dropout_max = std::chrono::seconds(100)});
      },
      TripCause::kMissingChannel);
}

// The unit keeps running without a line, so its own ttl must act.
TEST_F(Failure, PortClosed) {
  expect_safe([](SimulatedRig& rig) { rig.transport().close(); }, TripCause::kPortClosed,
              milliseconds(furuta_settings().ttl_ms + 2));
}

// The motion itself exceeds a limit: the very next command must switch off.
TEST(ControlLoop, TripsWhenTheArmLeavesItsRange) {
  SafetyLimits limits = furuta_limits();
  limits.joint[0].angle_rad_max = 1.0;
  SimulatedRig rig(steady_drive(), furuta_settings(), simulation_settings(), limits);
  double tripped_at_s = -1.0;
  rig.run([&](SimulatedRig& r, int) {
    if (r.loop().trip() == nullptr) return;
    if (tripped_at_s < 0.0) tripped_at_s = r.time_s();
    // The answer to the tripping sample takes effect at the next tick.
    EXPECT_TRUE(r.time_s() < tripped_at_s + 2e-3 || r.sim_unit().output_V() == 0.0);
  });
  ASSERT_NE(rig.loop().trip(), nullptr);
  EXPECT_EQ(rig.loop().trip()->cause, TripCause::kAngle);
  EXPECT_GT(rig.loop().trip()->value, 1.0);
  EXPECT_EQ(rig.loop().trip()->limit, 1.0);
  EXPECT_TRUE(rig.sim_unit().is_tripped());
}

// A restarted unit has lost its stream: it sends nothing more and boots with its output off.
TEST(ControlLoop, TripsWhenTheUnitRestarts) {
  SimulatedRig rig(steady_drive());
  rig.run([](SimulatedRig& r, int tick) {
    if (tick == 500) r.sim_unit().reset(r.transport().now());
    if (tick > 500) {
      EXPECT_EQ(r.sim_unit().output_V(), 0.0);
    }
  });
  ASSERT_NE(rig.loop().trip(), nullptr);
  EXPECT_TRUE(rig.loop().trip()->cause == TripCause::kLinkLost ||
              rig.loop().trip()->cause == TripCause::kUnitRestarted);
}

// The host program is killed (kill -9) during a drive: no command is sent any more.
TEST(ControlLoop, UnitSwitchesOffByItselfWhenTheHostDies) {
  SimulatedRig rig(steady_drive());
  rig.run({}, 700);
  ASSERT_GT(rig.sim_unit().output_V(), 0.9);
  rig.abandon(milliseconds(furuta_settings().ttl_ms + 2));  // plus the frame in transit
  EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
  EXPECT_TRUE(rig.sim_unit().is_tripped());
}

}  // namespace
}  // namespace daq
