#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "tests/daq/simulated_rig.hpp"
#include "tests/support/wire_messages.hpp"

// The branches of the loop and the supervisor, one at a time and in virtual time.

namespace daq {
namespace {

using firmware_iface::ClearTripState;
using std::chrono::milliseconds;

Scenario branch_drive() { return {"step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0}; }

LoopSettings host_paced() {
  LoopSettings settings = furuta_settings();
  settings.host_paced = true;
  return settings;
}

// Limits so wide that no trip hides the effect of a single missed sample.
SafetyLimits patient_limits() {
  SafetyLimits limits = furuta_limits();
  limits.staleness_s_max = 0.5;
  for (JointLimits& joint : limits.joint) joint.missing_s_max = 0.5;
  return limits;
}

// ----- The loop -----

class Pacing : public ::testing::TestWithParam<bool> {
 protected:
  LoopSettings settings() const { return GetParam() ? host_paced() : furuta_settings(); }
};

INSTANTIATE_TEST_SUITE_P(By, Pacing, ::testing::Bool(), [](const auto& paced) {
  return paced.param ? std::string("Host") : std::string("Unit");
});

TEST_P(Pacing, RunsAScenarioToItsEnd) {
  SimulatedRig rig({"pulse", Pulse{.amplitude = 2.0, .start_s = 0.1, .width_s = 0.3}, 0.5},
                   settings());
  double largest_V = 0.0;
  rig.run([&](SimulatedRig& r, int) { largest_V = std::max(largest_V, r.sim_unit().output_V()); });
  rig.finish();
  EXPECT_EQ(rig.loop().trip(), nullptr);
  std::vector<std::string> names;
  for (const proto::Event& event : rig.sink().events) names.push_back(event.name);
  EXPECT_EQ(names, (std::vector<std::string>{"settling", "arming", "running", "finished"}));
  EXPECT_NEAR(largest_V, 2.0, 0.01);
  EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
  EXPECT_EQ(rig.supervisor().sample_counts().sent(), rig.sim_unit().counters().samples_sent);
}

// Without a new sample the last command must not be repeated: the output is zero within a few
// periods, long before the staleness limit trips. When samples return, so does the output.
TEST_P(Pacing, NeverRepeatsACommandWithoutANewSample) {
  constexpr int kCut = 700, kMend = 760;
  SimulatedRig rig(branch_drive(), settings(), simulation_settings(), patient_limits());
  rig.run(
      [&](SimulatedRig& r, int tick) {
        if (tick == kCut) {
          ASSERT_GT(r.sim_unit().output_V(), 0.9);
          r.simulation().to_host().set_faults({.frame_lost = 1.0});
        }
        if (tick > kCut + 4 && tick <= kMend) {
          EXPECT_EQ(r.sim_unit().output_V(), 0.0) << tick;
        }
        if (tick == kMend) r.simulation().to_host().set_faults({});
      },
      kMend + 200);
  EXPECT_EQ(rig.loop().trip(), nullptr);
  EXPECT_GT(rig.sim_unit().output_V(), 0.9);
  EXPECT_GT(rig.loop().counters().timeouts.load(), 10);
}

// A rig outside its limits is never armed. The message names the joint and the remedy.
TEST(Arming, RefusesARigOutsideItsRangeWithAdvice) {
  LoopSettings settings = furuta_settings();
  settings.channel[1].offset_rad = 300.0;  // the angle after 48 turns in full swing
  SimulatedRig rig(branch_drive(), settings);
  rig.run([](SimulatedRig& r, int) { EXPECT_EQ(r.sim_unit().output_V(), 0.0); });
  EXPECT_EQ(rig.sim_unit().counters().clears, 0U);
  const proto::Event* trip = rig.sink().find("angle");
  ASSERT_NE(trip, nullptr);
  for (const char* part : {"pendulum", "300 rad", "turns", "by hand", "-200 and 200 rad"}) {
    EXPECT_NE(trip->text.find(part), std::string::npos) << trip->text;
  }
  EXPECT_LT(trip->timestamp_s, 0.05);
}

// The same trip while the unit is armed comes with that advice, during a drive without it.
TEST(Arming, AdvisesOnlyBeforeTheStart) {
  auto simulation = simulation_settings();
  simulation.to_host.latency = milliseconds(3);
  for (const bool is_driven : {false, true}) {
    SafetyLimits limits = furuta_limits();
    limits.joint[0].angle_rad_max = is_driven ? 0.5 : 0.002;  // two counts
    SimulatedRig rig(branch_drive(), furuta_settings(), simulation, limits);
    int moved = 0;
    rig.line().on_sample = [&](sample_report& report) {
      if (is_driven || rig.link().trip_clear_state() == ClearTripState::kIdle) return;
      report.encoder_counts[0] += ++moved;
    };
    rig.run();
    const proto::Event* trip = rig.sink().find("angle");
    ASSERT_NE(trip, nullptr);
    EXPECT_NE(rig.sink().find("arming"), nullptr);
    EXPECT_EQ(rig.sink().find("running") != nullptr, is_driven);
    EXPECT_EQ(trip->text.find("by hand") == std::string::npos, is_driven) << trip->text;
  }
}

// Before a drive a joint must not creep. In a run without drive, a hand may move it.
TEST(ControlLoop, IsWatchedForCreepOnlyBeforeADrive) {
  for (const bool drives : {true, false}) {
    LoopSettings settings = furuta_settings();
    settings.drive = drives;
    settings.settle_s = 3.0;
    SimulatedRig rig({"step", Step{.amplitude = 1.0}, 0.1}, settings);
    int samples = 0;
    rig.line().on_sample = [&](sample_report& report) {
      report.encoder_counts[1] += ++samples / 60;
    };
    rig.run();
    ASSERT_EQ(rig.loop().trip() != nullptr, drives);
    if (drives) EXPECT_EQ(rig.loop().trip()->cause, TripCause::kCreep);
  }
}

// A clock fit is published once a second and only if it is known, which takes four blocks of
// samples. Without samples until just before the first second, it is known later.
TEST(ControlLoop, PublishesNoClockFitThatIsUnknown) {
  LoopSettings settings = furuta_settings();
  settings.drive = false;
  SafetyLimits limits = patient_limits();
  limits.staleness_s_max = 2.0;
  SimulatedRig rig({"step", Step{.amplitude = 1.0}, 3.5}, settings, simulation_settings(), limits);
  rig.run([](SimulatedRig& r, int tick) {
    if (tick == 50 || tick == 950) {
      r.simulation().to_host().set_faults({.frame_lost = tick == 50 ? 1.0 : 0.0});
    }
  });
  EXPECT_EQ(rig.loop().trip(), nullptr);
  EXPECT_GT(rig.sink().clock_fits.size(), 2U);
  for (const proto::ClockFit& fit : rig.sink().clock_fits) EXPECT_GE(fit.point_count, 4U);
}

// An angle that is not a number switches off at the first sample, and every sample is recorded so
// that it can be read back.
TEST(NotANumber, InAChannelsScaleTripsAndRecords) {
  for (const std::size_t joint : {0U, 1U}) {
    LoopSettings settings = furuta_settings();
    settings.channel[joint].offset_rad = std::numeric_limits<double>::quiet_NaN();
    SimulatedRig rig(branch_drive(), settings);
    rig.run([](SimulatedRig& r, int) { EXPECT_EQ(r.sim_unit().output_V(), 0.0); });
    rig.finish();
    ASSERT_NE(rig.loop().trip(), nullptr);
    EXPECT_EQ(rig.loop().trip()->cause, TripCause::kAngle);
    EXPECT_EQ(rig.sim_unit().counters().clears, 0U);
    ASSERT_GT(rig.sink().samples.size(), 100U);
    for (const proto::Sample& sample : rig.sink().samples) {
      EXPECT_FALSE(sample.valid[joint]);
      EXPECT_TRUE(sample.valid[1 - joint]);
      EXPECT_TRUE(std::isnan(sample.angle_rad[joint]));
    }
  }
}

command_request last_command(const BlackBox& box) {
  command_request request{};
  for (std::size_t k = box.count(); k-- > 0;) {
    const auto message = box.message(k).message();
    if (box.message(k).direction != firmware_iface::Direction::kToUnit) continue;
    if (command_request_decode(message.data(), message.size(), 1, &request)) return request;
  }
  ADD_FAILURE() << "no command";
  return request;
}

// The last message of a run repeats the state: trip after a trip, otherwise output off.
TEST(LastMessage, TripsAfterATripAndElseSwitchesOff) {
  for (const bool tripped : {false, true}) {
    SafetyLimits limits = furuta_limits();
    if (tripped) limits.joint[0].angle_rad_max = 0.2;
    SimulatedRig rig(branch_drive(), furuta_settings(), simulation_settings(), limits);
    rig.run({}, tripped ? 100'000 : 800);
    if (tripped) {
      ASSERT_NE(rig.loop().trip(), nullptr);
    }
    // The trip's black box is already full, so the last message is read from the wire.
    const std::uint64_t trips = rig.sim_unit().counters().trips[4];
    const std::atomic<bool> stop(true);
    rig.loop().run(stop);
    rig.abandon(milliseconds(3));
    EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
    EXPECT_EQ(rig.sim_unit().is_tripped(), tripped);
    EXPECT_EQ(rig.sim_unit().counters().trips[4], trips);
    if (!tripped) {
      EXPECT_EQ(last_command(rig.black_box()).flags, 0);
    }
  }
}

TEST(LastMessage, IsATripAlsoWhenTheRunEndsAtOnce) {
  SafetyLimits limits = furuta_limits();
  limits.joint[0].angle_rad_max = 0.2;
  SimulatedRig rig(branch_drive(), furuta_settings(), simulation_settings(), limits);
  const auto facts = rig.link().connect();
  ASSERT_TRUE(facts.ok());
  ASSERT_TRUE(rig.link().start_stream({}).ok());
  while (rig.loop().trip() == nullptr && rig.loop().tick()) {
  }
  ASSERT_FALSE(rig.black_box().is_frozen());
  const std::uint64_t sent = rig.link().counters().commands_sent;
  const std::atomic<bool> stop(true);
  rig.loop().run(stop);
  ASSERT_TRUE(rig.black_box().is_frozen());
  EXPECT_EQ(rig.link().counters().commands_sent, sent + 1);
  EXPECT_EQ(last_command(rig.black_box()).flags, COMMAND_TRIP);
}

// The operator reads that the output is off, also if the supervisor polls only after the unit
// has reported it.
TEST(ControlLoopEnd, SaysOnceThatTheOutputIsOff) {
  SafetyLimits limits = furuta_limits();
  limits.joint[0].angle_rad_max = 0.2;
  for (const int poll_every : {1, 100}) {
    SimulatedRig rig(branch_drive(), furuta_settings(), simulation_settings(), limits);
    rig.run({}, 100'000, poll_every);
    rig.finish();
    const auto count = [&](const std::string& line) {
      return std::ranges::count(rig.said(), line);
    };
    EXPECT_EQ(count("Tripped: trip command sent."), 1) << poll_every;
    EXPECT_EQ(count("The unit reports that its output is off."), 1) << poll_every;
  }
}

// If the line is lost after a trip, the output is known to be off only if a sample has shown it.
TEST(ControlLoopEnd, KeepsTheReportThatTheOutputIsOff) {
  SafetyLimits limits = furuta_limits();
  limits.joint[0].angle_rad_max = 0.2;
  for (const double staleness_s : {0.015, 1.0}) {  // shorter and longer than the run's end
    limits.staleness_s_max = staleness_s;
    for (const bool is_shown : {true, false}) {
      SimulatedRig rig(branch_drive(), furuta_settings(), simulation_settings(), limits);
      rig.run([&](SimulatedRig& r, int) {
        if (r.loop().trip() == nullptr) return;
        if (is_shown && r.loop().output_state() != OutputState::kOff) return;
        r.simulation().to_host().set_faults({.frame_lost = 1.0});
      });
      EXPECT_EQ(rig.loop().output_state(),
                is_shown ? OutputState::kOff : OutputState::kUnconfirmed);
    }
  }
}

// A trip while the unit is being armed ends the arming, on whichever tick the trip falls: the unit
// is not cleared any more.
TEST(ControlLoopEnd, ClearsNoUnitAfterATrip) {
  auto simulation = simulation_settings();
  simulation.to_host.latency = milliseconds(3);
  for (int delay_ticks = 0; delay_ticks < 8; ++delay_ticks) {
    SCOPED_TRACE(delay_ticks);
    SimulatedRig rig(branch_drive(), furuta_settings(), simulation);
    int ticks = -1;
    std::optional<std::uint64_t> clears;
    rig.line().on_sample = [&](sample_report& report) {
      if (rig.link().trip_clear_state() == ClearTripState::kIdle && ticks < 0) return;
      if (++ticks >= delay_ticks) report.encoder_counts[0] = 100'000;  // beyond the limit
    };
    rig.run([&](SimulatedRig& r, int) {
      if (r.loop().trip() != nullptr && !clears) clears = r.sim_unit().counters().clears;
    });
    ASSERT_TRUE(clears.has_value());
    EXPECT_EQ(rig.sim_unit().counters().clears, *clears);
  }
}

// ----- The supervisor, with records pushed by the test -----

class Books : public ::testing::Test {
 protected:
  LoopRecord record(std::uint64_t sequence, std::uint64_t lost_before = 0) {
    LoopRecord made;
    made.sample.sequence = sequence;
    made.sample.lost_before = lost_before;
    made.sample.unit_time_us = static_cast<std::int64_t>(1000 * sequence);
    made.sample.encoder_count = 2;
    made.observation.time_s = 1e-3 * static_cast<double>(sequence);
    made.command_number = sequence + 1;
    made.phase = RunPhase::kRunning;
    return made;
  }
  void push(const LoopRecord& made) { ASSERT_TRUE(rig_.loop().records().try_push(made)); }
  void expect_gap(std::size_t index, std::uint64_t first, std::uint64_t count,
                  proto::GapCause cause) {
    ASSERT_LT(index, rig_.sink().gaps.size());
    const proto::Gap& gap = rig_.sink().gaps[index];
    EXPECT_EQ(gap.first_sequence, first);
    EXPECT_EQ(gap.sample_count, count);
    EXPECT_EQ(gap.cause, cause);
    EXPECT_NEAR(gap.timestamp_s, 1e-3 * static_cast<double>(first), 1e-12);
  }

  SimulatedRig rig_{branch_drive()};
};

// Losses that the link reports belong to the link. The rest of a sequence jump was dropped by the
// full ring and comes first, because link losses lie just before the sample.
TEST_F(Books, DistinguishLossesOfLinkAndRing) {
  push(record(0));
  push(record(4, 3));   // all on the link
  push(record(10, 0));  // all in the ring
  push(record(20, 4));  // both
  rig_.supervisor().poll();
  ASSERT_EQ(rig_.sink().gaps.size(), 4U);
  expect_gap(0, 1, 3, proto::GapCause::kLink);
  expect_gap(1, 5, 5, proto::GapCause::kRingFull);
  expect_gap(2, 11, 5, proto::GapCause::kRingFull);
  expect_gap(3, 16, 4, proto::GapCause::kLink);
  const SampleCounts& sample_counts = rig_.supervisor().sample_counts();
  EXPECT_EQ(sample_counts.recorded, 4U);
  EXPECT_EQ(sample_counts.lost_on_link, 7U);
  EXPECT_EQ(sample_counts.lost_in_ring, 10U);
  EXPECT_EQ(sample_counts.sent(), 21U);
}

// A sample that arrives after the loop has ended is not paired with a new command.
TEST_F(Books, WriteEachCommandOnce) {
  push(record(0));
  push(record(1));
  rig_.supervisor().poll();
  ASSERT_EQ(rig_.sink().commands.size(), 2U);
  firmware_iface::UnitSample late;
  late.sequence = 2;
  late.unit_time_us = 2500;
  late.encoder_count = 2;
  late.encoders_valid = 0x03;
  late.encoder_counts = {4096, -1024};
  rig_.supervisor().add_late_sample(late);
  EXPECT_EQ(rig_.sink().commands.size(), 2U);
  ASSERT_EQ(rig_.sink().samples.size(), 3U);
  const proto::Sample& sample = rig_.sink().samples.back();
  EXPECT_NEAR(sample.timestamp_s, 2.5e-3, 1e-12);
  EXPECT_NEAR(sample.angle_rad[0], 2.0 * std::numbers::pi, 1e-12);
  EXPECT_NEAR(sample.angle_rad[1], -0.5 * std::numbers::pi, 1e-12);
  EXPECT_EQ(rig_.supervisor().sample_counts().recorded, 3U);
}

// Records that wait in the ring come before a late sample.
TEST_F(Books, WriteALateSampleLast) {
  push(record(0));
  push(record(1));
  firmware_iface::UnitSample late = record(2).sample;
  rig_.supervisor().add_late_sample(late);
  ASSERT_EQ(rig_.sink().samples.size(), 3U);
  for (std::uint64_t k = 0; k < 3; ++k) EXPECT_EQ(rig_.sink().samples[k].sequence, k);
  EXPECT_NEAR(rig_.sink().samples.back().timestamp_s, 2e-3, 1e-12);
  EXPECT_TRUE(rig_.sink().gaps.empty());
}

// Exactly the commands that enable the unit are marked so in the recording.
TEST_F(Books, MarkCommandsThatEnable) {
  LoopRecord off = record(0), on = record(1);
  on.enabled = true;
  on.sent = {1.5};
  on.requested = {7.0};
  push(off);
  push(on);
  rig_.supervisor().poll();
  ASSERT_EQ(rig_.sink().commands.size(), 2U);
  EXPECT_EQ(rig_.sink().commands[0].flags, 0U);
  EXPECT_EQ(rig_.sink().commands[1].flags, static_cast<std::uint32_t>(COMMAND_ENABLE));
  EXPECT_EQ(rig_.sink().commands[1].command[0], 1.5);
  EXPECT_EQ(rig_.sink().commands[1].command_requested[0], 7.0);
  EXPECT_EQ(rig_.sink().commands[1].timestamp_s, 1e-3);
}

// A quartz error of 50 % is impossible: it is reported once, and not while the first clock fits are
// too uncertain.
TEST_F(Books, ReportAnImplausibleClockError) {
  const auto set_clock_error = [&](double ppm, double sigma_ppm) {
    firmware_iface::ClockFit fit;
    fit.valid = true;
    fit.rate_error_ppm = ppm;
    fit.rate_sigma_ppm = sigma_ppm;
    ASSERT_TRUE(rig_.loop().clock_fits().try_push(fit));
    rig_.supervisor().poll();
  };
  push(record(0));
  set_clock_error(50.0, 1.0);
  set_clock_error(-536'314.0, 400'000.0);
  set_clock_error(5004.0, 1.0);  // 5000 ppm after four standard deviations are allowed
  set_clock_error(-5004.0, 1.0);
  EXPECT_EQ(rig_.sink().find("clock"), nullptr);
  set_clock_error(-536'314.0, 10.0);
  const proto::Event* noted = rig_.sink().find("clock");
  ASSERT_NE(noted, nullptr);
  EXPECT_NE(noted->text.find("-536314 ± 10 ppm"), std::string::npos) << noted->text;
  EXPECT_EQ(rig_.said().back(), "note: " + noted->text);
  const std::size_t events = rig_.sink().events.size();
  set_clock_error(536'314.0, 10.0);
  EXPECT_EQ(rig_.sink().events.size(), events);
  EXPECT_EQ(rig_.sink().clock_fits.size(), 6U);
}

}  // namespace
}  // namespace daq
