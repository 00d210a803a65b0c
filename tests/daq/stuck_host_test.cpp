#include <gtest/gtest.h>

#include <algorithm>

#include "tests/daq/simulated_rig.hpp"

// Stalls of this computer, in virtual time: of the loop's thread, of the thread that writes to the
// disk, and of the supervisor.

namespace daq {
namespace {

using firmware_iface::IoResult;
using firmware_iface::IoStatus;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kBreakTick = 800;  // driven since tick 510

Scenario stuck_drive() { return {"step", Step{.amplitude = 0.2, .start_s = 0.0}, 60.0}; }

void expect_trip(SimulatedRig& rig, TripCause cause) {
  ASSERT_NE(rig.loop().trip(), nullptr);
  EXPECT_EQ(rig.loop().trip()->cause, cause) << describe_trip(*rig.loop().trip(), furuta_limits());
  EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
  EXPECT_TRUE(rig.sim_unit().is_tripped());
}

// ----- The loop's thread does not run -----

class HostPause : public ::testing::TestWithParam<bool> {
 protected:
  LoopSettings settings() const {
    LoopSettings made = furuta_settings();
    made.host_paced = GetParam();
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(PacedBy, HostPause, ::testing::Bool(),
                         [](const auto& host) { return host.param ? "Host" : "Unit"; });

// The pause is measured by the host's clock, to the microsecond, although samples of that time wait
// to be read and the unit's clock shows none missing. It may begin between two periods or while a
// command is written. The first message after the pause ends the drive, before the unit's own
// longer ttl does.
TEST_P(HostPause, TripsBeyondItsBound) {
  for (const auto& [beyond, writes] : {std::pair{false, false}, {true, false}, {true, true}}) {
    SCOPED_TRACE(::testing::Message() << beyond << writes);
    SimulatedRig rig(stuck_drive(), settings());
    // A unit that the host paces takes no samples meanwhile, so its staleness limit acts first.
    // After it has written, it would have waited for a period.
    const auto pause = beyond ? milliseconds(writes && GetParam() ? 16 : 15) + microseconds(1)
                              : milliseconds(GetParam() ? 13 : 15) - microseconds(1);
    rig.run(
        [&](SimulatedRig& r, int tick) {
          if (tick != kBreakTick) return;
          ASSERT_GT(r.sim_unit().output_V(), 0.15);
          if (writes) {
            r.line().on_command = [&](const command_request&) {
              r.line().on_command = nullptr;
              r.abandon(pause);
            };
            return;
          }
          r.abandon(pause);
          ASSERT_FALSE(r.sim_unit().is_tripped());
        },
        kBreakTick + 100);
    if (!beyond) {
      EXPECT_EQ(rig.loop().trip(), nullptr);
      EXPECT_GT(rig.sim_unit().output_V(), 0.15);
      continue;
    }
    expect_trip(rig, TripCause::kHostPaused);
    EXPECT_NEAR(rig.loop().trip()->value, 0.015'001, 1e-9);
    EXPECT_EQ(rig.loop().trip()->limit, 0.015);
    EXPECT_EQ(rig.sim_unit().counters().trips[4], 1U) << "by the host, not by the ttl";
    rig.poll();
    ASSERT_FALSE(rig.sink().commands.empty());
    for (const proto::Command& command : rig.sink().commands) {
      if (command.timestamp_s <= rig.loop().trip()->time_s) continue;
      EXPECT_EQ(command.flags, 0U) << command.timestamp_s;
    }
  }
}

// A pause that the unit's time to live of 20 ms does not allow. The unit switches off by itself,
// and the message names the pause, whether the loop allows it or not.
TEST_P(HostPause, IsNamedIfItTripsTheUnit) {
  for (const double staleness_s_max : {0.5, 0.01}) {
    SafetyLimits limits = furuta_limits();
    limits.staleness_s_max = staleness_s_max;
    SimulatedRig rig(stuck_drive(), settings(), simulation_settings(), limits);
    rig.run([](SimulatedRig& r, int tick) {
      if (tick == kBreakTick) r.abandon(milliseconds(90));
    });
    const bool by_host = staleness_s_max < 0.09;
    expect_trip(rig, by_host ? TripCause::kHostPaused : TripCause::kUnitTripped);
    rig.poll();
    const proto::Event* trip = rig.sink().find(by_host ? "host paused" : "unit tripped");
    ASSERT_NE(trip, nullptr);
    EXPECT_NE(trip->text.find(by_host ? "this computer paused for 90 ms, 10 ms allowed"
                                      : "this computer paused for up to 90 ms"),
              std::string::npos)
        << trip->text;
  }
}

// A line without data, on a clock that a test sets, and a host that wakes late from a wait.
class SilentTransport final : public firmware_iface::Transport {
 public:
  Nanoseconds now() const noexcept override { return now_; }
  IoResult read_some(std::span<std::uint8_t>, Nanoseconds deadline) noexcept override {
    now_ = std::max(now_, deadline) + late_;
    late_ = Nanoseconds(0);
    return {IoStatus::kTimeout, 0};
  }
  IoResult write(std::span<const std::uint8_t> bytes) noexcept override {
    return {IoStatus::kOk, bytes.size()};
  }
  void close() noexcept override {}
  const firmware_iface::TransportReport& report() const noexcept override { return report_; }

  void wake_late_by(Nanoseconds duration) { late_ = duration; }

 private:
  Nanoseconds now_{seconds(5)};
  Nanoseconds late_{0};
  firmware_iface::TransportReport report_;
};

// Waiting for a sample is no pause: silence is a fault of the line, a late wake-up one of this
// computer.
TEST_P(HostPause, IsDistinguishedFromASilentLine) {
  for (const Nanoseconds late : {Nanoseconds(0), Nanoseconds(milliseconds(15) + microseconds(1))}) {
    SilentTransport line;
    firmware_iface::UnitLink link(line);
    BlackBox black_box;
    const auto loop =
        std::make_unique<ControlLoop>(link, black_box, stuck_drive(), furuta_limits(), settings());
    ASSERT_TRUE(loop->tick());
    line.wake_late_by(late);
    for (int k = 0; k < 30; ++k) loop->tick();
    ASSERT_NE(loop->trip(), nullptr);
    EXPECT_EQ(loop->trip()->cause,
              late.count() == 0 ? TripCause::kLinkLost : TripCause::kHostPaused);
  }
}

// ----- The disk accepts no data -----

class Heartbeat : public ::testing::Test {
 protected:
  // A disk that accepts data in every tick, except for this time from kBreakTick on.
  void run(SimulatedRig& rig, double hangs_s, int tick_count) {
    double broken_at_s = 0.0;
    rig.run(
        [&](SimulatedRig& r, int tick) {
          if (tick == kBreakTick) broken_at_s = r.time_s();
          if (tick <= kBreakTick || r.time_s() - broken_at_s > hangs_s) ++heartbeat_;
          if (disturb_) disturb_(r, tick);
        },
        tick_count);
  }
  LoopSettings settings() const {
    LoopSettings made = furuta_settings();
    made.storage_heartbeat = &heartbeat_;
    return made;
  }

  std::atomic<std::uint64_t> heartbeat_{0};
  std::function<void(SimulatedRig&, int)> disturb_;
};

TEST_F(Heartbeat, TripsWhenNothingIsStoredForLongerThanItsBound) {
  for (const double hangs_s : {0.99, 1.01}) {
    SCOPED_TRACE(hangs_s);
    SimulatedRig rig(stuck_drive(), settings());
    run(rig, hangs_s, 3000);
    if (hangs_s < 1.0) {
      EXPECT_EQ(rig.loop().trip(), nullptr);
      EXPECT_GT(rig.sim_unit().output_V(), 0.15);
      continue;
    }
    expect_trip(rig, TripCause::kRecordingStalled);
    EXPECT_NEAR(rig.loop().trip()->value, 1.0, 2e-3);
    EXPECT_GT(rig.loop().trip()->value, rig.loop().trip()->limit);
    EXPECT_NEAR(rig.loop().trip()->time_s, 1e-3 * kBreakTick + 1.0, 5e-3);
    rig.poll();
    EXPECT_NE(rig.sink().find("recording stalled"), nullptr);
  }
}

// While the computer pauses it stores nothing, which must not be reported as a disk fault.
TEST_F(Heartbeat, DoesNotCountAPauseOfTheComputer) {
  SafetyLimits limits = furuta_limits();
  limits.staleness_s_max = 5.0;
  LoopSettings watching = settings();
  watching.drive = false;
  SimulatedRig rig({"release", Release({.held_angle_rad = 0.0, .held_tolerance_rad = 0.1}), 60.0},
                   watching, simulation_settings(), limits);
  disturb_ = [](SimulatedRig& r, int tick) {
    if (tick == kBreakTick + 500) r.abandon(seconds(3));
  };
  // The disk hangs for 0.5 s, the computer pauses for 3 s, and the disk hangs for another 0.4 s.
  run(rig, 3.9, 3000);
  EXPECT_EQ(rig.loop().trip(), nullptr);
}

// A pause while a sample is read counts once, also if it outlasts the wait for further samples.
TEST_F(Heartbeat, CountsAPauseOnce) {
  SafetyLimits limits = furuta_limits();
  limits.staleness_s_max = 5.0;
  for (const bool host_paced : {false, true}) {
    SCOPED_TRACE(host_paced);
    LoopSettings watching = settings();
    watching.drive = false;
    watching.host_paced = host_paced;
    SimulatedRig rig(stuck_drive(), watching, simulation_settings(), limits);
    disturb_ = [](SimulatedRig& r, int tick) {
      if (tick != kBreakTick + 100) return;
      r.line().on_sample = [&r](const sample_report&) {
        r.line().on_sample = nullptr;
        r.abandon(milliseconds(300));
      };
    };
    run(rig, 60.0, 3000);
    ASSERT_NE(rig.loop().trip(), nullptr);
    EXPECT_EQ(rig.loop().trip()->cause, TripCause::kRecordingStalled);
    EXPECT_NEAR(rig.loop().trip()->time_s, 1e-3 * kBreakTick + 1.3, 8e-3);
  }
}

// ----- The supervisor does not run -----

// The ring holds its capacity. One sample more ends the drive, and later losses are counted and
// listed.
TEST(FullRing, TripsAndListsWhatIsLost) {
  constexpr int kFits = static_cast<int>(ControlLoop::Ring::kCapacity);
  for (const bool beyond : {false, true}) {
    SCOPED_TRACE(beyond);
    SimulatedRig rig(stuck_drive());
    rig.run(
        [&](SimulatedRig& r, int) {
          if (r.loop().counters().samples.load() == kFits) {
            EXPECT_EQ(r.loop().trip(), nullptr);
            if (!beyond) r.poll();
          }
          // Known at once, because a stop may end the run before the next sample.
          EXPECT_EQ(r.loop().trip() != nullptr, r.loop().counters().dropped_records.load() > 0);
        },
        kFits + 500, /*poll_every=*/0);
    rig.finish();
    const SampleCounts& sample_counts = rig.supervisor().sample_counts();
    EXPECT_EQ(sample_counts.sent(), rig.sim_unit().counters().samples_sent);
    EXPECT_EQ(sample_counts.recorded, rig.sink().samples.size());
    if (!beyond) {
      EXPECT_EQ(rig.loop().trip(), nullptr);
      EXPECT_EQ(sample_counts.lost_in_ring, 0U);
      continue;
    }
    expect_trip(rig, TripCause::kRingFull);
    EXPECT_EQ(rig.loop().trip()->limit, kFits);
    EXPECT_EQ(rig.loop().trip()->value, kFits + 1);
    // The loop ends 0.2 s after the trip.
    EXPECT_NEAR(static_cast<double>(sample_counts.lost_in_ring), 200.0, 5.0);
    ASSERT_FALSE(rig.sink().gaps.empty());
    EXPECT_EQ(rig.sink().gaps.back().cause, proto::GapCause::kRingFull);
    EXPECT_EQ(rig.sink().gaps.back().sample_count, sample_counts.lost_in_ring);
  }
}

// A recording that never has written anything.
class BusySink final : public MemorySink {
 public:
  std::size_t unwritten_message_count() const override {
    return samples.size() + commands.size() + gaps.size() + events.size() + clock_fits.size() +
           stats.size();
  }
};

// If the recording cannot keep up, samples wait in the ring and memory does not grow. The operator
// still reads about the trip, and nothing is left unwritten at the end.
TEST(FullRing, FillsWhereTheRecordingDoesNotKeepUp) {
  BusySink sink;
  SimulatedRig rig(stuck_drive(), furuta_settings(), simulation_settings(), furuta_limits(), &sink);
  std::size_t most = 0;
  rig.run(
      [&](SimulatedRig& r, int) {
        r.supervisor().poll();
        most = std::max(most, sink.unwritten_message_count());
      },
      20'000, /*poll_every=*/0);
  EXPECT_GE(most, 4096U);
  EXPECT_LT(most, 4200U);
  expect_trip(rig, TripCause::kRingFull);
  EXPECT_TRUE(std::any_of(rig.said().begin(), rig.said().end(), [](const std::string& line) {
    return line.starts_with("TRIP: 8192 samples are waiting to be recorded");
  }));
  rig.supervisor().finish(std::nullopt);
  LoopRecord record;
  EXPECT_FALSE(rig.loop().records().try_pop(record));
}

}  // namespace
}  // namespace daq
