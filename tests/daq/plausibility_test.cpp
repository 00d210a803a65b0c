#include "daq/safety/plausibility.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "daq/safety/unit_plausibility.hpp"
#include "tests/support/alloc_counter.hpp"

// Each check on both sides of its threshold, on motions given by formulas.

namespace daq {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTick_s = 1e-3;
constexpr double kCount_rad = 2.0 * std::numbers::pi / 4096.0;

// A driven arm and a passive pendulum. The motor moves the arm from 0.5 V on, at which the arm may
// stand still for 0.6 s.
SafetyLimits arm_and_pendulum() {
  SafetyLimits limits;
  limits.joint = {{.hinge = "arm"}, {.hinge = "pendulum"}};
  limits.motion = {
      {.rad_per_count = kCount_rad, .motor = 0, .stall_command = 0.5, .stall_time_s = 0.6},
      {.rad_per_count = kCount_rad}};
  return limits;
}

class Motion : public ::testing::Test {
 protected:
  // One sample, with the command that is in force from it on.
  Trip step(std::int64_t arm, std::int64_t pendulum, double u,
            MotionPhase phase = MotionPhase::kDriven) {
    now_.time_s += kTick_s;
    counts_ = {arm, pendulum};
    for (std::size_t j = 0; j < 2; ++j) {
      const double angle = kCount_rad * static_cast<double>(counts_[j]);
      now_.joint[j] = {angle, j == 0 ? arm_speed_ : 0.0, valid_[j]};
    }
    return checks_.add({now_, counts_, std::span(&u, 1), phase});
  }

  // One second at rest; then the first command is in force.
  void rest(double u) {
    for (int k = 0; k < 1000; ++k) step(0, 0, 0.0, MotionPhase::kWatched);
    ASSERT_EQ(step(0, 0, u).cause, TripCause::kNone);
  }

  // Number of samples until the first trip, at most `most`; −1 without a trip.
  int until_trip(int most, const std::function<Trip(int)>& sample) {
    for (int k = 1; k <= most; ++k) {
      trip_ = sample(k);
      if (trip_.cause != TripCause::kNone) return k;
    }
    return -1;
  }

  SafetyLimits limits_ = arm_and_pendulum();
  MotionPlausibility checks_{limits_};
  Observation now_;
  std::array<std::int64_t, 2> counts_{};
  std::array<bool, 2> valid_{true, true};
  double arm_speed_ = 0.0;
  Trip trip_;
};

std::int64_t counts_at(double angle_rad) { return std::llround(angle_rad / kCount_rad); }

// ----- No count although the motor pushes -----

// The sum is u T² n (n + 1)/2 after n samples. The trip sample must be exact at every command.
TEST_F(Motion, StallTripsWhenThePushWouldHaveMovedTheJoint) {
  for (const double u : {0.5, 1.0, -1.0, 3.0, -10.0}) {
    SCOPED_TRACE(u);
    checks_ = MotionPlausibility(limits_);
    rest(u);
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

TEST_F(Motion, StallTakesACommandBelowItsThresholdForNoPush) {
  rest(0.4999);
  EXPECT_EQ(until_trip(100'000, [&](int) { return step(0, 0, 0.4999); }), -1);
}

// Two counts are motion. An encoder that alternates between neighbours, as with a broken channel,
// is not.
TEST_F(Motion, StallTellsMotionFromAnEncoderThatAlternates) {
  rest(1.0);
  EXPECT_EQ(until_trip(5000, [&](int k) { return step(2 * (k / 400), 3 * k, 1.0); }), -1);
  checks_ = MotionPlausibility(limits_);
  rest(1.0);
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
// that had 1 rad/s may rest for 1 s of their pushes. An arm that was slow stopped by friction.
TEST_F(Motion, StallFindsAnEncoderThatFreezesUnderAlternatingCommands) {
  const auto u_at = [](int k) { return k % 250 < 125 ? 0.8 : -0.8; };
  for (const double speed : {1.0, 0.05}) {
    SCOPED_TRACE(speed);
    checks_ = MotionPlausibility(limits_);
    rest(u_at(0));
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
    EXPECT_NEAR(at * kTick_s, 1.0, 0.05);
    EXPECT_EQ(trip_.cause, TripCause::kFrozenEncoder);
    EXPECT_EQ(trip_.joint, 0);
  }
}

// A joint coasts after a push: V = 10 V · 40 ms adds V²/(2 · 0.5 V) = 0.16 V s², above the limit of
// 0.09; 4 V · 40 ms adds 0.0256.
TEST_F(Motion, StallCountsOnAfterAPush) {
  for (const auto& [u, trips] : {std::pair(10.0, true), std::pair(4.0, false)}) {
    checks_ = MotionPlausibility(limits_);
    rest(u);
    const int at = until_trip(2000, [&](int k) { return step(0, 0, k < 40 ? u : 0.0); });
    EXPECT_EQ(at > 40, trips) << u << " V, sample " << at;
  }
}

// While the command changes, a passive joint may absorb the whole push for up to 0.75 s.
TEST_F(Motion, StallAllowsForOtherJointsWhileTheCommandChanges) {
  const auto sine = [](int k) { return 3.0 * std::sin(2.0 * kTick_s * k) + 0.5; };
  rest(0.5);
  const int with = until_trip(3000, [&](int k) { return step(0, 5 * k, sine(k)); });
  EXPECT_NEAR(with, 750, 20);
  checks_ = MotionPlausibility(limits_);
  rest(0.5);
  const int without = until_trip(3000, [&](int k) { return step(0, 0, sine(k)); });
  EXPECT_LT(without, 500);
  EXPECT_EQ(trip_.cause, TripCause::kStall);
}

// ----- An encoder that stops in the middle of a motion -----

// A joint can stop within its last counts from at most 3 sqrt(q a) + 1.5 a T = 1.96 rad/s.
TEST_F(Motion, SuddenStopTripsAboveWhatAJointCanDo) {
  for (const auto& [speed, trips] : {std::pair(1.7, false), std::pair(2.4, true)}) {
    for (const bool is_arm : {true, false}) {
      SCOPED_TRACE(::testing::Message() << speed << ' ' << is_arm);
      checks_ = MotionPlausibility(limits_);
      rest(0.0);
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

TEST_F(Motion, SuddenStopIsHonestAtAnEndStop) {
  limits_.motion[1].stop_rad_max = 10.0 * kTick_s * 300;
  checks_ = MotionPlausibility(limits_);
  rest(0.0);
  EXPECT_EQ(
      until_trip(900,
                 [&](int k) { return step(0, counts_at(10.0 * kTick_s * std::min(k, 300)), 0.1); }),
      -1);
}

// Under a steady command a passive joint moved faster than friction could stop it at once.
TEST_F(Motion, SilenceOfAPassiveJointTripsByItsSpeedBefore) {
  for (const auto& [speed, trips] : {std::pair(0.13, false), std::pair(0.2, true)}) {
    SCOPED_TRACE(speed);
    checks_ = MotionPlausibility(limits_);
    rest(1.0);
    const int at = until_trip(3000, [&](int k) {
      return step(k / 10, counts_at(speed * kTick_s * std::min(k, 1000)), 1.0);
    });
    EXPECT_EQ(at > 1000, trips);
    if (!trips) continue;
    EXPECT_EQ(trip_.cause, TripCause::kFrozenEncoder);
    EXPECT_EQ(trip_.joint, 1);
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
  checks_ = MotionPlausibility(limits_);
  rest(1.0);
  EXPECT_EQ(until_trip(5000, [&](int k) { return step(k, stops(k), 1.0); }), -1);
}

// A changing command may hold the joint for a while, so the limit is longer.
TEST_F(Motion, SilenceLastsLongerWhileTheCommandChanges) {
  rest(1.0);
  const int at = until_trip(3000, [&](int k) {
    return step(k, counts_at(0.5 * kTick_s * std::min(k, 1000)), 1.0 + 0.2 * (k / 20 % 2));
  });
  EXPECT_NEAR(at, 1750, 20);
  EXPECT_EQ(trip_.cause, TripCause::kFrozenEncoder);
}

// A step may hold a joint at its turning point by the new command. That must not trip.
TEST_F(Motion, SilenceIsHonestOfAJointThatAStepCatches) {
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
    checks_ = MotionPlausibility(limits_);
    rest(1.0);
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

// ----- The first motion -----

TEST_F(Motion, FirstMotionFollowsTheMotor) {
  for (const double gain : {1.0, -1.0}) {
    for (const double sign : {1.0, -1.0}) {      // sign of the encoder
      for (const double u : {2.0, -2.0, 0.3}) {  // also below the stall command
        for (const bool follows : {true, false}) {
          limits_.motion[0].gain_sign = gain;
          limits_.motion[0].rad_per_count = sign * kCount_rad;
          checks_ = MotionPlausibility(limits_);
          rest(u);
          const double direction = gain * sign * (u > 0 ? 1 : -1) * (follows ? 1 : -1);
          const int at = until_trip(
              60, [&](int k) { return step(std::llround(direction * k / 5), 3 * k, u); });
          EXPECT_EQ(at > 0, !follows) << gain << ' ' << sign << ' ' << u;
          if (follows) continue;
          EXPECT_EQ(trip_.cause, TripCause::kWrongDirection);
          EXPECT_EQ(at, 18);  // four counts, rounded
        }
      }
    }
  }
}

// Three counts in the wrong direction are vibration. After 50 ms other joints may push harder.
TEST_F(Motion, FirstMotionIsJudgedOnceAndByFourCounts) {
  rest(2.0);
  EXPECT_EQ(until_trip(300,
                       [&](int k) {
                         const int back = k < 10 ? 3 * k / 9 : 3;
                         return step(k < 20 ? -back : k < 90 ? k - 20 : 160 - k, 5 * k, 2.0);
                       }),
            -1);
}

// A slowly drifting arm is judged by the change of its motion.
TEST_F(Motion, FirstMotionIsJudgedOfAnArmThatDrifts) {
  for (const double drift : {0.2, -0.2}) {
    for (const bool follows : {true, false}) {
      checks_ = MotionPlausibility(limits_);
      const auto drifted = [&](int k) { return drift * kTick_s * k; };
      arm_speed_ = drift;
      for (int k = 0; k < 1000; ++k) step(counts_at(drifted(k)), 0, 0.0, MotionPhase::kWatched);
      step(counts_at(drifted(1000)), 0, 2.0);
      const int at = until_trip(600, [&](int k) {
        const double pushed = 0.5 * 3.6 * kTick_s * kTick_s * k * k * (follows ? 1 : -1);
        return step(counts_at(drifted(1000 + k) + pushed), 3 * k, 2.0);
      });
      EXPECT_EQ(at > 0, !follows) << drift;
      EXPECT_LT(at, 150);
      if (follows) continue;
      EXPECT_EQ(trip_.cause, TripCause::kWrongDirection);
    }
  }
}

// If the rig is already moving, the arm may move either way.
TEST_F(Motion, FirstMotionIsNotJudgedOfARigThatMoves) {
  for (int k = 0; k < 1000; ++k) step(0, k, 0.0, MotionPhase::kWatched);
  EXPECT_EQ(until_trip(100, [&](int k) { return step(-k, 1000 + k, 2.0); }), -1);
}

// ----- Counts that drift -----

TEST_F(Motion, CreepIsNotedAndTripsAfterTwoSeconds) {
  int noted = -1;
  const int at = until_trip(4000, [&](int k) {
    const Trip trip = step(0, k / 60, 0.0, MotionPhase::kWatched);
    if (noted < 0 && checks_.is_creeping()) noted = k;
    return trip;
  });
  EXPECT_EQ(trip_.cause, TripCause::kCreep);
  EXPECT_EQ(trip_.joint, 1);
  EXPECT_NEAR(trip_.value, kCount_rad / 0.06, 0.2 * kCount_rad / 0.06);
  EXPECT_LE(noted, 460);
  EXPECT_NEAR(at, 2050, 160);
}

// Neither a swing with a period of 2.5 s, whatever its amplitude, nor a joint that slows down, nor
// an occasional count is drift.
TEST_F(Motion, CreepIsNotASwing) {
  for (const double amplitude : {4.0, 20.0, 400.0}) {
    checks_ = MotionPlausibility(limits_);
    EXPECT_EQ(until_trip(10'000,
                         [&](int k) {
                           const double phase = 2.0 * std::numbers::pi / 2.5 * kTick_s * k;
                           return step(std::llround(amplitude * std::sin(phase)),
                                       std::llround(400.0 * (1.0 - std::exp(-kTick_s * k))), 0.0,
                                       MotionPhase::kWatched);
                         }),
              -1)
        << amplitude;
  }
  checks_ = MotionPlausibility(limits_);
  EXPECT_EQ(until_trip(10'000, [&](int k) { return step(k / 300, 0, 0.0, MotionPhase::kWatched); }),
            -1);
}

// ----- Swings that grow without drive -----

TEST_F(Motion, SwingsMayNotGrowFourTimesInARow) {
  // Extremes ±A gⁿ: the swings grow by g. The first is not compared with any.
  const auto swing = [](double growth, int k) {
    const int half = k / 300;
    const double from = 300.0 * std::pow(growth, half) * (half % 2 == 0 ? -1 : 1);
    const double to = 300.0 * std::pow(growth, half + 1) * (half % 2 == 0 ? 1 : -1);
    const double share = 0.5 - 0.5 * std::cos(std::numbers::pi * (k % 300) / 300.0);
    return std::llround(from + (to - from) * share);
  };
  for (const MotionPhase phase : {MotionPhase::kReleased, MotionPhase::kDriven}) {
    for (const auto& [growth, trips] :
         {std::pair(1.14, true), std::pair(1.09, false), std::pair(0.9, false)}) {
      SCOPED_TRACE(growth);
      checks_ = MotionPlausibility(limits_);
      const int at = until_trip(2400, [&](int k) { return step(0, swing(growth, k), 0.0, phase); });
      EXPECT_EQ(at > 0, trips);
      if (!trips) continue;
      EXPECT_EQ(trip_.cause, TripCause::kGrowingSwings);
      EXPECT_EQ(trip_.joint, 1);
    }
  }
  checks_ = MotionPlausibility(limits_);
  EXPECT_EQ(
      until_trip(2400, [&](int k) { return step(0, swing(1.2, k), 0.0, MotionPhase::kHandled); }),
      -1);
  checks_ = MotionPlausibility(limits_);
  EXPECT_EQ(until_trip(2400, [&](int k) { return step(3 * k, swing(1.2, k), 0.1); }), -1)
      << "driven";
}

// A joint that nothing drives becomes slower with every turn.
TEST_F(Motion, TurnsMayNotBecomeFasterFourTimesInARow) {
  for (const auto& [acceleration, trips] : {std::pair(3.0, true), std::pair(-0.3, false)}) {
    checks_ = MotionPlausibility(limits_);
    const int at = until_trip(8000, [&](int k) {
      const double t = kTick_s * k;
      return step(0, counts_at(6.0 * t + 0.5 * acceleration * t * t), 0.0, MotionPhase::kReleased);
    });
    EXPECT_EQ(at > 0, trips);
    if (trips) {
      EXPECT_EQ(trip_.cause, TripCause::kGrowingSwings);
    }
  }
}

// A pendulum that falls from upright becomes fast within one swing, and then swings less and less.
TEST_F(Motion, SwingsPassAPendulumThatFalls) {
  double angle = 3.1, speed = 0.0;
  EXPECT_EQ(until_trip(30'000,
                       [&](int) {
                         for (int n = 0; n < 10; ++n) {
                           speed += 1e-4 * (-51.0 * std::sin(angle) - 0.2 * speed);
                           angle += 1e-4 * speed;
                         }
                         return step(0, counts_at(angle), 0.0, MotionPhase::kReleased);
                       }),
            -1);
}

// ----- All checks -----

TEST_F(Motion, TripsOnWhatIsNotANumber) {
  for (const int field : {0, 1, 2, 3}) {
    SafetyLimits limits = limits_;
    if (field == 0) limits.motion[0].stall_command = kNaN;
    if (field == 1) limits.motion[0].stall_time_s = kNaN;
    if (field == 2) limits.motion[0].rad_per_count = kNaN;
    checks_ = MotionPlausibility(limits);
    for (int k = 0; k < 300; ++k) step(0, 0, 0.0, MotionPhase::kWatched);
    const int at = until_trip(
        50, [&](int k) { return field == 3 ? step(0, 0, kNaN) : step(10 * k, 10 * k, 2.0); });
    EXPECT_GT(at, 0) << field;
  }
  checks_ = MotionPlausibility(limits_);
  rest(1.0);
  now_.time_s = kNaN;
  EXPECT_NE(step(0, 0, 1.0).cause, TripCause::kNone);
}

// An operator's hands may cause any motion. Missing readings are neither motion nor rest.
TEST_F(Motion, PassesAnOperatorsHands) {
  EXPECT_EQ(until_trip(5000,
                       [&](int k) {
                         return step(k % 1000 < 500 ? 20 * (k % 500) : 0, k, 0.0,
                                     MotionPhase::kHandled);
                       }),
            -1);
}

TEST_F(Motion, JudgesAJointOnlyWhenItIsRead) {
  rest(1.0);
  valid_ = {false, false};
  EXPECT_EQ(until_trip(2000, [&](int) { return step(0, 0, 1.0); }), -1);
  valid_ = {true, true};
  EXPECT_NE(step(0, 0, 1.0).cause, TripCause::kNone);
}

TEST_F(Motion, DoesNotAllocate) {
  if (!test_support::AllocCounter::works()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  rest(1.0);
  const test_support::AllocCounter allocations;
  for (int k = 0; k < 2000; ++k) step(0, k / 3, 1.0);
  EXPECT_EQ(allocations.count(), 0);
}

// ----- Reports of the unit -----

}  // namespace
}  // namespace daq
