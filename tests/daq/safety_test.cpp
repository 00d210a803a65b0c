#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "daq/safety/black_box.hpp"
#include "daq/safety/joint_tracker.hpp"
#include "daq/safety/safety_limits.hpp"
#include "tests/support/alloc_counter.hpp"

namespace daq {
namespace {

constexpr double kPeriod_s = 1e-3;

SafetyLimits two_joints() {
  return {.command_max = 5.0,
          .command_slew_per_s_max = 1000.0,
          .staleness_s_max = 0.005,
          .joint = {{"arm", -2.0, 2.0, 20.0, 0.1, 0.0105},
                    {"pendulum", -50.0, 50.0, 40.0, 0.1, 0.0105}}};
}

// A rig at rest, one sample a period, that a test disturbs in one respect.
class SafetyMonitorTest : public ::testing::Test {
 protected:
  double send(double requested) {
    now_.time_s += kPeriod_s;
    return monitor_.admit(now_, requested);
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

TEST_F(SafetyMonitorTest, TripsOnAnAngleBeyondEitherBound) {
  rest();
  for (double angle = 0.0; angle < 2.0; angle += 0.05) {
    now_.joint[0].angle_rad = angle;
    EXPECT_NE(send(1.0), 0.0);
  }
  now_.joint[0].angle_rad = 2.01;
  EXPECT_EQ(send(1.0), 0.0);
  expect_trip(TripCause::kAngle, 0, 2.01, 2.0);
}

TEST_F(SafetyMonitorTest, TripsOnSpeedInEitherDirection) {
  rest();
  now_.joint[1].speed_rad_per_s = -40.5;
  EXPECT_EQ(send(1.0), 0.0);
  expect_trip(TripCause::kSpeed, 1, 40.5, 40.0);
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

// Clamping must hold for both limits at once, and count each sample it changed.
TEST_F(SafetyMonitorTest, ClampsMagnitudeAndSlew) {
  rest();
  const auto before = monitor_.clamped_count();
  EXPECT_DOUBLE_EQ(send(100.0), 1.5);  // 0.5 + 1000/s · 1 ms
  EXPECT_DOUBLE_EQ(send(-100.0), 0.5);
  for (int k = 0; k < 20; ++k) send(100.0);
  EXPECT_DOUBLE_EQ(send(100.0), 5.0);
  EXPECT_EQ(monitor_.clamped_count() - before, 23);
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

TEST(TripText, PutsTheUnitsFaultsIntoWords) {
  const Trip trip{TripCause::kUnitTripped, 0, 2.5, 0x22, 0.0};
  EXPECT_EQ(describe(trip, two_joints()),
            "the unit switched off: no command within its ttl, fault of the power stage "
            "(fault flags 0x22), at t = 2.500 s");
}

TEST(SafetyLimitsCheck, NamesEachImpossibleField) {
  SafetyLimits limits = two_joints();
  EXPECT_TRUE(find_faults(limits).empty());
  limits.command_max = -1.0;
  limits.joint[1].angle_rad_max = -60.0;
  limits.joint[1].missing_s_max = std::numeric_limits<double>::quiet_NaN();
  const auto faults = find_faults(limits);
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_NE(faults[0].find("command_max"), std::string::npos);
  EXPECT_NE(faults[1].find("pendulum"), std::string::npos);
  EXPECT_NE(faults[2].find("missing_ms_max"), std::string::npos);
}

// Constant speed on an encoder of 4096 counts: the error of the speed is at most one count over
// the window, 2π/4096 / (15 ms).
TEST(JointTracker, ErrsByAtMostOneCountOverItsWindow) {
  JointTracker tracker;
  const double count_rad = 2 * 3.14159265358979 / 4096;
  for (int k = 0; k < 200; ++k) {
    const double angle_rad = std::floor(7.3 * kPeriod_s * k / count_rad) * count_rad;
    tracker.add(kPeriod_s * k, angle_rad);
    if (k < 15) continue;
    EXPECT_NEAR(tracker.speed_rad_per_s(), 7.3, count_rad / 0.015 * (1 + 1e-9));
  }
}

// The ring must keep the newest messages, oldest first, and stop kAfterTrip messages after the
// trip: one that goes on would push the cause out of memory.
TEST(BlackBox, KeepsWhatCameBeforeAndJustAfterATrip) {
  auto box = std::make_unique<BlackBox>();
  constexpr int kTripAt = 5000;
  for (int k = 0; k < 10'000; ++k) {
    if (k == kTripAt) box->note_trip();
    const std::array<std::uint8_t, 2> message = {static_cast<std::uint8_t>(k),
                                                 static_cast<std::uint8_t>(k >> 8)};
    box->on_message(firmware_iface::Direction::kToUnit, message, firmware_iface::Nanoseconds(k));
  }
  ASSERT_TRUE(box->is_frozen());
  ASSERT_EQ(box->count(), BlackBox::kCapacity);
  const auto oldest =
      kTripAt + static_cast<int>(BlackBox::kAfterTrip) - static_cast<int>(BlackBox::kCapacity);
  for (std::size_t i = 0; i < box->count(); ++i) {
    const int k = oldest + static_cast<int>(i);
    EXPECT_EQ(box->message(i).at.count(), k);
    ASSERT_EQ(box->message(i).message().size(), 2U);
    EXPECT_EQ(box->message(i).message()[1], static_cast<std::uint8_t>(k >> 8));
  }
}

}  // namespace
}  // namespace daq
