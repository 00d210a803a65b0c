#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "tests/daq/motion_fixture.hpp"

// Each check of EncoderMotionMonitor on both sides of its threshold, on motions that a formula
// makes.

namespace daq {
namespace {

// ----- No count although the motor pushes -----

// The sum is u T² n (n + 1)/2 after n samples. The trip sample must be exact at every command.
TEST_F(Motion, StallTripsWhenThePushWouldHaveMovedTheJoint) {
  for (const double u : {0.5, 1.0, -1.0, 3.0, -10.0}) {
    SCOPED_TRACE(u);
    begin(u);
    const double reach = 0.5 * 0.5 * 0.6 * 0.6;
    int expected = 1;
    while (std::abs(u) * kTick_s * kTick_s * expected * (expected + 1) / 2.0 <=
           reach * (1 + 1e-12)) {
      ++expected;
    }
    EXPECT_NEAR(until_trip(2000, [&](int) { return step(0, 0, u); }), expected, 1);
    EXPECT_NEAR(expected * kTick_s, 0.6 * std::sqrt(0.5 / std::abs(u)), 2e-3);
    EXPECT_EQ(trip_.cause, TripCause::kStall);
    EXPECT_EQ(trip_.joint, 0);
    EXPECT_GT(trip_.value, trip_.limit);
    EXPECT_EQ(trip_.limit, 0.6);
  }
}

TEST_F(Motion, StallIgnoresCommandsBelowItsThreshold) {
  rest(0.4999);
  EXPECT_EQ(until_trip(100'000, [&](int) { return step(0, 0, 0.4999); }), -1);
}

// Two counts are motion. An encoder that alternates between neighbours, as with a broken channel,
// is not.
TEST_F(Motion, StallDistinguishesMotionFromAnAlternatingEncoder) {
  rest(1.0);
  EXPECT_EQ(until_trip(5000, [&](int k) { return step(2 * (k / 400), 3 * k, 1.0); }), -1);
  begin(1.0);
  EXPECT_GT(until_trip(5000, [&](int k) { return step(k % 2, 10 * k, 1.0); }), 0);
  EXPECT_EQ(trip_.cause, TripCause::kStall);
}

// A fast small command hardly moves a joint, never by a whole count, and must not trip.
TEST_F(Motion, StallPassesAFastMultisine) {
  rest(0.0);
  EXPECT_EQ(until_trip(60'000,
                       [&](int k) {
                         double u = 0.0;
                         for (const double f : {17.0, 20.0, 23.0}) {
                           u += 0.8 * std::sin(2.0 * std::numbers::pi * f * kTick_s * k);
                         }
                         return step(0, 0, u);
                       }),
            -1);
}

// Alternating commands of 0.8 V and 4 Hz never reach the limit. While the pendulum swings, an arm
// that had 1 rad/s may rest for 0.45 s of their pushes. An arm that was slow stopped by friction.
TEST_F(Motion, StallFindsAnEncoderThatFreezesUnderAlternatingCommands) {
  const auto u_at = [](int k) { return k % 250 < 125 ? 0.8 : -0.8; };
  for (const double speed : {1.0, 0.05}) {
    SCOPED_TRACE(speed);
    begin(u_at(0));
    std::int64_t arm = 0;
    for (int k = 0; k < 500; ++k) {
      arm = counts_at(speed * kTick_s * k);
      ASSERT_EQ(step(arm, 5 * k, u_at(k)).cause, TripCause::kNone) << k;
    }
    const int at = until_trip(3000, [&](int k) { return step(arm, 2500 + 5 * k, u_at(k)); });
    if (speed < 0.5) {
      EXPECT_EQ(at, -1);
      continue;
    }
    EXPECT_NEAR(at * kTick_s, 0.45, 0.03);
    EXPECT_EQ(trip_.cause, TripCause::kFrozenEncoder);
    EXPECT_EQ(trip_.joint, 0);
  }
}

// A joint coasts after a push: V = 10 V · 40 ms adds V²/(2 · 0.5 V) = 0.16 V s², above the limit of
// 0.09; 4 V · 40 ms adds 0.0256.
TEST_F(Motion, StallCountsOnAfterAPush) {
  for (const auto& [u, trips] : {std::pair(10.0, true), std::pair(4.0, false)}) {
    begin(u);
    const int at = until_trip(2000, [&](int k) { return step(0, 0, k < 40 ? u : 0.0); });
    EXPECT_EQ(at > 40, trips) << u << " V, sample " << at;
  }
}

// A command in the other direction restarts the integral of the command, not the reach: 1 V for 0.4
// s adds 0.08 V s². Then −1 V must last for sqrt(2 (0.09 + 0.08)) = 0.583 s.
TEST_F(Motion, StallRestartsItsIntegralAtACommandOfTheOtherSign) {
  rest(1.0);
  EXPECT_NEAR(until_trip(2000, [&](int k) { return step(0, 0, k < 400 ? 1.0 : -1.0); }), 983, 3);
  EXPECT_EQ(trip_.cause, TripCause::kStall);
  for (const auto& [half_period, trips] : {std::pair(400, false), std::pair(440, true)}) {
    begin(1.0);
    const auto u = [half_period](int k) { return k / half_period % 2 == 0 ? 1.0 : -1.0; };
    EXPECT_EQ(until_trip(10'000, [&](int k) { return step(0, 0, u(k)); }) > 0, trips);
  }
}

// What was commanded before the run does not count: 1 V must last for 0.424 s in the run.
TEST_F(Motion, StallCountsFromTheStartOfTheRun) {
  for (int k = 0; k < 400; ++k) step(0, 0, 1.0, MotionPhase::kHandled);
  EXPECT_NEAR(until_trip(2000, [&](int) { return step(0, 0, 1.0); }), 424, 3);
}

// A pendulum that moves may absorb a part of the push, under a constant or a changing command.
TEST_F(Motion, StallAllowsMoreWhileAnotherJointMoves) {
  for (const auto& [speed, limit] : {std::pair(0.0, 0.09), std::pair(1.0, 1.75 * 0.09)}) {
    SCOPED_TRACE(speed);
    const auto pendulum = [speed](int k) { return counts_at(speed * kTick_s * k); };
    begin(1.0);
    const int constant = until_trip(2000, [&](int k) { return step(0, pendulum(k), 1.0); });
    EXPECT_NEAR(constant * kTick_s, std::sqrt(2.0 * limit), 3e-3);
    EXPECT_EQ(trip_.cause, TripCause::kStall);
    begin(1.0);  // ∫∫(1 + 2 t) dt² = t²/2 + t³/3
    const int rising =
        until_trip(2000, [&](int k) { return step(0, pendulum(k), 1.0 + 2.0 * kTick_s * k); });
    const double t = rising * kTick_s;
    EXPECT_NEAR(t * t / 2.0 + t * t * t / 3.0, limit, 3e-3);
  }
}

// ----- An encoder that stops in the middle of a motion -----

// A joint can stop within its last counts from at most 3 sqrt(q a) + 1.5 a T = 1.96 rad/s.
TEST_F(Motion, SuddenStopTripsAboveWhatAJointCanDo) {
  for (const auto& [speed, trips] : {std::pair(1.7, false), std::pair(2.4, true)}) {
    for (const bool is_arm : {true, false}) {
      SCOPED_TRACE(::testing::Message() << speed << ' ' << is_arm);
      limits_.motion[0].rad_per_count = -kCount_rad;  // inverted
      begin(0.0);
      const auto position = [&](int k) { return counts_at(speed * kTick_s * std::min(k, 300)); };
      const int at = until_trip(900, [&](int k) {
        return is_arm ? step(position(k), 0, 0.1) : step(0, position(k), 0.1);
      });
      EXPECT_EQ(at > 300, trips);
      if (!trips) continue;
      EXPECT_EQ(trip_.cause, TripCause::kFrozenEncoder);
      EXPECT_EQ(trip_.joint, is_arm ? 0 : 1);
      EXPECT_NEAR((at - 300) * kTick_s * speed, 0.1, 0.02);  // at most this far
    }
  }
}

// The thresholds of a sliding joint are a tenth: 0.56 m/s, and a travel of eight counts.
TEST_F(Motion, SuddenStopOfASlidingJointHasATenthOfTheThresholds) {
  for (const auto& [slides, speed, trips] :
       {std::tuple(true, 0.5, false), std::tuple(true, 0.65, true),
        std::tuple(false, 0.65, false)}) {
    SCOPED_TRACE(::testing::Message() << slides << ' ' << speed);
    limits_.joint[1].slides = slides;
    begin(0.0);
    const int at = until_trip(900, [&, speed = speed](int k) {
      return step(0, counts_at(speed * kTick_s * std::min(k, 300)), 0.1);
    });
    EXPECT_EQ(at > 300, trips);
    if (!trips) continue;
    EXPECT_EQ(trip_.cause, TripCause::kFrozenEncoder);
    EXPECT_NEAR((at - 300) * kTick_s * speed, 8.0 * kCount_rad, 2.0 * kCount_rad);
  }
}

TEST_F(Motion, SuddenStopIsHonestAtAnEndStop) {
  limits_.motion[1].stop_rad_min = -3.0;
  limits_.motion[1].stop_rad_max = 3.0;
  for (const auto& [speed, trips] : {std::pair(10.0, false), std::pair(-10.0, false),
                                     std::pair(9.0, true), std::pair(-9.0, true)}) {
    begin(0.0);
    const int at = until_trip(900, [&, speed = speed](int k) {
      return step(0, counts_at(speed * kTick_s * std::min(k, 300)), 0.1);
    });
    EXPECT_EQ(at > 0, trips) << speed;
  }
}

// Under a steady command a passive joint moved faster than friction could stop it at once.
TEST_F(Motion, SilenceOfAPassiveJointTripsByItsSpeedBefore) {
  for (const auto& [speed, passive, trips] :
       {std::tuple(0.13, 1, false), std::tuple(0.2, 1, true), std::tuple(0.2, 0, true)}) {
    SCOPED_TRACE(::testing::Message() << speed << ' ' << passive);
    if (passive == 0) std::swap(limits_.motion[0], limits_.motion[1]);
    begin(1.0);
    const int at = until_trip(3000, [&, speed = speed, passive = passive](int k) {
      const std::int64_t counts = counts_at(speed * kTick_s * std::min(k, 1000));
      return passive == 1 ? step(k / 10, counts, 1.0) : step(counts, k / 10, 1.0);
    });
    EXPECT_EQ(at > 1000, trips);
    if (!trips) continue;
    EXPECT_EQ(trip_.cause, TripCause::kFrozenEncoder);
    EXPECT_EQ(trip_.joint, passive);
    // The limit is sqrt(16 W (d + q)/v) from the last two counts on, up to 15 ms earlier; v is
    // uncertain by one count per span.
    EXPECT_NEAR((at - 1000) * kTick_s, std::sqrt(16 * 0.3125 * (3.6e-3 + kCount_rad) / speed),
                0.04);
  }
}

TEST_F(Motion, SilenceIsHonestWithoutDriveAndOfJointsThatMotorsDoNotMove) {
  const auto stops = [](int k) { return counts_at(0.5 * kTick_s * std::min(k, 1000)); };
  rest(0.0);
  EXPECT_EQ(until_trip(5000, [&](int k) { return step(k, stops(k), 0.3); }), -1);
  limits_.motion[1].is_unaffected = true;
  begin(1.0);
  EXPECT_EQ(until_trip(5000, [&](int k) { return step(k, stops(k), 1.0); }), -1);
}

// A changing command may hold the joint for a while, so the limit is longer.
TEST_F(Motion, SilenceLastsLongerWhileTheCommandChanges) {
  rest(1.0);
  const int at = until_trip(3000, [&](int k) {
    return step(k, counts_at(0.5 * kTick_s * std::min(k, 1000)), 1.0 + 0.2 * (k / 20 % 2));
  });
  EXPECT_NEAR(at, 1900, 20);
  EXPECT_EQ(trip_.cause, TripCause::kFrozenEncoder);
}

// A joint swings to and fro, rests for less than a tenth of a second at its turning points, and
// moves at up to 9 rad/s between them.
TEST_F(Motion, SilencePassesTheTurningPointsOfAFastSwing) {
  begin(1.0);
  EXPECT_EQ(until_trip(3000,
                       [&](int k) {
                         const double t = kTick_s * ((k + 80) % 200);
                         const double a = std::clamp(t - 0.08, 0.0, 0.06);  // accelerates
                         const double b = std::clamp(t - 0.14, 0.0, 0.06);  // brakes
                         const double moved = 75.0 * a * a + 9.0 * b - 75.0 * b * b;
                         const bool is_back = (k + 80) % 400 >= 200;
                         return step(k, counts_at(is_back ? 0.54 - moved : moved), 1.0);
                       }),
            -1);
}

// A step may hold a joint at its turning point by the new command. That must not trip.
TEST_F(Motion, SilencePassesAJointHeldByAStep) {
  rest(0.0);
  EXPECT_EQ(until_trip(6000,
                       [&](int k) {
                         return step(k / 10, counts_at(0.5 * kTick_s * std::min(k, 1000)),
                                     k < 1000 ? 0.0 : 1.0);
                       }),
            -1);
}

// ----- A passive joint that does not respond -----

TEST_F(Motion, ResponseIsDueWhenTheArmHasMoved) {
  for (const auto& [response, trips] :
       {std::pair(0, true), std::pair(11, true), std::pair(12, false), std::pair(-12, false)}) {
    SCOPED_TRACE(response);
    begin(1.0);
    const int at = until_trip(400, [&](int k) {
      const double arm = 0.5 * 1.8 * kTick_s * kTick_s * k * k;
      return step(counts_at(arm), response * std::min(k, 100) / 100, 1.0);
    });
    EXPECT_EQ(at > 0, trips);
    if (!trips) continue;
    EXPECT_EQ(trip_.cause, TripCause::kNoResponse);
    EXPECT_EQ(trip_.joint, 1);
    // 0.1 rad, plus the error in 0.391 s of a start speed that is off by one count in 16 samples.
    EXPECT_NEAR(trip_.value, 0.1 + 0.391 * kCount_rad / 0.016, 3e-3);
    EXPECT_NEAR(at, 391, 3);
  }
}

// Every change of a command starts the measurement again, with the arm's speed at that moment.
TEST_F(Motion, ResponseCountsFromTheLastChangeOfTheCommand) {
  begin(1.0);
  const auto arm = [](int k) {  // 1.8 rad/s² for 0.2 s, then at constant speed for 0.1 s
    const double a = kTick_s * std::min(k, 200), b = kTick_s * std::clamp(k - 200, 0, 100);
    const double c = kTick_s * std::max(k - 300, 0);
    return 0.9 * a * a + 0.36 * (b + c) + 0.9 * c * c;
  };
  const int at = until_trip(1000, [&](int k) {
    arm_speed_ = (arm(k) - arm(k - 1)) / kTick_s;
    return step(counts_at(arm(k)), 0, k < 200 ? 1.0 : k < 300 ? 0.6 : 1.0);
  });
  EXPECT_EQ(trip_.cause, TripCause::kNoResponse);
  EXPECT_NEAR(at, 691, 5) << "0.391 s after the last change";
}

// A joint that already swings may be anywhere.
TEST_F(Motion, ResponseIsNotDueOfAJointThatMovedBefore) {
  const auto swing = [](int k) { return k % 40 < 20 ? 0 : 4; };
  for (int k = 0; k < 1000; ++k) step(0, swing(k), 0.0, MotionPhase::kWatched);
  EXPECT_EQ(until_trip(400,
                       [&](int k) {
                         const double arm = 0.5 * 1.8 * kTick_s * kTick_s * k * k;
                         return step(counts_at(arm), swing(k), 1.0);
                       }),
            -1);
}

// Nor of a joint at its end stop, nor of one that is not read.
TEST_F(Motion, ResponseIsNotDueOfAJointAtItsStopOrNotRead) {
  for (const auto& [stop_rad, is_read, trips] :
       {std::tuple(-0.2, true, true), std::tuple(-0.05, true, false),
        std::tuple(-0.2, false, false)}) {
    limits_.motion[1].stop_rad_min = stop_rad;
    checks_ = EncoderMotionMonitor(limits_);
    valid_[1] = true;
    rest(1.0);
    valid_[1] = is_read;
    const int at = until_trip(
        400, [&](int k) { return step(counts_at(0.5 * 1.8 * kTick_s * kTick_s * k * k), 0, 1.0); });
    EXPECT_EQ(at > 0, trips) << stop_rad << ' ' << is_read;
  }
}

// A slowly rising command moves all joints together: no response is required.
TEST_F(Motion, ResponseIsNotDueToASlowRamp) {
  rest(0.0);
  EXPECT_EQ(until_trip(2000,
                       [&](int k) {
                         const double arm = 0.3 * kTick_s * kTick_s * kTick_s * k * k * k;
                         return step(counts_at(arm), 0, 1.0 * kTick_s * k);
                       }),
            -1);
}

}  // namespace
}  // namespace daq
