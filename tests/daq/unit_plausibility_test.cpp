#include "daq/safety/unit_report_monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/alloc_counter.hpp"

// Each check of the unit's reports, on both sides of its threshold.

namespace daq {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnitTick_s = 1e-3;

class Unit : public ::testing::Test {
 protected:
  Unit() { start_again(); }

  void start_again() {
    checks_ = {};
    sent_ = {};
    tick_ = 0;
    delay_ = {};
    driving_for_s_ = -1.0;
    has_fault_ = false;
    clock_ = {};
    checks_.expect({.tick_s = kUnitTick_s,
                    .period_s = kUnitTick_s,
                    .ttl_s = 0.1,
                    .staleness_s_max = 0.05,
                    .motor_count = 2,
                    .command_range = {10.0, 2.0}});
    clock_.valid = true;
    clock_.rate_sigma_ppm = 1.0;
  }

  // The host answers every sample with these commands, which the unit puts in force one tick later.
  // `lie` alters its reports.
  Trip step(const std::function<void(firmware_iface::UnitSample&)>& lie = {}, bool enabled = true) {
    ++tick_;
    firmware_iface::UnitSample sample;
    sample.unit_time_us = 1000 * tick_;
    sample.received = std::chrono::milliseconds(tick_) + delay_;
    sample.motor_count = 2;
    sample.command_sequence = sent_.number;
    sample.driving = sent_.enabled;
    if (sent_.enabled) sample.command = sent_.command;
    if (lie) lie(sample);
    const Trip trip = checks_.add(sample, clock_, kUnitTick_s * static_cast<double>(tick_),
                                  driving_for_s_, has_fault_);
    sent_ = {.number = sent_.number + 1,
             .unit_time_us = sample.unit_time_us,
             .at = sample.received,
             .enabled = enabled,
             .command = {5.0, -1.0}};
    checks_.record_sent_command(sent_);
    if (driving_for_s_ >= 0.0) driving_for_s_ += kUnitTick_s;
    return trip;
  }

  // Number of samples until a trip, −1 without one.
  int until_trip(int most, const std::function<void(firmware_iface::UnitSample&)>& lie,
                 bool enabled = true) {
    for (int k = 1; k <= most; ++k) {
      trip_ = step(lie, enabled);
      if (trip_.cause != TripCause::kNone) return k;
    }
    return -1;
  }
  void drive() {
    driving_for_s_ = 0.0;
    ASSERT_EQ(until_trip(500, {}), -1);
  }
  // The first sample beyond the reaction time.
  int reaction_ticks() const {
    return static_cast<int>(checks_.reaction_time_s() / kUnitTick_s + 1.5);
  }

  UnitReportMonitor checks_;
  firmware_iface::ClockFit clock_;
  SentCommand sent_{};
  std::int64_t tick_ = 0;
  std::chrono::nanoseconds delay_{0};
  double driving_for_s_ = -1.0;
  bool has_fault_ = false;
  Trip trip_;
};

TEST_F(Unit, ReportsTheOutputWithinOnePercentOfItsRange) {
  for (const auto& [motor, off_by, trips] :
       {std::tuple(0U, 0.099, false), std::tuple(0U, 0.101, true), std::tuple(0U, -0.101, true),
        std::tuple(1U, 0.0199, false), std::tuple(1U, 0.0201, true),
        std::tuple(1U, kNotANumber, true)}) {
    start_again();
    drive();
    const int at = until_trip(200, [&](auto& sample) { sample.command[motor] += off_by; });
    EXPECT_EQ(at > 0, trips) << motor << ' ' << off_by;
    if (!trips) continue;
    EXPECT_EQ(trip_.cause, TripCause::kCommandMismatch);
    EXPECT_NEAR(at, reaction_ticks(), 1);
    EXPECT_EQ(trip_.joint, motor);
    EXPECT_EQ(trip_.limit, motor == 0U ? 5.0 : -1.0);
  }
}

// A difference that lasts no longer than a command takes to act is allowed. Its duration is
// forgiven after ten times as long.
TEST_F(Unit, MayContradictForAsLongAsACommandTakes) {
  for (const bool forgives : {true, false}) {
    start_again();
    drive();
    const int longest = reaction_ticks() - 3, between = (forgives ? 11 : 2) * longest;
    int trips = 0;
    for (int round = 0; round < 5; ++round) {
      trips += until_trip(longest, [](auto& sample) { sample.command[0] = 10.0; }) > 0;
      EXPECT_EQ(until_trip(between, {}), -1);
    }
    EXPECT_EQ(trips > 0, !forgives);
  }
}

// A status that is wrong in one of `period` samples, above and below a tenth of them.
TEST_F(Unit, FindsAStatusThatFlaps) {
  for (const auto& [period, trips] :
       {std::pair(2, true), std::pair(8, true), std::pair(13, false)}) {
    for (const bool is_fault : {false, true}) {
      start_again();
      drive();
      const int at = until_trip(3000, [&, k = 0, period = period](auto& sample) mutable {
        if (++k % period != 0) return;
        if (is_fault) sample.fault_flags = 0x10;
        if (!is_fault) sample.driving = false;
      });
      EXPECT_EQ(at > 0, trips) << period;
      if (!trips) continue;
      const double gain_s = kUnitTick_s * (1.0 - 0.1 * (period - 1));  // in each period
      EXPECT_NEAR(at, period * checks_.reaction_time_s() / gain_s, 3 * period);
      EXPECT_EQ(trip_.cause, is_fault ? TripCause::kFaultMismatch : TripCause::kCommandMismatch);
    }
  }
}

// The longest measured delay of a command, but at most its time to live, and a margin.
TEST_F(Unit, ReactsWithinTheLongestDelayOfACommand) {
  for (const auto& [delay_ticks, longest_ticks] :
       {std::pair(3, 3), std::pair(20, 20), std::pair(5, 20), std::pair(99, 99),
        std::pair(500, 100)}) {
    step([ticks = delay_ticks](auto& sample) { sample.command_delay_ticks = ticks; });
    EXPECT_NEAR(checks_.reaction_time_s(), kUnitTick_s * longest_ticks + 0.011, 1e-9);
  }
}

TEST_F(Unit, ReportsThatItDrivesWhenItDoes) {
  drive();
  EXPECT_GT(until_trip(200, [](auto& sample) { sample.driving = false; }), 0) << "not driving";
  EXPECT_EQ(trip_.cause, TripCause::kCommandMismatch);
  start_again();
  EXPECT_EQ(until_trip(200, {}, false), -1) << "idle";
  EXPECT_GT(until_trip(
                200, [](auto& sample) { sample.driving = true; }, false),
            0);
  start_again();
  EXPECT_GT(until_trip(
                200, [](auto& sample) { sample.command = {10.0}; }, false),
            0);
  start_again();
  EXPECT_GT(until_trip(
                200, [](auto& sample) { sample.command_unknown = true; }, false),
            0);
  EXPECT_EQ(trip_.cause, TripCause::kCommandMismatch);
}

TEST_F(Unit, ReportsFaultFlagsTogetherWithItsTrip) {
  for (const bool flags : {false, true}) {
    start_again();
    EXPECT_EQ(until_trip(200,
                         [](auto& sample) {
                           sample.tripped = true;
                           sample.fault_flags = 0x10;
                           sample.driving = false;
                           sample.command = {};
                         }),
              -1);
    EXPECT_GT(until_trip(
                  200,
                  [&](auto& sample) {
                    sample.tripped = !flags;
                    sample.fault_flags = flags ? 0x10 : 0;
                    sample.driving = false;
                    sample.command = {};
                  },
                  false),
              0);
    EXPECT_EQ(trip_.cause, TripCause::kFaultMismatch);
  }
  start_again();
  drive();
  has_fault_ = true;
  EXPECT_NEAR(until_trip(200, {}), reaction_ticks(), 1) << "a FAULT without a trip";
  EXPECT_EQ(trip_.cause, TripCause::kFaultMismatch);
}

// An old command's echo, with the output that belongs to it: only its age is wrong.
TEST_F(Unit, PutsNoCommandInForceLongerThanItLives) {
  drive();
  const SentCommand old = sent_;
  const int at = until_trip(500, [&](auto& sample) {
    sample.command_sequence = old.number;
    sample.command = old.command;
  });
  EXPECT_EQ(trip_.cause, TripCause::kStaleCommand);
  EXPECT_NEAR(at, 102, 1);  // ttl and a period
  EXPECT_GT(trip_.value, trip_.limit);
  // If no echo ever comes, its age is that of the drive.
  start_again();
  driving_for_s_ = 0.0;
  EXPECT_NEAR(until_trip(500,
                         [](auto& sample) {
                           sample.command_sequence = 0;
                           sample.driving = false;
                           sample.command = {};
                         }),
              reaction_ticks(), 100);
}

// The age of a command from before the run counts from when the run started to drive.
TEST_F(Unit, PutsNoCommandFromBeforeTheRunInForce) {
  ASSERT_EQ(until_trip(300, {}, false), -1);
  const SentCommand old = sent_;
  const auto repeat = [&](auto& sample) { sample.command_sequence = old.number; };
  ASSERT_EQ(until_trip(200, repeat, false), -1);
  driving_for_s_ = 0.0;
  EXPECT_NEAR(until_trip(200, repeat, false), 102, 1);
  EXPECT_EQ(trip_.cause, TripCause::kStaleCommand);
}

// After a missing sample the loop sends an idle command. A unit that drives and always reports that
// it does not is right about that one alone.
TEST_F(Unit, CannotHideADriveBehindIdleCommands) {
  drive();
  int at = 0;
  for (trip_ = {}; trip_.cause == TripCause::kNone && at < 200; ++at) {
    const auto not_driving = [](auto& sample) {
      sample.driving = false;
      sample.command = {};
    };
    trip_ = step(not_driving, /*enabled=*/at % 5 != 0);
  }
  EXPECT_EQ(trip_.cause, TripCause::kCommandMismatch);
  EXPECT_NEAR(at, reaction_ticks(), 6);
}

// A line that delivers only idle commands in time, each of them recent, stops the drive. Samples
// that are lost do not count, because the loop answers them with idle commands.
TEST_F(Unit, ObeysOneCommandOfTheDriveWithinTheTimeToLive) {
  drive();
  EXPECT_NEAR(until_trip(300, {}, /*enabled=*/false), 102, 1);
  EXPECT_EQ(trip_.cause, TripCause::kStaleCommand);
  start_again();
  drive();
  ASSERT_EQ(until_trip(90, {}, /*enabled=*/false), -1);
  ASSERT_EQ(until_trip(1, {}), -1);
  EXPECT_EQ(until_trip(90, {}, /*enabled=*/false), -1);
}

// An idle command answers a missing sample. Its age counts from when it was sent.
TEST_F(Unit, MayObeyAnIdleCommandWithoutARecentSample) {
  for (const auto& [sent_before_ms, trips] : {std::pair(90, false), std::pair(110, true)}) {
    start_again();
    drive();
    sent_.unit_time_us -= 200'000;
    sent_.at -= std::chrono::milliseconds(sent_before_ms);
    sent_.enabled = false;
    checks_.record_sent_command(sent_);
    EXPECT_EQ(until_trip(1, {}) > 0, trips);
  }
}

// Ages in both directions: samples that the line delays, and a clock that jumps ahead.
TEST_F(Unit, SendsSamplesThatAreNeitherOldNorEarly) {
  for (const auto& [delay_ms, trips] : {std::pair(49.0, false), std::pair(51.0, true),
                                        std::pair(-49.0, false), std::pair(-51.0, true)}) {
    start_again();
    drive();
    delay_ = std::chrono::microseconds(static_cast<int>(1e3 * delay_ms));
    EXPECT_EQ(until_trip(3, {}) > 0, trips) << delay_ms;
    if (trips) {
      EXPECT_EQ(trip_.cause, TripCause::kSampleAge);
    }
  }
}

TEST_F(Unit, HasAClockThatGoesAsThisComputersDoes) {
  const auto verdict = [](double ppm, double sigma_ppm, bool valid = true) {
    firmware_iface::ClockFit fit;
    fit.valid = valid;
    fit.rate_error_ppm = ppm;
    fit.rate_sigma_ppm = sigma_ppm;
    return UnitReportMonitor::judge(fit);
  };
  EXPECT_EQ(verdict(0.0, 2499.0), ClockVerdict::kGood);
  EXPECT_EQ(verdict(0.0, 2501.0), ClockVerdict::kUnknown);
  EXPECT_EQ(verdict(9'000.0, 249.0), ClockVerdict::kGood);
  EXPECT_EQ(verdict(9'000.0, 251.0), ClockVerdict::kUnknown);
  EXPECT_EQ(verdict(-11'000.0, 251.0), ClockVerdict::kUnknown);
  EXPECT_EQ(verdict(-11'000.0, 249.0), ClockVerdict::kBad);
  EXPECT_EQ(verdict(0.0, 1.0, false), ClockVerdict::kUnknown);
  EXPECT_NE(verdict(kNotANumber, 1.0), ClockVerdict::kGood);
  EXPECT_NE(verdict(0.0, kNotANumber), ClockVerdict::kGood);
  drive();
  clock_.rate_error_ppm = 10'100.0;
  EXPECT_EQ(until_trip(1, {}), 1);
  EXPECT_EQ(trip_.cause, TripCause::kUnitClock);
  start_again();
  drive();
  clock_.valid = false;
  EXPECT_EQ(until_trip(1, {}), 1);
  EXPECT_EQ(trip_.cause, TripCause::kUnitClock);
}

TEST_F(Unit, IsOffOnlyIfEveryFieldOfItsSampleSaysSo) {
  firmware_iface::UnitSample sample;
  sample.tripped = true;
  EXPECT_TRUE(UnitReportMonitor::is_output_off(sample));
  for (const int field : {0, 1, 2, 3}) {
    firmware_iface::UnitSample other = sample;
    if (field == 0) other.tripped = false;
    if (field == 1) other.driving = true;
    if (field == 2) other.command[7] = -1e-3;
    if (field == 3) other.command[0] = kNotANumber;
    EXPECT_FALSE(UnitReportMonitor::is_output_off(other)) << field;
  }
}

// A fit is good if it is valid and surely within one percent, bad if it is surely beyond or no
// number, else unknown. A run waits while it is unknown, and trips in the drive if it is invalid.
TEST_F(Unit, JudgesEveryFitOfTheClock) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const bool valid : {true, false}) {
    for (const double error :
         {0.0, 5'000.0, -9'959.0, 9'961.0, -10'039.0, 10'041.0, kNotANumber, kInfinity}) {
      for (const double sigma : {0.0, 10.0, 3'000.0, kNotANumber, kInfinity}) {
        SCOPED_TRACE(::testing::Message() << valid << ' ' << error << ' ' << sigma);
        start_again();
        clock_.valid = valid;
        clock_.rate_error_ppm = error;
        clock_.rate_sigma_ppm = sigma;
        const bool is_number = std::isfinite(error) && !std::isnan(sigma);
        const bool is_within = is_number && std::abs(error) + 4.0 * sigma <= 10'000.0;
        const double least = std::abs(error) - 4.0 * sigma;
        const bool is_beyond = std::isnan(least) || least > 10'000.0;
        const ClockVerdict expected = !valid      ? ClockVerdict::kUnknown
                                      : is_within ? ClockVerdict::kGood
                                      : is_beyond ? ClockVerdict::kBad
                                                  : ClockVerdict::kUnknown;
        EXPECT_EQ(UnitReportMonitor::judge(clock_), expected);
        const Trip trip = UnitReportMonitor::make_clock_trip(clock_, 2.0);
        EXPECT_EQ(trip.cause, TripCause::kUnitClock);
        EXPECT_EQ(std::isnan(trip.value), expected != ClockVerdict::kBad || std::isnan(error));
        driving_for_s_ = 0.0;
        const int at = until_trip(5, {});
        EXPECT_EQ(at > 0, !valid || is_beyond);
        if (at > 0) {
          EXPECT_EQ(trip_.cause, TripCause::kUnitClock);
        }
      }
    }
  }
}

}  // namespace
}  // namespace daq
