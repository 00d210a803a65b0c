#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numbers>

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

// A rig at rest with one sample per period, of which a test disturbs one quantity.
class SafetyMonitorTest : public ::testing::Test {
 protected:
  double send(double requested) {
    now_.time_s += kPeriod_s;
    return monitor_.limit_commands(now_, {requested})[0];
  }
  void rest() {
    for (JointState& joint : now_.joint) joint = {0.0, 0.0, true};
    for (int k = 0; k < 10; ++k) ASSERT_EQ(send(0.5), 0.5 * (k > 0));
  }
  // The output must be off now and stay off.
  void expect_trip(TripCause cause, int joint, double value, double limit) {
    EXPECT_EQ(monitor_.current_trip().cause, cause)
        << describe_trip(monitor_.current_trip(), limits_);
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

// Each bound of each joint, exact to the last bit. Catches a bound that is missing, exclusive or
// taken from another joint.
TEST(SafetyBounds, HoldAtTheirValueAndTripBeyond) {
  struct Bound {
    TripCause cause;
    double JointState::*quantity;
    double at, beyond;  // the last allowed value and the first that trips
    double limit;
  };
  SafetyLimits limits = two_joints();
  for (JointLimits& joint : limits.joint) joint.jump_rad_max = 1000.0;  // not tested here
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
      SCOPED_TRACE(::testing::Message() << limits.joint[j].joint << ' ' << bound.beyond);
      SafetyMonitor monitor(limits);
      Observation now = resting();
      for (const double value : {0.0, bound.at, 0.0, bound.at}) {
        now.time_s += kPeriod_s;
        now.joint[j].*bound.quantity = value;
        monitor.limit_commands(now, {1.0});
        ASSERT_FALSE(monitor.is_tripped()) << describe_trip(monitor.current_trip(), limits);
      }
      now.time_s += kPeriod_s;
      now.joint[j].*bound.quantity = bound.beyond;
      EXPECT_EQ(monitor.limit_commands(now, {1.0})[0], 0.0);
      EXPECT_EQ(monitor.current_trip().cause, bound.cause);
      EXPECT_EQ(monitor.current_trip().joint, j);
      EXPECT_EQ(monitor.current_trip().limit, bound.limit);
      EXPECT_EQ(std::abs(monitor.current_trip().value), std::abs(bound.beyond));
    }
  }
}

// A jump in either direction, at and beyond its bound. The bound counts from the last angle.
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
        monitor.limit_commands(now, {0.0});
      }
      EXPECT_EQ(monitor.current_trip().cause, beyond ? TripCause::kEncoderJump : TripCause::kNone);
    }
  }
}

// A first angle is no jump, neither of a pendulum that starts upright nor of a channel that arrives
// later than the others.
TEST(SafetyBounds, FirstAngleOfAChannelIsNoJump) {
  SafetyMonitor monitor(two_joints());
  Observation now = resting();
  now.joint[1].angle_rad = std::numbers::pi;
  now.joint[0].valid = false;
  for (int k = 0; k < 5; ++k) {
    now.time_s += kPeriod_s;
    monitor.limit_commands(now, {0.0});
  }
  now.joint[0] = {1.5, 0.0, true};
  now.time_s += kPeriod_s;
  monitor.limit_commands(now, {0.0});
  EXPECT_FALSE(monitor.is_tripped()) << describe_trip(monitor.current_trip(), two_joints());
}

// Times are exact binary fractions, so that "exactly at the bound" is exact.
TEST(SafetyBounds, TimesHoldAtTheirValueAndTripBeyond) {
  constexpr double kTick_s = 1.0 / 1024;
  SafetyLimits limits = two_joints();
  limits.staleness_s_max = 4 * kTick_s;
  limits.joint[0].missing_s_max = 8 * kTick_s;
  for (const int ticks : {4, 5}) {
    SafetyMonitor monitor(limits);
    Observation now = resting();
    monitor.limit_commands(now, {0.0});
    now.time_s += ticks * kTick_s;
    monitor.limit_commands(now, {0.0});
    EXPECT_EQ(monitor.current_trip().cause,
              ticks == 4 ? TripCause::kNone : TripCause::kStaleSample);
  }
  SafetyMonitor monitor(limits);
  Observation now = resting();
  monitor.limit_commands(now, {0.0});
  now.joint[0].valid = false;
  for (int k = 1; k <= 8; ++k) {
    now.time_s += kTick_s;
    monitor.limit_commands(now, {0.0});
    ASSERT_FALSE(monitor.is_tripped()) << k;
  }
  now.time_s += kTick_s;
  monitor.limit_commands(now, {0.0});
  EXPECT_EQ(monitor.current_trip().cause, TripCause::kMissingChannel);
}

// A clock that stands still or runs backward hides the age of the angles.
TEST(SafetyBounds, TripWhenTheUnitsTimeDoesNotGoOn) {
  for (const double step_s : {0.0, -1e-3, -1e3}) {
    SafetyMonitor monitor(two_joints());
    Observation now = resting();
    now.time_s = 5.0;
    monitor.limit_commands(now, {0.0});
    now.time_s += step_s;
    EXPECT_EQ(monitor.limit_commands(now, {1.0})[0], 0.0);
    EXPECT_EQ(monitor.current_trip().cause, TripCause::kStaleSample) << step_s;
  }
}

// Comparisons with NaN are false, so every value that is not a number must trip at once.
TEST(SafetyBounds, TripOnNaN) {
  const auto expect_trip_by = [](const auto& spoil, TripCause cause, double requested = 1.0) {
    for (const bool first : {true, false}) {
      SafetyMonitor monitor(two_joints());
      Observation now = resting();
      if (!first) monitor.limit_commands(now, {0.0});
      now.time_s += kPeriod_s;
      spoil(now);
      EXPECT_EQ(monitor.limit_commands(now, {requested})[0], 0.0);
      EXPECT_EQ(monitor.current_trip().cause, cause);
      now = resting();
      now.time_s = 2 * kPeriod_s;
      EXPECT_EQ(monitor.limit_commands(now, {1.0})[0], 0.0);
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
    SafetyMonitor monitor(two_joints());
    monitor.limit_commands(resting(), {requested});
    EXPECT_EQ(std::isnan(monitor.current_trip().value), std::isnan(requested));
    EXPECT_EQ(monitor.current_trip().limit, 5.0);
  }
  // An angle that is not a number is a jump if there was an angle before.
  for (const double angle : {kNaN, kInf, -kInf}) {
    SafetyMonitor monitor(two_joints());
    Observation now = resting();
    now.joint[1].angle_rad = angle;
    EXPECT_EQ(monitor.limit_commands(now, {1.0})[0], 0.0);
    EXPECT_EQ(monitor.current_trip().cause, TripCause::kAngle);
    SafetyMonitor later(two_joints());
    now = resting();
    later.limit_commands(now, {0.0});
    now.joint[1].angle_rad = angle;
    now.time_s += kPeriod_s;
    EXPECT_EQ(later.limit_commands(now, {1.0})[0], 0.0);
    EXPECT_EQ(later.current_trip().cause, TripCause::kEncoderJump);
  }
}

// Second barrier behind the check of the rig file: a limit that is not a number allows nothing.
TEST(SafetyBounds, TripOnANaNLimit) {
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
    EXPECT_FALSE(find_limit_errors(limits).empty());
    SafetyMonitor monitor(limits);
    Observation now = resting();
    EXPECT_EQ(monitor.limit_commands(now, {1.0})[0], 0.0);
    now.time_s += kPeriod_s;
    now.joint[1].valid = field != 7;  // needed only while a channel is missing
    EXPECT_EQ(monitor.limit_commands(now, {1.0})[0], 0.0);
    EXPECT_TRUE(monitor.is_tripped());
    for (const double value : {kInf, -kInf, -1.0}) {
      SafetyLimits impossible = two_joints();
      kFields[field](impossible, value);
      const bool is_an_angle = value == -1.0 && (field == 3 || field == 4);
      EXPECT_EQ(find_limit_errors(impossible).empty(), is_an_angle) << value;
    }
  }
  SafetyLimits negative = two_joints();
  negative.motor[0].command_max = -1.0;
  SafetyMonitor monitor(negative);
  Observation now = resting();
  monitor.limit_commands(now, {0.0});
  now.time_s += kPeriod_s;
  EXPECT_EQ(monitor.limit_commands(now, {1.0})[0], 0.0);
  EXPECT_TRUE(monitor.is_tripped());
}

// Checks of this computer: a pause and a blocked disk, each at its bound, beyond it and with NaN. A
// pause takes precedence as the cause if nothing was stored meanwhile.
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
    monitor.trip_on_host_pause(2.5, look.pause_s, look.unstored_s);
    EXPECT_EQ(monitor.current_trip().cause, look.cause);
    EXPECT_EQ(monitor.current_trip().value, look.value);
    EXPECT_EQ(monitor.current_trip().limit, look.limit);
    EXPECT_EQ(monitor.current_trip().time_s, look.cause == TripCause::kNone ? 0.0 : 2.5);
    EXPECT_EQ(monitor.limit_commands(resting(), {0.0})[0], 0.0);
  }
  for (const bool limit_is_none : {false, true}) {
    SafetyLimits spoiled = limits;
    if (limit_is_none) spoiled.staleness_s_max = kNaN;
    SafetyMonitor pause(spoiled);
    pause.trip_on_host_pause(0.0, limit_is_none ? 0.0 : kNaN, 0.0);
    EXPECT_EQ(pause.current_trip().cause, TripCause::kHostPaused);
    spoiled = limits;
    if (limit_is_none) spoiled.unstored_s_max = kNaN;
    SafetyMonitor disk(spoiled);
    disk.trip_on_host_pause(0.0, 0.0, limit_is_none ? 0.0 : kNaN);
    EXPECT_EQ(disk.current_trip().cause, TripCause::kRecordingStalled);
  }
}

// A flipped high bit or an encoder slip looks like a motion faster than the joint can turn.
TEST_F(SafetyMonitorTest, TripsOnAnEncoderJump) {
  rest();
  now_.joint[1].angle_rad = 0.2;
  EXPECT_EQ(send(1.0), 0.0);
  expect_trip(TripCause::kEncoderJump, 1, 0.2, 0.1);
}

// A wireless encoder often loses single readings: only a longer loss trips. The angle may have
// moved in the meantime, which must not count as a jump.
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

// A channel without any reading must count as missing from the start.
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

// The command must be clamped by magnitude and by slew rate together.
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

// The slew limit counts from the last command over the elapsed time. The first sample has none.
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

}  // namespace
}  // namespace daq
