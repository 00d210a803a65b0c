#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <random>
#include <string>

#include "firmware_iface/wire/fault.h"
#include "tests/daq/lying_line.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/support/seeded_runs.hpp"

// A unit or line whose frames are valid but whose content is false. The simulated plant provides
// the truth.

namespace daq {
namespace {

using std::chrono::milliseconds;

SafetyLimits watched_limits() {
  SafetyLimits limits = furuta_limits();
  limits.motor[0].command_max = 10.0;
  limits.motion[0].stall_command = kStallShareDefault * 10.0;
  return limits;
}

Scenario constant_push(double u) { return {"step", Step{.amplitude = u, .start_s = 0.1}, 60.0}; }

class Lie : public ::testing::Test {
 protected:
  explicit Lie(double u = 1.0, const LoopSettings& settings = furuta_settings())
      : rig_(std::make_unique<SimulatedRig>(constant_push(u), settings, simulation_settings(),
                                            watched_limits())) {}

  void start_again(
      double u, const LoopSettings& settings = furuta_settings(),
      const firmware_iface::sim::SimulationSettings& simulation = simulation_settings(),
      double staleness_s_max = furuta_limits().staleness_s_max) {
    SafetyLimits limits = watched_limits();
    limits.staleness_s_max = staleness_s_max;
    rig_ = std::make_unique<SimulatedRig>(constant_push(u), settings, simulation, limits);
  }

  // Runs until a trip and calls `lie` after every tick.
  void run(const std::function<void(SimulatedRig&, int)>& lie, int ticks_max = 8000) {
    tripped_at_s_ = -1.0;
    rig_->run(
        [&](SimulatedRig& r, int tick) {
          if (r.loop().trip() == nullptr) lie(r, tick);
          if (r.loop().trip() != nullptr && tripped_at_s_ < 0.0) {
            tripped_at_s_ = r.time_s();
            arm_at_trip_rad_ = arm_rad();
          }
        },
        ticks_max);
  }
  double arm_rad() { return rig_->sim_unit().plant().state().angle_rad[0]; }
  double arm_speed() { return rig_->sim_unit().plant().state().speed_rad_s[0]; }
  TripCause cause() { return rig_->loop().trip() ? rig_->loop().trip()->cause : TripCause::kNone; }
  std::string said(const std::string& part) {
    for (const std::string& line : rig_->said()) {
      if (line.find(part) != std::string::npos) return line;
    }
    return {};
  }

  std::unique_ptr<SimulatedRig> rig_;
  double tripped_at_s_ = -1.0;
  double arm_at_trip_rad_ = 0.0;
};

// The encoders that freeze, and the tick from which on their counts stay.
struct Freeze {
  bool arm, pendulum;
  int tick;
};

// Any one encoder, or all, freezes at a random time in the first seconds of a push. The loop must
// trip before the arm moves 0.25 rad beyond the prediction from its last good angle and speed.
TEST_F(Lie, FrozenEncodersAreFoundBeforeTheArmHasMovedAQuarterRadian) {
  const int count = std::max(test_support::seeded_runs().count / 10, 1);
  for (int k = 0; k < count; ++k) {
    const std::uint64_t seed =
        test_support::seeded_runs().first_seed + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const double u = std::array{1.0, -1.0, 3.0, -3.0}[random() % 4];
    const std::uint64_t which = 1 + random() % 3;
    const Freeze freeze{(which & 1) != 0, (which & 2) != 0,
                        static_cast<int>(random() % (std::abs(u) == 1.0 ? 3000 : 1500))};
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << u << " V, encoders " << which
                                      << ", from tick " << freeze.tick);
    start_again(u);
    std::array<std::int32_t, 2> held{};
    double frozen_s = 0.0, arm = 0.0, speed = 0.0;
    bool frozen = false;
    run([&](SimulatedRig& r, int tick) {
      if (tick == std::max(freeze.tick, 1)) {
        frozen_s = r.time_s();
        arm = arm_rad();
        speed = arm_speed();
        frozen = true;
      }
      r.line().on_sample = [&](sample_report& report) {
        if (!frozen) {
          std::copy_n(report.encoder_counts, 2, held.begin());
        } else {
          if (freeze.arm) report.encoder_counts[0] = held[0];
          if (freeze.pendulum) report.encoder_counts[1] = held[1];
        }
      };
    });
    ASSERT_TRUE(cause() == TripCause::kStall || cause() == TripCause::kFrozenEncoder ||
                cause() == TripCause::kNoResponse || cause() == TripCause::kLateEncoder)
        << describe_trip(rig_->loop().trip() ? *rig_->loop().trip() : Trip{}, watched_limits());
    EXPECT_LT(std::abs(arm_at_trip_rad_ - arm - speed * (tripped_at_s_ - frozen_s)), 0.25);
    rig_->finish();
    EXPECT_EQ(rig_->sim_unit().output_V(), 0.0);
    EXPECT_EQ(rig_->loop().output_state(), OutputState::kOff);
  }
}

// Each report is false from the given tick (ms) on and must trip with its cause within the time
// that a command takes to act, without any other trip.
TEST_F(Lie, OutputReportsThatContradictTheCommands) {
  const auto at_full_range = [](sample_report& report) {
    report.command_q15[0] = 32767;
    report.status |= STATUS_DRIVING;
  };
  struct Case {
    const char* name;
    std::function<void(sample_report&)> lie;
    int from_tick;
    TripCause cause;
  };
  const Case cases[] = {
      {"10 V and driving while 1 V was sent", at_full_range, 900, TripCause::kCommandMismatch},
      {"10 V and driving while nothing was sent", at_full_range, 100, TripCause::kCommandMismatch},
      {"not driving",
       [](sample_report& report) {
         report.status = static_cast<std::uint8_t>(report.status & ~STATUS_DRIVING);
         report.command_q15[0] = 0;
       },
       900, TripCause::kCommandMismatch},
      {"output of another sign",
       [](sample_report& report) {
         report.command_q15[0] = static_cast<std::int16_t>(-report.command_q15[0]);
       },
       900, TripCause::kCommandMismatch},
      {"fault flags without a trip",
       [](sample_report& report) { report.fault_flags |= FAULT_AMPLIFIER; }, 900,
       TripCause::kFaultMismatch},
      {"a trip without fault flags", [](sample_report& report) { report.fault_flags = 0; }, 100,
       TripCause::kFaultMismatch},
      {"the echo of a command that was never sent",
       [](sample_report& report) {
         report.command_sequence = static_cast<std::uint16_t>(report.command_sequence + 1000);
       },
       900, TripCause::kCommandMismatch},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    start_again(1.0);
    run([&](SimulatedRig& r, int tick) {
      if (tick == test.from_tick) r.line().on_sample = test.lie;
    });
    EXPECT_EQ(cause(), test.cause);
    EXPECT_LT(tripped_at_s_, 1e-3 * test.from_tick + 0.05);
    const std::string sentence = said("TRIP: ");
    EXPECT_NE(sentence.find(". "), std::string::npos) << "advice: " << sentence;
  }
}

// The echo and the output of an old command, repeated by the unit.
TEST_F(Lie, AnEchoThatIsOlderThanItsTimeToLive) {
  std::optional<sample_report> old;
  run([&](SimulatedRig& r, int tick) {
    if (tick != 900) return;
    r.line().on_sample = [&](sample_report& report) {
      if (!old) old = report;
      report.command_sequence = old->command_sequence;
      report.command_q15[0] = old->command_q15[0];
    };
  });
  EXPECT_EQ(cause(), TripCause::kStaleCommand);
  EXPECT_LT(tripped_at_s_, 0.9 + 1e-3 * furuta_settings().ttl_ms + 0.005);
}

// The unit refuses delayed commands, and the host must not wait forever.
TEST_F(Lie, DelayedCommands) {
  for (const int delay_ms : {500, 2000}) {
    start_again(1.0);
    run([&](SimulatedRig& r, int tick) {
      if (tick == 900) r.line().command_delay = [&](auto) { return milliseconds(delay_ms); };
    });
    EXPECT_TRUE(cause() == TripCause::kUnitTripped || cause() == TripCause::kStaleCommand)
        << describe_trip(*rig_->loop().trip(), watched_limits());
    EXPECT_LT(tripped_at_s_, 0.95);
    // Delayed from the start: nothing is ever driven.
    start_again(1.0);
    double most = 0.0;
    rig_->line().command_delay = [&](auto) { return milliseconds(delay_ms); };
    run([&](SimulatedRig& r, int) { most = std::max(most, std::abs(r.sim_unit().output_V())); });
    EXPECT_EQ(most, 0.0);
    EXPECT_NE(cause(), TripCause::kNone);
  }
}

// Samples delayed by 20 % of the elapsed time, from the middle of the drive or from the start.
TEST_F(Lie, IncreasinglyDelayedSamples) {
  for (const int from_tick : {1, 1500}) {
    start_again(1.0);
    double from_s = 0.0;
    run([&](SimulatedRig& r, int tick) {
      if (tick != from_tick) return;
      from_s = r.time_s();
      r.line().sample_delay = [from = r.transport().now()](firmware_iface::Nanoseconds now) {
        return (now - from) / 5;
      };
    });
    if (from_tick == 1) {
      EXPECT_EQ(cause(), TripCause::kUnitClock);
      EXPECT_LT(std::abs(arm_at_trip_rad_), 1e-9);
    } else {
      // At 10 ms delay the unit rejects the commands, at 15 ms the host rejects the samples.
      EXPECT_TRUE(cause() == TripCause::kSampleAge || cause() == TripCause::kUnitTripped);
      EXPECT_LT(tripped_at_s_ - from_s, 0.1);
    }
  }
}

// A unit whose clock errs by more than one percent is never driven, whichever side paces the loop.
TEST_F(Lie, AClockOfAnotherRate) {
  for (const bool host_paced : {false, true}) {
    for (const double ppm : {19e6, 15'000.0, -15'000.0, 5'000.0}) {
      SCOPED_TRACE(::testing::Message() << host_paced << ' ' << ppm);
      LoopSettings settings = furuta_settings();
      settings.host_paced = host_paced;
      auto simulation = simulation_settings();
      simulation.unit.clock_error_ppm = ppm;
      if (!host_paced && ppm > 1e6) continue;  // no line carries 20 000 samples a second
      const bool honest = std::abs(ppm) < 1e4;
      start_again(1.0, settings, simulation, 0.1);
      double most = 0.0;
      run([&](SimulatedRig& r, int) { most = std::max(most, std::abs(r.sim_unit().output_V())); },
          honest ? 1500 : 8000);
      EXPECT_EQ(most > 0.0, honest);
      EXPECT_EQ(cause(), honest ? TripCause::kNone : TripCause::kUnitClock);
    }
  }
}

// The run waits for clock_s_max until the rate is known; a fit needs half a second.
TEST_F(Lie, AClockOfUnknownRate) {
  for (const double longest_s : {0.3, 0.7}) {
    LoopSettings settings = furuta_settings();
    settings.clock_s_max = longest_s;
    start_again(1.0, settings);
    run([](SimulatedRig&, int) {}, 1500);
    EXPECT_EQ(cause(), longest_s < 0.5 ? TripCause::kUnitClock : TripCause::kNone);
  }
}

// A pendulum that moves at 3 rad/s and stops at once: an operator's hand while the run waits for
// it, else an encoder that freezes.
TEST_F(Lie, AHandMayStopTheRigBeforeItIsHeld) {
  for (const bool waits : {true, false}) {
    rig_ = std::make_unique<SimulatedRig>(
        waits ? Scenario("release", Release({.held_angle_rad = 2.0, .held_tolerance_rad = 0.1}), 60)
              : constant_push(0.0),
        furuta_settings(), simulation_settings(), watched_limits());
    int moved_ticks = 0;
    rig_->line().on_sample = [&](sample_report& report) {
      report.encoder_counts[1] += 2 * moved_ticks;
    };
    run([&](SimulatedRig&, int tick) { moved_ticks = std::clamp(tick - 1000, 0, 300); }, 1600);
    EXPECT_EQ(cause(), waits ? TripCause::kNone : TripCause::kFrozenEncoder);
  }
}

// A clock that changes its rate during the run trips at once.
TEST_F(Lie, AClockThatGoesFasterInTheRun) {
  std::uint32_t first_us = 0;
  run([&](SimulatedRig& r, int tick) {
    if (tick != 1500) return;
    r.line().on_sample = [&](sample_report& report) {
      if (first_us == 0) first_us = report.tick_us;
      report.tick_us = first_us + 2 * (report.tick_us - first_us);
      report.sequence =
          static_cast<std::uint16_t>(report.sequence + (report.tick_us - first_us) / 2000);
    };
  });
  // Samples arrive early: they echo commands that the host has not sent yet.
  EXPECT_TRUE(cause() == TripCause::kSampleAge || cause() == TripCause::kStaleCommand);
  EXPECT_LT(tripped_at_s_, 1.6);
}

// Wrong from the first sample on: the first-motion check must trip before the arm has moved far.
TEST_F(Lie, EncodersThatAreWiredWrongly) {
  const std::function<void(sample_report&)> mirrored = [](sample_report& report) {
    report.encoder_counts[0] = -report.encoder_counts[0];
  };
  const std::function<void(sample_report&)> swapped = [](sample_report& report) {
    std::swap(report.encoder_counts[0], report.encoder_counts[1]);
  };
  for (const auto& wiring : {mirrored, swapped}) {
    for (const double u : {1.0, -3.0}) {
      start_again(u);
      rig_->line().on_sample = wiring;
      run([](SimulatedRig&, int) {});
      EXPECT_EQ(cause(), TripCause::kWrongDirection);
      EXPECT_LT(std::abs(arm_at_trip_rad_), 0.05);
    }
  }
}

// A sixteenth of the counts, or counts of one encoder that are old: the pendulum moves first.
TEST_F(Lie, AnEncoderThatCountsTooLittleOrTooLate) {
  const std::function<void(sample_report&)> too_little = [](sample_report& report) {
    report.encoder_counts[0] /= 16;
  };
  for (const double u : {1.0, -3.0}) {
    for (const std::size_t lag_ms : {0U, 100U, 250U}) {
      SCOPED_TRACE(::testing::Message() << u << " V, " << lag_ms << " ms");
      start_again(u);
      std::deque<std::int32_t> read;
      rig_->line().on_sample = lag_ms == 0 ? too_little : [&](sample_report& report) {
        read.push_back(report.encoder_counts[0]);
        if (read.size() > lag_ms) read.pop_front();
        report.encoder_counts[0] = read.front();
      };
      run([](SimulatedRig&, int) {});
      EXPECT_EQ(cause(), TripCause::kLateEncoder);
      EXPECT_LT(std::abs(arm_at_trip_rad_), 0.05);
    }
  }
}

// Drifting counts are found before anything is driven.
TEST_F(Lie, CountsThatDrift) {
  for (const double counts_per_s : {20.0, -100.0, 1000.0}) {
    start_again(1.0);
    rig_->line().on_sample = [&](sample_report& report) {
      report.encoder_counts[0] += static_cast<std::int32_t>(counts_per_s * 1e-6 * report.tick_us);
    };
    run([](SimulatedRig&, int) {});
    EXPECT_EQ(cause(), TripCause::kCreep) << counts_per_s;
    EXPECT_EQ(arm_at_trip_rad_, 0.0);
  }
}

// ----- After a trip -----

// A unit that ignores the trip and keeps the newest driving command in force. The operator is
// warned at once and every second, and the run goes on until the unit obeys.
TEST_F(Lie, AUnitThatIgnoresTheTripIsReportedUntilItObeys) {
  SafetyLimits limits = watched_limits();
  limits.joint[0].angle_rad_max = 0.5;
  LoopSettings settings = furuta_settings();
  settings.after_trip_s = 0.3;
  rig_ =
      std::make_unique<SimulatedRig>(constant_push(1.0), settings, simulation_settings(), limits);
  bool obeys = false;
  double tripped_s = 0.0;
  rig_->run(
      [&](SimulatedRig& r, int tick) {
        if (tick == 1) {
          r.line().on_command = [&](command_request& request) {
            if (obeys || (request.flags & COMMAND_TRIP) == 0) return;
            request.flags = COMMAND_ENABLE;
            request.ttl_ms = 20;
            request.command_q15[0] = 3277;
          };
        }
        if (r.loop().trip() != nullptr && tripped_s == 0.0) tripped_s = r.time_s();
        if (tripped_s > 0.0 && r.time_s() > tripped_s + 3.2) obeys = true;
      },
      20'000);
  rig_->supervisor().poll();
  ASSERT_EQ(cause(), TripCause::kAngle);
  int warnings = 0;
  bool ends_off = false;
  for (const std::string& line : rig_->said()) {
    EXPECT_EQ(line.find("Tripped: the output is off."), std::string::npos);
    warnings += line.find("THE UNIT STILL DRIVES") != std::string::npos;
    ends_off = line == "The unit reports that its output is off.";
  }
  EXPECT_EQ(warnings, 4);  // at once and after each of three seconds
  EXPECT_TRUE(ends_off);
  EXPECT_NE(said("Tripped: trip command sent."), "");
  EXPECT_NE(rig_->sink().find("output"), nullptr);
  EXPECT_EQ(rig_->loop().output_state(), OutputState::kOff);
  EXPECT_NEAR(rig_->supervisor().time_s() - rig_->loop().trip()->time_s, 3.2, 0.05);
}

// Without samples nothing is claimed about the output, whether or not it was driven. If the unit
// responds again, its samples show that the output is off.
TEST_F(Lie, AMissingUnitIsNotReportedAsOff) {
  for (const auto& [lost_at, returns] :
       {std::pair(900, false), std::pair(300, false), std::pair(900, true), std::pair(300, true)}) {
    SCOPED_TRACE(::testing::Message() << lost_at << ' ' << returns);
    start_again(1.0);
    rig_->run(
        [&, from = lost_at, ends = returns](SimulatedRig& r, int tick) {
          if (tick == from) r.simulation().to_host().set_faults({.frame_lost = 1.0});
          if (tick == from + 60 && ends) r.simulation().to_host().set_faults({});
        },
        8000);
    rig_->poll();
    ASSERT_EQ(cause(), TripCause::kLinkLost);
    EXPECT_EQ(rig_->loop().output_state(), returns ? OutputState::kOff : OutputState::kUnconfirmed);
    EXPECT_EQ(said("Tripped: the output is off"), "");
    EXPECT_NE(said("could not be confirmed").find("time to live of 20 ms"), std::string::npos);
    const std::string last = "The unit reports that its output is off.";
    EXPECT_EQ(said("the output is off") + said("its output is off"), returns ? last : "");
    EXPECT_EQ(rig_->said().back() == last, returns);
  }
}

// The sample with the unit's own trip also shows its output off.
TEST_F(Lie, AUnitThatTrippedByItselfIsReportedAsOff) {
  rig_->run(
      [&](SimulatedRig& r, int tick) {
        if (tick == 900) r.simulation().to_unit().set_faults({.frame_lost = 1.0});
      },
      8000);
  ASSERT_EQ(cause(), TripCause::kUnitTripped);
  EXPECT_NE(said("Tripped: the output is off."), "");
  EXPECT_EQ(said("reports that its output"), "");
  EXPECT_EQ(rig_->loop().output_state(), OutputState::kOff);
}

}  // namespace
}  // namespace daq
