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
  limits_.motion[1].is_unaffected = true;
  begin(1.0);
  EXPECT_EQ(until_trip(5000, [&](int k) { return step(2 * (k / 150), 3 * k, 1.0); }), -1);
  begin(1.0);
  EXPECT_GT(until_trip(5000, [&](int k) { return step(k % 2, 10 * k, 1.0); }), 0);
  EXPECT_EQ(trip_.cause, TripCause::kStall);
}

// Pushes that suffice for four stall limits move a joint by eight counts: two seconds at half a
// volt more than the stall command.
TEST_F(Motion, StallFindsCountsThatStayWithinEightOfAPosition) {
  for (const auto& [counts, trips] :
       {std::pair(2, true), std::pair(7, true), std::pair(8, false)}) {
    SCOPED_TRACE(counts);
    begin(1.0);
    const int at = until_trip(5000, [&, counts = counts](int k) {
      return step(k / 50 % 2 == 0 ? counts : 0, 0, k % 1000 < 990 ? 1.0 : 0.0);
    });
    EXPECT_EQ(at > 0 && trip_.cause == TripCause::kStall, trips);
    if (!trips) continue;
    EXPECT_NEAR(trip_.limit, 0.6 * 2.0, 1e-9);  // four times the reach takes twice the time
    EXPECT_NEAR(at * kTick_s, 0.6 * 2.0 * std::sqrt(0.5), 0.01);
  }
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
  limits_.motion[1].is_unaffected = true;
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

// A free joint coasts on against a command of the other sign: 1 V for 0.4 s and then -1 V for 123
// ms add 0.08 + 0.0415 V s², 1.35 times the limit of pushes from rest.
TEST_F(Motion, StallCountsOnAfterACommandOfTheOtherSign) {
  rest(1.0);
  EXPECT_NEAR(until_trip(2000, [&](int k) { return step(0, 0, k < 400 ? 1.0 : -1.0); }), 523, 3);
  EXPECT_EQ(trip_.cause, TripCause::kStall);
}

// Each push of one sign, and its coasting, starts from rest, because the joint has not moved. What
// it reaches beyond half a stall limit of 0.09 V s² adds up. Pushes of 0.3 s reach half a limit.
TEST_F(Motion, StallAddsUpPushesOfAlternatingSign) {
  for (const auto& [push, trips] : {std::pair(297, false), std::pair(310, true)}) {
    for (const int pause : {0, 600}) {
      SCOPED_TRACE(::testing::Message() << push << ' ' << pause);
      const double u_V = pause == 0 ? 1.0 : 0.5;  // u t²/2, which coasts as far again at 0.5 V
      const int half =
          pause == 0 ? push / 2 : 0;  // at first, so that a free joint swings to and fro
      begin(u_V);
      const int at = until_trip(20'000, [&, push = push](int k) {
        const int in_push = (k + half) % (push + pause), pushes = (k + half) / (push + pause);
        return step(0, 0, in_push < push ? (pushes % 2 == 0 ? u_V : -u_V) : 0.0);
      });
      EXPECT_EQ(at > 0, trips);
      if (!trips) continue;
      const double excess = 0.5 * 1e-6 * push * push - 0.045;  // of each push
      EXPECT_NEAR(at / static_cast<double>(push + pause), 0.045 / excess, 2.0);
    }
  }
}

// What was commanded before the run does not count: 1 V must last for 0.424 s in the run.
TEST_F(Motion, StallCountsFromTheStartOfTheRun) {
  for (int k = 0; k < 400; ++k) step(0, 0, 1.0, MotionPhase::kHandled);
  EXPECT_NEAR(until_trip(2000, [&](int) { return step(0, 0, 1.0); }), 424, 3);
}

// A pendulum that moves may take up a push: then 1.85 stall limits are allowed, less 6 times the
// square of the travel [rad] at the arm's last speed. If the whole rig was at rest before, it may
// not, unless another motor is commanded too.
TEST_F(Motion, StallAllowsMoreWhileAnotherJointMoves) {
  constexpr int kNever = 99'999;
  limits_.motion[1].is_unaffected = true;
  for (const auto& [from, rest_ms, second_u, slides] :
       {std::tuple(0, 20, 0.0, false), std::tuple(0, 300, 0.0, true),
        std::tuple(1000, 20, 0.0, false), std::tuple(1220, 300, 0.0, false),
        std::tuple(1220, 300, 0.1, false), std::tuple(kNever, 20, 0.1, false)}) {
    for (const int step_ms : {5, 10, 60, 900}) {  // two counts in this time: the last speed
      SCOPED_TRACE(::testing::Message()
                   << from << ' ' << rest_ms << ' ' << second_u << ' ' << slides << ' ' << step_ms);
      limits_.joint[0].slides = slides;
      limits_.motion[0].rad_per_count = slides ? 0.1 * kCount_rad : kCount_rad;
      limits_.motion[1].motor = second_u != 0.0 ? 1 : -1;
      limits_.motion[1].stall_command = limits_.motion[1].stall_time_s = 1.0;
      second_u_ = 0.0;
      checks_ = EncoderMotionMonitor(limits_);
      const auto arm = [step = step_ms](int k) { return 2 * (std::min(k, 900) / step); };
      const auto pendulum = [from = from](int k) { return 3 * std::max(k - from, 0); };
      for (int k = 1; k <= 900 + rest_ms; ++k) {  // short pushes while the arm moves
        const double u_V = step_ms == 900 || k >= 900 ? 0.0 : k % 20 < 10 ? 0.5 : -0.5;
        ASSERT_EQ(step(arm(k), pendulum(k), u_V).cause, TripCause::kNone) << k;
      }
      second_u_ = second_u;
      const int at = until_trip(2000, [&, rested = 900 + rest_ms](int k) {
        return step(arm(900), pendulum(rested + k), 2.0);
      });
      const bool absorbs = from == 0 || (from < kNever && (rest_ms < 200 || second_u != 0.0));
      const double speed = step_ms == 900 ? 0.0 : 2.0 * kCount_rad / (kTick_s * step_ms);
      double t = 0.0;
      while (t * t <= 0.09 * (absorbs ? std::max(1.0, 1.85 - 6.0 * std::pow(speed * t, 2)) : 1.0)) {
        t += 1e-4;
      }
      EXPECT_NEAR(at * kTick_s, t, 4e-3);
      EXPECT_EQ(trip_.cause, TripCause::kStall);
      EXPECT_NEAR(trip_.value, trip_.limit, 0.01);
    }
  }
}

// From rest, a pendulum turns at most ten times as far as the arm whose motor drives. In 0.2 s it
// has not resonated. Nothing is known if the rig moved before, another motor drives, the pendulum
// does not follow or moved before the push, or its counts are finer.
TEST_F(Motion, ADrivenJointMovesBeforeThoseThatItMoves) {
  struct Case {
    const char* name;
    int trips_at;        // counts of the pendulum; 0: no trip
    int arm = 0;         // counts of the arm before the pendulum starts, 30 ms after the command
    int full_ms = 100;   // the pendulum reaches its limit in this time
    int push_at_ms = 0;  // a smaller command before
    double u_V = 1.0, second_u_V = 0.0;
    double finer = 1.0;  // counts of the pendulum in one of the arm
    bool slides = false, is_unaffected = false, moves_before = false;
  };
  const Case cases[] = {{.name = "frozen", .trips_at = 20},
                        {.name = "alternating counts", .trips_at = 20, .arm = 1},
                        {.name = "finer counts", .trips_at = 40, .finer = 2.0},
                        {.name = "coarser counts", .trips_at = 12, .finer = 0.5},
                        {.name = "sliding arm", .trips_at = 40, .finer = 0.2, .slides = true},
                        {.name = "moves first", .trips_at = 0, .arm = 2},
                        {.name = "no command", .trips_at = 0, .u_V = 0.0},
                        {.name = "below the stall command", .trips_at = 0, .u_V = 0.4},
                        {.name = "falls before the push", .trips_at = 0, .push_at_ms = 60},
                        {.name = "resonates", .trips_at = 0, .full_ms = 230},
                        {.name = "another motor", .trips_at = 0, .second_u_V = 0.1},
                        {.name = "not attached", .trips_at = 0, .is_unaffected = true},
                        {.name = "moved before", .trips_at = 0, .moves_before = true}};
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    limits_ = arm_and_pendulum();
    limits_.joint[0].slides = test.slides;
    limits_.motion[1].rad_per_count = kCount_rad / test.finer;
    limits_.motion[1].is_unaffected = test.is_unaffected;
    if (test.second_u_V != 0.0) {
      limits_.joint.push_back({.joint = "slide"});
      limits_.motion.push_back(
          {.rad_per_count = kCount_rad, .motor = 1, .stall_command = 1.0, .stall_time_s = 1.0});
    }
    checks_ = EncoderMotionMonitor(limits_);
    second_u_ = 0.0;
    const int before = test.moves_before ? 10 : 0;
    for (int k = 0; k < 1000; ++k) step(k < 900 ? 0 : before, 0, 0.0, MotionPhase::kWatched);
    second_u_ = test.second_u_V;
    const int full = test.trips_at == 0 ? 20 : test.trips_at;
    int moved = 0;
    const int at = until_trip(400, [&](int k) {
      moved = std::max(k - 30, 0) * full / test.full_ms;
      return step(before + (k > 20 ? test.arm : 0), -moved, k < test.push_at_ms ? 0.1 : test.u_V);
    });
    EXPECT_EQ(trip_.cause == TripCause::kLateEncoder && at > 0, test.trips_at > 0) << at;
    if (test.trips_at == 0) continue;
    EXPECT_NEAR(moved, full, 2);
    EXPECT_EQ(trip_.joint, 0);
    EXPECT_EQ(trip_.limit, full);
  }
}

// An operator may stop a joint at once before the drive. Its last speed does not count then: not as
// an encoder that stopped, nor for the travel since then.
TEST_F(Motion, PassesAJointThatWasStoppedBeforeTheDrive) {
  for (const MotionPhase phase : {MotionPhase::kHandled, MotionPhase::kWatched}) {
    for (const int rest_ms : {1, 20, 400}) {
      SCOPED_TRACE(rest_ms);
      checks_ = EncoderMotionMonitor(limits_);
      const auto turned = [](int k) { return counts_at(2e-6 * k * k); };  // up to 4 rad/s
      for (int k = 0; k < 1000 + rest_ms; ++k) {
        const std::int64_t counts = turned(std::min(k, 1000));
        ASSERT_EQ(step(counts, counts, 0.0, phase).cause, TripCause::kNone) << k;
      }
      // 0.5 V moves the arm at the end of its stall time; the commands shake the pendulum.
      EXPECT_EQ(until_trip(3000,
                           [&](int k) {
                             const std::int64_t arm = turned(1000) + 2 * (k / 200);
                             return step(arm, turned(1000), k % 50 < 25 ? 0.5 : 0.55);
                           }),
                -1);
    }
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
    limits_.motion[1].is_unaffected = true;
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

// A joint may stop 0.1 rad before an end stop, and the travel of 2 ms earlier.
TEST_F(Motion, SuddenStopIsHonestAtAnEndStop) {
  limits_.motion[1].stop_rad_min = -3.0;
  limits_.motion[1].stop_rad_max = 3.0;
  for (const auto& [distance, trips] : {std::pair(0.11, false), std::pair(0.125, true)}) {
    for (const double speed : {(3.0 - distance) / 0.3, (distance - 3.0) / 0.3}) {
      begin(0.0);
      const int at = until_trip(
          900, [&](int k) { return step(0, counts_at(speed * kTick_s * std::min(k, 300)), 0.1); });
      EXPECT_EQ(at > 0, trips) << speed;
    }
  }
}

// Under a steady command a passive joint moved faster than friction could stop it at once.
TEST_F(Motion, SilenceOfAPassiveJointTripsByItsSpeedBefore) {
  for (const auto& [speed, passive, trips] :
       {std::tuple(0.17, 1, false), std::tuple(0.25, 1, true), std::tuple(0.25, 0, true)}) {
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
    EXPECT_NEAR((at - 1000) * kTick_s, std::sqrt(16 * 0.3125 * (6e-3 + kCount_rad) / speed), 0.04);
  }
}

// The speed before a rest of 0.3125 s says nothing about the next rest, which begins from a motion
// of two counts.
TEST_F(Motion, SilenceIsNotJudgedByTheSpeedBeforeAnEarlierRest) {
  for (const bool moves_again : {true, false}) {
    begin(1.0);
    const int at = until_trip(1715, [&](int k) {
      const std::int64_t counts = counts_at(0.3 * kTick_s * std::min(k, 1000));
      return step(k / 10, counts + (moves_again && k > 1325 ? 2 : 0), 1.0);
    });
    EXPECT_EQ(at > 0, !moves_again);
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

// A drive begins with a push, however short the phase between it and the drive before.
TEST_F(Motion, ResponseIsDueInEachDrive) {
  begin(1.0);
  for (int k = 0; k < 60; ++k) ASSERT_EQ(step(k / 4, 0, 1.0).cause, TripCause::kNone);
  for (int k = 0; k < 100; ++k) step(15, 0, 0.0, MotionPhase::kHandled);
  EXPECT_GT(until_trip(400, [&](int k) { return step(15 + k / 2, 0, 1.0); }), 0);
  EXPECT_EQ(trip_.cause, TripCause::kNoResponse);
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
