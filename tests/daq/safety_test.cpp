#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numbers>
#include <set>
#include <string_view>
#include <vector>

#include "daq/safety/safety_limits.hpp"
#include "tests/support/alloc_counter.hpp"

namespace daq {
namespace {

constexpr double kPeriod_s = 1e-3;

SafetyLimits two_joints() {
  return {.motor = {{"arm", 5.0, 1000.0}},
          .staleness_s_max = 0.005,
          .joint = {{"arm", -2.0, 2.0, 20.0, 0.1, 0.0105},
                    {"pendulum", -50.0, 50.0, 40.0, 0.1, 0.0105}}};
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Observation resting() {
  Observation now;
  for (JointState& joint : now.joint) joint = {0.0, 0.0, true};
  return now;
}

// A rig at rest, one sample a period, that a test disturbs in one respect.
class SafetyMonitorTest : public ::testing::Test {
 protected:
  double send(double requested) {
    now_.time_s += kPeriod_s;
    return monitor_.admit(now_, {requested})[0];
  }
  void rest() {
    for (JointState& joint : now_.joint) joint = {0.0, 0.0, true};
    for (int k = 0; k < 10; ++k) ASSERT_EQ(send(0.5), 0.5 * (k > 0));
  }
  // The output must be off now and stay off whatever follows.
  void expect_trip(TripCause cause, int joint, double value, double limit) {
    EXPECT_EQ(monitor_.current_trip().cause, cause) << describe(monitor_.current_trip(), limits_);
    EXPECT_EQ(monitor_.current_trip().joint, joint);
    EXPECT_NEAR(monitor_.current_trip().value, value, 1e-12);
    EXPECT_NEAR(monitor_.current_trip().limit, limit, 1e-12);
    for (JointState& state : now_.joint) state = {0.0, 0.0, true};
    for (int k = 0; k < 100; ++k) EXPECT_EQ(send(1.0), 0.0);
    EXPECT_EQ(monitor_.current_trip().cause, cause);
  }

  SafetyLimits limits_ = two_joints();
  SafetyMonitor monitor_{limits_};
  Observation now_;
};

// Each bound by itself, of each hinge, to the last bit: a bound that is missing, exclusive or
// another hinge's shows here.
TEST(SafetyBounds, HoldAtTheirValueAndTripBeyond) {
  struct Bound {
    TripCause cause;
    double JointState::*quantity;
    double at, beyond;  // the last value that is allowed, and the first that is not
    double limit;
  };
  SafetyLimits limits = two_joints();
  for (JointLimits& joint : limits.joint) joint.jump_rad_max = 1000.0;  // not what is asked here
  for (std::size_t j = 0; j < limits.joint.size(); ++j) {
    const JointLimits& joint = limits.joint[j];
    const double top = joint.angle_rad_max, bottom = joint.angle_rad_min;
    const double fast = joint.speed_rad_per_s_max;
    const auto angle = &JointState::angle_rad;
    const auto speed = &JointState::speed_rad_per_s;
    for (const Bound& bound :
         {Bound{TripCause::kAngle, angle, top, std::nextafter(top, kInf), top},
          Bound{TripCause::kAngle, angle, bottom, std::nextafter(bottom, -kInf), bottom},
          Bound{TripCause::kSpeed, speed, fast, std::nextafter(fast, kInf), fast},
          Bound{TripCause::kSpeed, speed, -fast, std::nextafter(-fast, -kInf), fast}}) {
      SCOPED_TRACE(::testing::Message() << limits.joint[j].hinge << ' ' << bound.beyond);
      SafetyMonitor monitor(limits);
      Observation now = resting();
      for (const double value : {0.0, bound.at, 0.0, bound.at}) {
        now.time_s += kPeriod_s;
        now.joint[j].*bound.quantity = value;
        monitor.admit(now, {1.0});
        ASSERT_FALSE(monitor.is_tripped()) << describe(monitor.current_trip(), limits);
      }
      now.time_s += kPeriod_s;
      now.joint[j].*bound.quantity = bound.beyond;
      EXPECT_EQ(monitor.admit(now, {1.0})[0], 0.0);
      EXPECT_EQ(monitor.current_trip().cause, bound.cause);
      EXPECT_EQ(monitor.current_trip().joint, j);
      EXPECT_EQ(monitor.current_trip().limit, bound.limit);
      EXPECT_EQ(std::abs(monitor.current_trip().value), std::abs(bound.beyond));
    }
  }
}

// A jump to either side, at and beyond its bound; the bound is counted from the last angle.
TEST(SafetyBounds, JudgeAJumpToEitherSide) {
  SafetyLimits limits = two_joints();
  limits.joint[1].jump_rad_max = 0.25;
  for (const double side : {1.0, -1.0}) {
    for (const bool beyond : {false, true}) {
      SCOPED_TRACE(::testing::Message() << side << ' ' << beyond);
      SafetyMonitor monitor(limits);
      Observation now = resting();
      for (const double angle : {0.0, 0.25, 0.5, beyond ? 0.75 + 1e-9 : 0.75}) {
        ASSERT_FALSE(monitor.is_tripped());
        now.time_s += kPeriod_s;
        now.joint[1].angle_rad = side * angle;
        monitor.admit(now, {0.0});
      }
      EXPECT_EQ(monitor.current_trip().cause, beyond ? TripCause::kEncoderJump : TripCause::kNone);
    }
  }
}

// A rig that starts with its pendulum upright has not jumped there, nor has a channel that comes in
// later than the others.
TEST(SafetyBounds, FirstAngleOfAChannelIsNoJump) {
  SafetyMonitor monitor(two_joints());
  Observation now = resting();
  now.joint[1].angle_rad = std::numbers::pi;
  now.joint[0].valid = false;
  for (int k = 0; k < 5; ++k) {
    now.time_s += kPeriod_s;
    monitor.admit(now, {0.0});
  }
  now.joint[0] = {1.5, 0.0, true};
  now.time_s += kPeriod_s;
  monitor.admit(now, {0.0});
  EXPECT_FALSE(monitor.is_tripped()) << describe(monitor.current_trip(), two_joints());
}

// Times that are whole in binary, so that "exactly" is exact.
TEST(SafetyBounds, TimesHoldAtTheirValueAndTripBeyond) {
  constexpr double kTick_s = 1.0 / 1024;
  SafetyLimits limits = two_joints();
  limits.staleness_s_max = 4 * kTick_s;
  limits.joint[0].missing_s_max = 8 * kTick_s;
  for (const int ticks : {4, 5}) {
    SafetyMonitor monitor(limits);
    Observation now = resting();
    monitor.admit(now, {0.0});
    now.time_s += ticks * kTick_s;
    monitor.admit(now, {0.0});
    EXPECT_EQ(monitor.current_trip().cause,
              ticks == 4 ? TripCause::kNone : TripCause::kStaleSample);
  }
  SafetyMonitor monitor(limits);
  Observation now = resting();
  monitor.admit(now, {0.0});
  now.joint[0].valid = false;
  for (int k = 1; k <= 8; ++k) {
    now.time_s += kTick_s;
    monitor.admit(now, {0.0});
    ASSERT_FALSE(monitor.is_tripped()) << k;
  }
  now.time_s += kTick_s;
  monitor.admit(now, {0.0});
  EXPECT_EQ(monitor.current_trip().cause, TripCause::kMissingChannel);
}

// A clock that stands still or goes back hides how old the angles are.
TEST(SafetyBounds, TripWhenTheUnitsTimeDoesNotGoOn) {
  for (const double step_s : {0.0, -1e-3, -1e3}) {
    SafetyMonitor monitor(two_joints());
    Observation now = resting();
    now.time_s = 5.0;
    monitor.admit(now, {0.0});
    now.time_s += step_s;
    EXPECT_EQ(monitor.admit(now, {1.0})[0], 0.0);
    EXPECT_EQ(monitor.current_trip().cause, TripCause::kStaleSample) << step_s;
  }
}

// Comparisons with NaN are false: whatever is none must trip, and trip at once.
TEST(SafetyBounds, TripOnWhatIsNoNumber) {
  const auto expect_trip_by = [](const auto& spoil, TripCause cause, double requested = 1.0) {
    for (const bool first : {true, false}) {
      SafetyMonitor monitor(two_joints());
      Observation now = resting();
      if (!first) monitor.admit(now, {0.0});
      now.time_s += kPeriod_s;
      spoil(now);
      EXPECT_EQ(monitor.admit(now, {requested})[0], 0.0);
      EXPECT_EQ(monitor.current_trip().cause, cause);
      now = resting();
      now.time_s = 2 * kPeriod_s;
      EXPECT_EQ(monitor.admit(now, {1.0})[0], 0.0);
    }
  };
  for (std::size_t j = 0; j < 2; ++j) {
    expect_trip_by([j](Observation& now) { now.joint[j].speed_rad_per_s = kNaN; },
                   TripCause::kSpeed);
    for (const double infinite : {kInf, -kInf}) {
      expect_trip_by([&](Observation& now) { now.joint[j].speed_rad_per_s = infinite; },
                     TripCause::kSpeed);
    }
  }
  for (const double time_s : {kNaN, kInf}) {
    expect_trip_by([&](Observation& now) { now.time_s = time_s; }, TripCause::kStaleSample);
  }
  for (const double requested : {kNaN, kInf, -kInf}) {
    expect_trip_by([](Observation&) {}, TripCause::kCommandNotFinite, requested);
  }
  // An angle that is none is a jump where there was one before.
  for (const double angle : {kNaN, kInf, -kInf}) {
    SafetyMonitor monitor(two_joints());
    Observation now = resting();
    now.joint[1].angle_rad = angle;
    EXPECT_EQ(monitor.admit(now, {1.0})[0], 0.0);
    EXPECT_EQ(monitor.current_trip().cause, TripCause::kAngle);
    SafetyMonitor later(two_joints());
    now = resting();
    later.admit(now, {0.0});
    now.joint[1].angle_rad = angle;
    now.time_s += kPeriod_s;
    EXPECT_EQ(later.admit(now, {1.0})[0], 0.0);
    EXPECT_EQ(later.current_trip().cause, TripCause::kEncoderJump);
  }
}

// The second wall behind the check of the rig file: a limit that is none allows nothing.
TEST(SafetyBounds, TripOnALimitThatIsNone) {
  const std::function<void(SafetyLimits&, double)> kFields[] = {
      [](SafetyLimits& limits, double value) { limits.motor[0].command_max = value; },
      [](SafetyLimits& limits, double value) { limits.motor[0].command_slew_per_s_max = value; },
      [](SafetyLimits& limits, double value) { limits.staleness_s_max = value; },
      [](SafetyLimits& limits, double value) { limits.joint[1].angle_rad_min = value; },
      [](SafetyLimits& limits, double value) { limits.joint[1].angle_rad_max = value; },
      [](SafetyLimits& limits, double value) { limits.joint[1].speed_rad_per_s_max = value; },
      [](SafetyLimits& limits, double value) { limits.joint[1].jump_rad_max = value; },
      [](SafetyLimits& limits, double value) { limits.joint[1].missing_s_max = value; }};
  for (std::size_t field = 0; field < std::size(kFields); ++field) {
    SCOPED_TRACE(field);
    SafetyLimits limits = two_joints();
    kFields[field](limits, kNaN);
    EXPECT_FALSE(find_faults(limits).empty());
    SafetyMonitor monitor(limits);
    Observation now = resting();
    EXPECT_EQ(monitor.admit(now, {1.0})[0], 0.0);
    now.time_s += kPeriod_s;
    now.joint[1].valid = field != 7;  // the last one is asked for by a missing channel only
    EXPECT_EQ(monitor.admit(now, {1.0})[0], 0.0);
    EXPECT_TRUE(monitor.is_tripped());
    for (const double value : {kInf, -kInf, -1.0}) {
      SafetyLimits impossible = two_joints();
      kFields[field](impossible, value);
      const bool is_an_angle = value == -1.0 && (field == 3 || field == 4);
      EXPECT_EQ(find_faults(impossible).empty(), is_an_angle) << value;
    }
  }
  SafetyLimits negative = two_joints();
  negative.motor[0].command_max = -1.0;
  SafetyMonitor monitor(negative);
  Observation now = resting();
  monitor.admit(now, {0.0});
  now.time_s += kPeriod_s;
  EXPECT_EQ(monitor.admit(now, {1.0})[0], 0.0);
  EXPECT_TRUE(monitor.is_tripped());
}

// This computer: a pause and a disk that takes nothing, each at its bound and beyond, and whatever
// is no number. A pause explains why nothing was stored.
TEST(SafetyBounds, JudgeThisComputer) {
  const SafetyLimits limits = two_joints();
  ASSERT_EQ(limits.unstored_s_max, 1.0);
  struct Look {
    double pause_s, unstored_s;
    TripCause cause;
    double value, limit;
  };
  const double pause_s = limits.staleness_s_max;
  const double late_s = std::nextafter(pause_s, kInf), unstored_s = std::nextafter(1.0, kInf);
  for (const Look& look : {Look{pause_s, 1.0, TripCause::kNone, 0.0, 0.0},
                           Look{late_s, 0.0, TripCause::kHostPaused, late_s, pause_s},
                           Look{0.0, unstored_s, TripCause::kRecordingStalled, unstored_s, 1.0},
                           Look{late_s, 2.0, TripCause::kHostPaused, late_s, pause_s}}) {
    SCOPED_TRACE(::testing::Message() << look.pause_s << ' ' << look.unstored_s);
    SafetyMonitor monitor(limits);
    monitor.check_host(2.5, look.pause_s, look.unstored_s);
    EXPECT_EQ(monitor.current_trip().cause, look.cause);
    EXPECT_EQ(monitor.current_trip().value, look.value);
    EXPECT_EQ(monitor.current_trip().limit, look.limit);
    EXPECT_EQ(monitor.current_trip().time_s, look.cause == TripCause::kNone ? 0.0 : 2.5);
    EXPECT_EQ(monitor.admit(resting(), {0.0})[0], 0.0);
  }
  for (const bool limit_is_none : {false, true}) {
    SafetyLimits spoiled = limits;
    if (limit_is_none) spoiled.staleness_s_max = kNaN;
    SafetyMonitor pause(spoiled);
    pause.check_host(0.0, limit_is_none ? 0.0 : kNaN, 0.0);
    EXPECT_EQ(pause.current_trip().cause, TripCause::kHostPaused);
    spoiled = limits;
    if (limit_is_none) spoiled.unstored_s_max = kNaN;
    SafetyMonitor disk(spoiled);
    disk.check_host(0.0, 0.0, limit_is_none ? 0.0 : kNaN);
    EXPECT_EQ(disk.current_trip().cause, TripCause::kRecordingStalled);
  }
}

// A count that flips a high bit, or a slipped encoder, moves the hinge faster than it can turn.
TEST_F(SafetyMonitorTest, TripsOnAnEncoderJump) {
  rest();
  now_.joint[1].angle_rad = 0.2;
  EXPECT_EQ(send(1.0), 0.0);
  expect_trip(TripCause::kEncoderJump, 1, 0.2, 0.1);
}

// The wireless encoder loses single readings as a matter of course; only a longer loss trips. And
// after it the angle may have moved, which must not pass for a jump.
TEST_F(SafetyMonitorTest, RidesThroughAShortLossOfOneChannel) {
  rest();
  now_.joint[1].valid = false;
  for (int k = 0; k < 9; ++k) EXPECT_NE(send(1.0), 0.0);
  now_.joint[1] = {0.3, 30.0, true};  // 10 ms at 40 rad/s is 0.4 rad
  EXPECT_NE(send(1.0), 0.0);
  EXPECT_FALSE(monitor_.is_tripped());
}

TEST_F(SafetyMonitorTest, TripsOnAChannelThatStaysMissing) {
  rest();
  now_.joint[1].valid = false;
  for (int k = 0; k < 12 && !monitor_.is_tripped(); ++k) send(1.0);
  expect_trip(TripCause::kMissingChannel, 1, 0.011, 0.0105);
}

// A channel that never spoke has no last good time; it must be missing from the start.
TEST_F(SafetyMonitorTest, TripsOnAChannelThatNeverSpoke) {
  now_.joint[0].valid = true;
  for (int k = 0; k < 12; ++k) send(0.0);
  expect_trip(TripCause::kMissingChannel, 1, 0.011, 0.0105);
}

TEST_F(SafetyMonitorTest, TripsOnAStaleSample) {
  rest();
  now_.time_s += 0.006;
  EXPECT_EQ(send(1.0), 0.0);
  expect_trip(TripCause::kStaleSample, 0, 0.007, 0.005);
}

TEST_F(SafetyMonitorTest, TripsOnACommandThatIsNotANumber) {
  rest();
  EXPECT_EQ(send(std::numeric_limits<double>::quiet_NaN()), 0.0);
  EXPECT_EQ(monitor_.current_trip().cause, TripCause::kCommandNotFinite);
  EXPECT_EQ(send(1.0), 0.0);
}

// Clamping must hold for both limits at once.
TEST_F(SafetyMonitorTest, ClampsMagnitudeAndSlew) {
  rest();
  EXPECT_DOUBLE_EQ(send(100.0), 1.5);  // 0.5 + 1000/s · 1 ms
  EXPECT_DOUBLE_EQ(send(-100.0), 0.5);
  for (int k = 0; k < 20; ++k) send(100.0);
  EXPECT_DOUBLE_EQ(send(100.0), 5.0);
  for (int k = 0; k < 20; ++k) send(-100.0);
  EXPECT_DOUBLE_EQ(send(-100.0), -5.0);
  EXPECT_DOUBLE_EQ(send(-5.0), -5.0);  // at the limit
  EXPECT_FALSE(monitor_.is_tripped());
}

// Slew counts from the last command and over the time that has passed; the first sample has none.
TEST_F(SafetyMonitorTest, FirstCommandIsZeroAndSlewCoversAGap) {
  for (JointState& joint : now_.joint) joint = {0.0, 0.0, true};
  EXPECT_EQ(send(5.0), 0.0);
  EXPECT_DOUBLE_EQ(send(5.0), 1.0);
  now_.time_s += 2 * kPeriod_s;
  EXPECT_DOUBLE_EQ(send(5.0), 4.0);
  EXPECT_FALSE(monitor_.is_tripped());
}

TEST_F(SafetyMonitorTest, KeepsTheFirstTripsFigures) {
  rest();
  monitor_.trip(TripCause::kUnitTripped, 1.0, 4.0, 0.0);
  monitor_.trip(TripCause::kLinkLost, 2.0, 1.0, 0.5);
  EXPECT_EQ(monitor_.current_trip().cause, TripCause::kUnitTripped);
  EXPECT_EQ(send(1.0), 0.0);
}

TEST_F(SafetyMonitorTest, DoesNotAllocate) {
  if (!test_support::AllocCounter::works()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  const test_support::AllocCounter allocations;
  for (int k = 0; k < 100; ++k) {
    if (k == 50) now_.joint[0].angle_rad = 100.0;
    send(1.0);
  }
  EXPECT_TRUE(monitor_.is_tripped());
  EXPECT_EQ(allocations.count(), 0);
}

TEST(TripText, NamesHingeFiguresAndTime) {
  const Trip trip{TripCause::kSpeed, 1, 3.25, 41.5, 40.0};
  EXPECT_EQ(describe(trip, two_joints()),
            "pendulum: speed 41.5 rad/s, allowed 40 rad/s, at t = 3.250 s");
}

TEST(TripText, TellsAPortThatClosedFromSilence) {
  EXPECT_EQ(describe({TripCause::kPortClosed, 0, 2.5, 0.00036, 0.0}, two_joints()),
            "the port closed (cable pulled, adapter or unit switched off?) 360e-6 s after the last "
            "sample, at t = 2.500 s");
}

// A cause whose row stands elsewhere would be told as another one.
TEST(TripText, HasItsOwnWordsForEveryCause) {
  std::set<std::string_view> names;
  for (int cause = 0; cause <= static_cast<int>(TripCause::kUnitClock); ++cause) {
    names.insert(to_string(static_cast<TripCause>(cause)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(TripCause::kUnitClock) + 1);
  EXPECT_EQ(to_string(TripCause::kPortClosed), "port closed");
  EXPECT_EQ(to_string(TripCause::kHostPaused), "host paused");
  EXPECT_EQ(to_string(TripCause::kRingFull), "ring full");
  EXPECT_EQ(to_string(TripCause::kStall), "stall");
  EXPECT_EQ(to_string(TripCause::kUnitClock), "unit clock");
  EXPECT_TRUE(is_of_one_joint(TripCause::kStall) && is_of_one_joint(TripCause::kGrowingSwings));
  EXPECT_FALSE(is_of_one_joint(TripCause::kCommandMismatch));
  EXPECT_EQ(unit_of(TripCause::kSpeed), "rad/s");
  EXPECT_TRUE(is_of_one_joint(TripCause::kMissingChannel));
  EXPECT_FALSE(is_of_one_joint(TripCause::kStaleSample));
}

// Where, what was seen, what is allowed, when, and what to do.
TEST(TripText, SaysOfWhatIsImplausibleWhatToDo) {
  struct Sentence {
    Trip trip;
    std::vector<const char*> parts;
  };
  const Sentence sentences[] = {
      {{TripCause::kStall, 0, 2.0, 0.66, 0.65}, {"arm: ", "0.66 s", "0.65 s", "raise safety"}},
      {{TripCause::kFrozenEncoder, 1, 2.0, 0.38, 0.36}, {"pendulum: ", "0.38 s", "cable"}},
      {{TripCause::kNoResponse, 1, 2.0, 0.101, 0.1}, {"pendulum: ", "0.101 rad", "unaffected_by"}},
      {{TripCause::kWrongDirection, 0, 2.0, 0.006, 0.005}, {"arm: ", "0.006 rad", "inverted"}},
      {{TripCause::kCreep, 0, 2.0, 0.02, 0.0}, {"arm: ", "0.02 rad/s", "Bring it to rest"}},
      {{TripCause::kGrowingSwings, 1, 2.0, 1.2, 1.1}, {"pendulum: ", "1.2 times", "supply"}},
      {{TripCause::kCommandMismatch, 0, 2.0, 10.0, 1.0},
       {"arm: ", "10 where 1 was", "conformance"}},
      {{TripCause::kCommandMismatch, 0, 2.0, 1.0, 1.0}, {"arm: ", "contradicts", "conformance"}},
      {{TripCause::kStaleCommand, 0, 2.0, 0.12, 0.1}, {"0.12 s", "0.1 s", "line"}},
      {{TripCause::kFaultMismatch, 0, 2.0, 16.0, 0.0}, {"0x10", "conformance"}},
      {{TripCause::kSampleAge, 0, 2.0, 0.06, 0.05}, {"0.06 s after", "staleness_ms_max"}},
      {{TripCause::kSampleAge, 0, 2.0, -0.06, 0.05}, {"0.06 s before", "check the unit"}},
      {{TripCause::kUnitClock, 0, 2.0, -1.5, 1.0}, {"slow by 1.5 %", "allowed 1 %", "tick rate"}},
      {{TripCause::kUnitClock, 0, 2.0, kNaN, 1.0}, {"cannot be determined to 1 %", "irregularly"}}};
  for (const Sentence& sentence : sentences) {
    const std::string text = describe(sentence.trip, two_joints());
    for (const char* part : sentence.parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
    }
    EXPECT_NE(text.find("at t = 2.000 s. "), std::string::npos) << text;
  }
}

// After a run that was broken off in full swing the encoders count on.
TEST(TripText, AdvisesAboutAHingeThatStandsOutsideItsRange) {
  const Trip trip{TripCause::kAngle, 1, 0.0, -56.5487, -50.0};
  const std::string advice = advise_before_start(trip, two_joints());
  for (const char* part :
       {"\"pendulum\"", "-56.55 rad", "-9 turns", "-50 and 50 rad", "switch the unit off and on"}) {
    EXPECT_NE(advice.find(part), std::string::npos) << advice;
  }
  EXPECT_EQ(advise_before_start({TripCause::kSpeed, 1, 0.0, 50.0, 40.0}, two_joints()), "");
}

TEST(TripText, PutsTheUnitsFaultsIntoWords) {
  const Trip trip{TripCause::kUnitTripped, 0, 2.5, 0x22, 0.0};
  EXPECT_TRUE(describe(trip, two_joints())
                  .starts_with("the unit switched off: no new command before the last one expired, "
                               "fault of the power stage "
                               "(fault flags 0x22), at t = 2.500 s. "));
  EXPECT_EQ(describe({TripCause::kUnitTripped, 0, 2.5, 0x20, 0.0}, two_joints()),
            "the unit switched off: fault of the power stage (fault flags 0x20), at t = 2.500 s");
}

// A unit that heard nothing within its ttl trips for a pause of this computer that the loop itself
// allowed. The message names it, and settings; not one of long ago.
TEST(TripText, NamesThePauseBehindTheUnitsTtl) {
  for (const bool long_ago : {false, true}) {
    SafetyLimits limits = two_joints();
    limits.staleness_s_max = 0.5;
    SafetyMonitor monitor(limits);
    monitor.check_host(2.0, 0.1204, 0.0);
    monitor.check_host(2.9, 0.001, 0.0);
    if (long_ago) monitor.check_host(3.1, 0.002, 0.0);
    monitor.trip(TripCause::kUnitTripped, 3.1, 0x02, 0.0);
    const std::string text = describe(monitor.current_trip(), limits);
    EXPECT_NE(text.find(long_ago ? "this computer paused for up to 2 ms"
                                 : "this computer paused for up to 120.4 ms"),
              std::string::npos)
        << text;
    for (const char* part : {"before the last one expired", "rigcal-daq latency", "unit { ttl_ms }",
                             "safety { staleness_ms_max }"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

TEST(TripText, NamesWhatStoppedInThisComputer) {
  EXPECT_EQ(describe({TripCause::kHostPaused, 0, 2.5, 0.902, 0.25}, two_joints()),
            "this computer paused for 902 ms, 250 ms allowed, at t = 2.500 s; motor off. Close "
            "other programs and run rigcal-daq latency, or raise unit { ttl_ms } and safety { "
            "staleness_ms_max }");
  EXPECT_EQ(describe({TripCause::kRecordingStalled, 0, 2.5, 1.0004, 1.0}, two_joints()),
            "no data were stored for 1000.4 ms, 1000 ms allowed, at t = 2.500 s; motor off. The "
            "disk hangs or is too slow; record to another disk");
  EXPECT_EQ(describe({TripCause::kRingFull, 0, 2.5, 8193, 8192}, two_joints()),
            "8192 samples are waiting to be recorded, and the buffer is full, at t = 2.500 s; "
            "motor off. The "
            "disk is too slow, or something keeps this program from writing");
}

TEST(SafetyLimitsCheck, NamesEachImpossibleField) {
  SafetyLimits limits = two_joints();
  EXPECT_TRUE(find_faults(limits).empty());
  limits.motor[0].command_max = -1.0;
  limits.joint[1].angle_rad_max = -60.0;
  limits.joint[1].missing_s_max = std::numeric_limits<double>::quiet_NaN();
  const auto faults = find_faults(limits);
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_NE(faults[0].find("command_max"), std::string::npos);
  EXPECT_NE(faults[1].find("pendulum"), std::string::npos);
  EXPECT_NE(faults[2].find("missing_ms_max"), std::string::npos);
}

}  // namespace
}  // namespace daq
