#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "tests/daq/motion_fixture.hpp"
#include "tests/support/alloc_counter.hpp"

// The checks of first motions, creep and swings, and what holds for all.

namespace daq {
namespace {

// ----- The first motion -----

TEST_F(Motion, FirstMotionFollowsTheMotor) {
  for (const double gain : {1.0, -1.0}) {
    for (const double sign : {1.0, -1.0}) {      // sign of the encoder
      for (const double u : {2.0, -2.0, 0.3}) {  // also below the stall command
        for (const bool follows : {true, false}) {
          limits_.motion[0].gain_sign = gain;
          limits_.motion[0].rad_per_count = sign * kCount_rad;
          begin(u);
          const double direction = gain * sign * (u > 0 ? 1 : -1) * (follows ? 1 : -1);
          const int at =
              until_trip(60, [&](int k) { return step(std::llround(direction * k / 5), k, u); });
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
                         return step(k < 20 ? -back : k < 90 ? k - 20 : 160 - k, 2 * k, 2.0);
                       }),
            -1);
}

// A push that ends does not end the check; a command against the first one does.
TEST_F(Motion, FirstMotionIsJudgedUntilTheCommandTurns) {
  for (const auto& [later, trips] : {std::pair(0.0, true), std::pair(-2.0, false)}) {
    begin(2.0);
    const int at = until_trip(45, [&, u = later](int k) {
      return step(k < 10 ? 0 : -2 - (k - 10) / 5, 0, k < 12 ? 2.0 : u);
    });
    EXPECT_EQ(at > 0, trips) << later;
  }
}

// A slowly drifting arm is judged by the change of its motion.
TEST_F(Motion, FirstMotionIsJudgedOfAnArmThatDrifts) {
  for (const double drift : {0.2, -0.2, 0.4, -0.4}) {  // above 0.3 rad/s it is not judged
    for (const bool follows : {true, false}) {
      checks_ = EncoderMotionMonitor(limits_);
      const auto drifted = [&](int k) { return drift * kTick_s * k; };
      arm_speed_ = drift;
      for (int k = 0; k < 1000; ++k) step(counts_at(drifted(k)), 0, 0.0, MotionPhase::kWatched);
      step(counts_at(drifted(1000)), 0, 2.0);
      const int at = until_trip(600, [&](int k) {
        const double pushed = 0.5 * 3.6 * kTick_s * kTick_s * k * k * (follows ? 1 : -1);
        return step(counts_at(drifted(1000 + k) + pushed), k / 2, 2.0);
      });
      EXPECT_EQ(at > 0, !follows && std::abs(drift) < 0.3) << drift;
      EXPECT_LT(at, 150);
      if (at < 0) continue;
      EXPECT_EQ(trip_.cause, TripCause::kWrongDirection);
    }
  }
}

// If the rig is already moving, by more than 0.1 rad/s or 10 mm/s, the arm may move either way.
TEST_F(Motion, FirstMotionIsNotJudgedOfARigThatMoves) {
  for (const int kinds : {0, 1, 2, 3}) {
    for (std::size_t j = 0; j < 2; ++j) {
      const bool slides = (kinds >> j & 1) != 0;
      limits_.joint[j].slides = slides;
      limits_.motion[j].rad_per_count = (slides ? 0.1 : 1.0) * kCount_rad;
    }
    for (const auto& [ticks_per_count, trips] : {std::pair(25, true), std::pair(8, false)}) {
      SCOPED_TRACE(::testing::Message() << kinds << ' ' << ticks_per_count);
      checks_ = EncoderMotionMonitor(limits_);
      const auto other = [ticks = ticks_per_count](int k) { return k / ticks; };
      for (int k = 0; k < 1000; ++k) step(0, other(k), 0.0, MotionPhase::kWatched);
      EXPECT_EQ(until_trip(100, [&](int k) { return step(-k, other(1000 + k), 2.0); }) > 0, trips);
      if (trips) EXPECT_EQ(trip_.cause, TripCause::kWrongDirection);
    }
  }
}

// Commands of an earlier drive do not make those of this one ambiguous.
TEST_F(Motion, FirstMotionIsJudgedByTheCommandsOfItsPhase) {
  for (const double earlier : {0.0, 0.3, -0.3}) {
    begin(0.3);
    for (int k = 0; k < 100; ++k) step(0, 0, k < 50 ? 0.3 : earlier);
    for (int k = 0; k < 300; ++k) step(0, 0, 0.0, MotionPhase::kHandled);
    EXPECT_GT(until_trip(100, [&](int k) { return step(-k / 5, 0, 0.3); }), 0) << earlier;
    EXPECT_EQ(trip_.cause, TripCause::kWrongDirection);
  }
}

// Another motor that drives also pushes the arm: from the start, or while the arm starts.
TEST_F(Motion, FirstMotionIsNotJudgedWhileAnotherMotorDrives) {
  limits_.motion[1] = limits_.motion[0];
  limits_.motion[1].motor = 1;
  for (const auto& [drives_from, moves_at, trips] :
       {std::tuple(100, 1, true), std::tuple(0, 2, false), std::tuple(10, 12, false)}) {
    SCOPED_TRACE(drives_from);
    checks_ = EncoderMotionMonitor(limits_);
    second_u_ = 0.0;
    rest(2.0);
    const int at = until_trip(60, [&, from = drives_from, moves = moves_at](int k) {
      second_u_ = k >= from ? 2.0 : 0.0;
      return step(k >= moves ? -6 : k >= 8 ? -2 : 0, 0, 2.0);
    });
    EXPECT_EQ(at > 0, trips);
  }
}

// ----- Counts that drift -----

TEST_F(Motion, CreepIsNotedAndTripsAfterTwoSeconds) {
  int noted = -1;
  const int at = until_trip(4000, [&](int k) {
    const Trip trip = step(0, k / 60, 0.0, MotionPhase::kWatched);
    if (noted < 0 && checks_.may_creep()) noted = k;
    return trip;
  });
  EXPECT_EQ(trip_.cause, TripCause::kCreep);
  EXPECT_EQ(trip_.joint, 1);
  EXPECT_NEAR(trip_.value, kCount_rad / 0.06, 0.2 * kCount_rad / 0.06);
  EXPECT_LE(noted, 460);
  EXPECT_NEAR(at, 2050, 160);
}

// A joint that begins to move is watched for four spans, so that a drift is noted before the run.
TEST_F(Motion, DriftThatBeginsLateIsNotedBeforeTheRun) {
  for (const bool drifts : {true, false}) {
    checks_ = EncoderMotionMonitor(limits_);
    for (int k = 0; k < 1500; ++k) {
      const int since = std::max(k - 400, 0);
      step(0, drifts ? since / 2 : std::min(since, 20), 0.0, MotionPhase::kWatched);
      if (k % 50 != 25) continue;
      const bool expected = k >= 450 && (drifts || k < 900);
      EXPECT_EQ(checks_.may_creep(), expected) << "ms " << k << ", drifts " << drifts;
    }
  }
}

// Neither a swing with a period of 2.5 s, whatever its amplitude, nor a joint that slows down, nor
// an occasional count is drift.
TEST_F(Motion, CreepIsNotASwing) {
  for (const double amplitude : {4.0, 20.0, 400.0}) {
    checks_ = EncoderMotionMonitor(limits_);
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
  checks_ = EncoderMotionMonitor(limits_);
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
      checks_ = EncoderMotionMonitor(limits_);
      const int at = until_trip(2400, [&](int k) { return step(0, swing(growth, k), 0.0, phase); });
      EXPECT_EQ(at > 0, trips);
      if (!trips) continue;
      EXPECT_EQ(trip_.cause, TripCause::kGrowingSwings);
      EXPECT_EQ(trip_.joint, 1);
      EXPECT_NEAR(at, 1820, 30) << "extremes are 300 apart, the sixth ends the fourth growth";
    }
  }
  checks_ = EncoderMotionMonitor(limits_);
  EXPECT_EQ(
      until_trip(2400, [&](int k) { return step(0, swing(1.2, k), 0.0, MotionPhase::kHandled); }),
      -1);
  for (const double u : {0.1, 0.0}) {  // driven by the first or the second motor
    checks_ = EncoderMotionMonitor(limits_);
    second_u_ = 0.1 - u;
    EXPECT_EQ(until_trip(2400, [&](int k) { return step(3 * k, swing(1.2, k), u); }), -1) << u;
  }
}

// Returns whether swings of these sizes [counts], between turning points, grow four times in a row.
bool grow(const std::vector<int>& sizes) {
  SwingGrowthDetector swings;
  std::int64_t counts = 0;
  double time_s = 0.0;
  int direction = 1;
  for (const int size : sizes) {
    for (int k = 0; k < size; ++k) {
      if (swings.add(counts += direction, time_s += kTick_s, 0.0) > 0.0) return true;
    }
    direction = -direction;
  }
  return false;
}

// The first number is the motion to the first turning point, the last one turns from the last.
TEST(SwingGrowthDetector, IsOfFourSwingsInARow) {
  EXPECT_TRUE(grow({50, 100, 130, 160, 190, 220, 50}));
  EXPECT_FALSE(grow({50, 100, 130, 160, 190, 190, 50})) << "three grow";
  EXPECT_FALSE(grow({50, 100, 130, 160, 190, 190, 220, 255, 290, 50})) << "three, then three";
  EXPECT_TRUE(grow({50, 100, 130, 160, 190, 190, 220, 255, 290, 330, 50})) << "three, then four";
}

// Coupled joints exchange energy, so that small swings grow again up to the largest.
TEST(SwingGrowthDetector, ComparesWithTheLargestSwing) {
  EXPECT_FALSE(grow({50, 600, 100, 130, 160, 190, 220, 250, 50}));
  EXPECT_FALSE(grow({50, 600, 668, 742, 824, 914, 50})) << "by a tenth and eight counts";
  EXPECT_TRUE(grow({50, 600, 669, 744, 827, 918, 50})) << "by a count more";
}

// A joint that nothing drives becomes slower with every turn.
TEST_F(Motion, TurnsMayNotBecomeFasterFourTimesInARow) {
  for (const auto& [acceleration, trips] : {std::pair(3.0, true), std::pair(-0.3, false)}) {
    for (const double side : {1.0, -1.0}) {
      checks_ = EncoderMotionMonitor(limits_);
      const int at = until_trip(8000, [&, a = acceleration](int k) {
        const double t = kTick_s * k;
        return step(0, counts_at(side * (6.0 * t + 0.5 * a * t * t)), 0.0, MotionPhase::kReleased);
      });
      EXPECT_EQ(at > 0, trips);
      if (trips) {
        EXPECT_EQ(trip_.cause, TripCause::kGrowingSwings);
      }
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

// Both joints fail in the same sample, and all samples after it fail too.
TEST_F(Motion, KeepsTheFirstTrip) {
  const auto stops = [](int k) { return counts_at(3.0 * kTick_s * std::min(k, 300)); };
  rest(0.0);
  ASSERT_GT(until_trip(600, [&](int k) { return step(stops(k), stops(k), 0.1); }), 300);
  const Trip first = trip_;
  EXPECT_EQ(first.joint, 0);
  EXPECT_EQ(first.time_s, now_.time_s);
  for (int k = 0; k < 100; ++k) trip_ = step(stops(300), stops(300), 0.1);
  EXPECT_EQ(trip_.joint, 0);
  EXPECT_EQ(trip_.time_s, first.time_s);
  EXPECT_EQ(trip_.value, first.value);
}

TEST_F(Motion, TripsOnNaN) {
  for (const int field : {0, 1, 2, 3}) {
    SafetyLimits limits = limits_;
    if (field == 0) limits.motion[0].stall_command = kNaN;
    if (field == 1) limits.motion[0].stall_time_s = kNaN;
    if (field == 2) limits.motion[0].rad_per_count = kNaN;
    checks_ = EncoderMotionMonitor(limits);
    for (int k = 0; k < 300; ++k) step(0, 0, 0.0, MotionPhase::kWatched);
    const int at = until_trip(
        50, [&](int k) { return field == 3 ? step(0, 0, kNaN) : step(10 * k, 10 * k, 2.0); });
    EXPECT_GT(at, 0) << field;
  }
  begin(1.0);
  now_.time_s = kNaN;
  EXPECT_NE(step(0, 0, 1.0).cause, TripCause::kNone);
}

// A count of unknown size gives no speed: neither that of the first motion, which may go either
// way, nor the travel since the last one, although the joint never stops.
TEST_F(Motion, TripsOnASpeedThatIsNoNumber) {
  limits_.motion[0].rad_per_count = kNaN;
  limits_.motion[1].is_unaffected = true;
  for (const bool others_move : {false, true}) {
    checks_ = EncoderMotionMonitor(limits_);
    const auto pendulum = [&](int k) { return others_move ? k : 0; };
    for (int k = -1000; k < 0; ++k) step(0, pendulum(k), 0.0, MotionPhase::kWatched);
    const int at = until_trip(150, [&](int k) { return step(k / 40, pendulum(k), 0.6); });
    EXPECT_EQ(trip_.cause, others_move ? TripCause::kFrozenEncoder : TripCause::kWrongDirection);
    EXPECT_NEAR(at, others_move ? 126 : 80, 2);  // the second interval of 62.5 ms has two counts
  }
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

}  // namespace
}  // namespace daq
