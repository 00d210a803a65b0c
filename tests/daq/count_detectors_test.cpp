#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/daq/motion_fixture.hpp"

// Counts that no motion of a joint causes: single steps, reversals at once, exact repetitions. Each
// check on both sides of its threshold, against motions and encoders that are sound, and the
// repetition against a model that compares all samples.

namespace daq {
namespace {

// Largest acceleration without an impact, 200 rad/s².
constexpr double kAcceleration = 200.0 / kCount_rad;  // [counts/s²]

/// Samples until the step stands out; −1: it does not.
int find_step(const std::vector<std::int64_t>& counts, double tick_s = kTick_s) {
  CountStepDetector detector(kAcceleration);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    detector.add(counts[k], tick_s * static_cast<double>(k));
    if (detector.compare_step().is_exceeded()) return static_cast<int>(k);
  }
  return -1;
}

// ----- A single step -----

// Motion at a constant speed and one step of another size, in either direction.
TEST(CountStep, StandsOutByEightTimesItsNeighboursOrSixteenCounts) {
  for (const int speed : {0, 1, 3, 20}) {
    const int limit = std::max(16, 8 * speed);
    for (const int sign : {1, -1}) {
      for (const int beyond : {0, 1}) {
        SCOPED_TRACE(::testing::Message() << speed << ' ' << sign << ' ' << beyond);
        std::vector<std::int64_t> counts{0};
        for (int k = 1; k < 60; ++k) {
          counts.push_back(counts.back() + (k == 30 ? sign * (limit + beyond) : speed));
        }
        EXPECT_EQ(find_step(counts), beyond == 1 ? 38 : -1);  // eight samples later
      }
    }
  }
}

// With 50 ms between samples a joint may start and stop within one: a T² is 326 counts.
TEST(CountStep, AllowsTheTravelOfAnAccelerationBetweenSlowSamples) {
  for (const auto& [size, trips] : {std::pair(340, false), std::pair(345, true)}) {
    std::vector<std::int64_t> counts(30, 0);
    std::fill(counts.begin() + 15, counts.end(), size);
    EXPECT_EQ(find_step(counts, 0.05) > 0, trips) << size;
  }
}

// An encoder that is read in every eighth sample only, one that has lost its four lowest bits, and
// an impact that reverses the joint.
TEST(CountStep, PassesSoundMotions) {
  std::vector<std::int64_t> read_slowly, coarse, reflected;
  for (int k = 0; k < 400; ++k) {
    read_slowly.push_back(5 * (k / 8) * 8);
    coarse.push_back((2 * k) & ~15);
    reflected.push_back(k < 200 ? 30 * k : 6000 - 20 * (k - 200));
  }
  for (const auto& counts : {read_slowly, coarse, reflected}) EXPECT_EQ(find_step(counts), -1);
}

// Samples that are missing make the step longer, and the time too.
TEST(CountStep, ComparesSpeedsIfSamplesAreMissing) {
  for (const auto& [missing, jump, trips] :
       {std::tuple(20, 0, false), std::tuple(20, 560, false), std::tuple(20, 680, true)}) {
    CountStepDetector detector(kAcceleration);
    bool found = false;
    for (int k = 0; k < 100; ++k) {
      if (k > 40 && k <= 40 + missing) continue;
      detector.add(4 * k + (k > 40 ? jump : 0), kTick_s * k);
      found = found || detector.compare_step().is_exceeded();
    }
    EXPECT_EQ(found, trips) << jump;
  }
}

TEST_F(Motion, CountsThatStepTripInTheDriveAlone) {
  limits_.motion[1].is_unaffected = true;
  for (const auto& [phase, joint] :
       {std::pair(MotionPhase::kDriven, 0), std::pair(MotionPhase::kDriven, 1),
        std::pair(MotionPhase::kHandled, 0), std::pair(MotionPhase::kReleased, 0)}) {
    begin(1.0);
    const int at = until_trip(300, [&, phase = phase, joint = joint](int k) {
      const std::int64_t moved = k / 2 + (k > 100 ? -40 : 0);
      return joint == 0 ? step(moved, k / 2, 1.0, phase) : step(k / 2, moved, 1.0, phase);
    });
    EXPECT_EQ(at, phase == MotionPhase::kDriven ? 109 : -1);
    if (at < 0) continue;
    EXPECT_EQ(trip_.cause, TripCause::kCountStep);
    EXPECT_EQ(trip_.joint, joint);
    EXPECT_NEAR(trip_.value, 40 * kCount_rad, kCount_rad);
    EXPECT_NEAR(trip_.limit, 16 * kCount_rad, kCount_rad);
  }
}

// ----- A speed that reverses at once -----

// Four samples on either side: the limit is 1.5 times 200 rad/s² · 4 ms + 2 counts / 4 ms.
constexpr double kReversal = 1.5 * (200.0 * 0.004 + 2.0 * kCount_rad / 0.004);  // [rad/s]

// The speed in the shorter of two windows is the less certain one. Samples are missing in the
// window before the turn.
TEST(CountReversal, IsLimitedByTheCertaintyOfTheShorterWindow) {
  constexpr int kGap = 20, kTurn = 300;
  CountStepDetector detector(kAcceleration);
  for (int k = 0; k < kTurn; ++k) detector.add(5 * k, kTick_s * k);
  for (int k = 0; k < 5; ++k) detector.add(5 * kTurn - 5 * k, kTick_s * (kTurn + kGap + k));
  const double after_s = 4 * kTick_s, before_s = (4 + kGap) * kTick_s;
  const CountStepDetector::Comparison turn = detector.compare_reversal(1.0, 1.0);
  EXPECT_NEAR(turn.limit, 1.5 * (kAcceleration * 0.5 * (after_s + before_s) + 2.0 / after_s), 1e-6);
  EXPECT_NEAR(turn.value, 5.0 / kTick_s + 20.0 / before_s, 1e-6);
}

TEST_F(Motion, ASpeedThatReversesAgainstTheMotorTrips) {
  limits_.motion[1].is_unaffected = true;
  for (const double gain : {1.0, -1.0}) {
    for (const double sign : {1.0, -1.0}) {  // of the encoder
      for (const double side : {1.0, -1.0}) {
        for (const auto& [share, trips] : {std::pair(0.7, false), std::pair(1.35, true)}) {
          SCOPED_TRACE(::testing::Message() << gain << sign << side << share);
          limits_.motion[0].gain_sign = gain;
          limits_.motion[0].rad_per_count = sign * kCount_rad;
          begin(side);
          const double speed = 0.5 * share * kReversal;
          const int at = until_trip(320, [&](int k) {
            const double angle = speed * kTick_s *
                                 (k < 100    ? k * k / 200.0
                                  : k <= 300 ? k - 50
                                             : 550 - k);
            return step(std::llround(gain * sign * side * angle / kCount_rad), 3 * k, side);
          });
          EXPECT_EQ(at > 300, trips);
          if (!trips) continue;
          EXPECT_LE(at, 308);
          EXPECT_EQ(trip_.cause, TripCause::kReversal);
          EXPECT_EQ(trip_.joint, 0);
          EXPECT_NEAR(trip_.limit, kReversal, 1e-6);
          EXPECT_GT(trip_.value, trip_.limit);
        }
      }
    }
  }
}

// A reversal with the motor, below the stall command, of a passive joint, at an end stop, soon
// after the command turned, and a joint that only stops.
TEST_F(Motion, PassesReversalsThatAMotorOrAStopCauses) {
  struct Case {
    const char* name;
    double u_V = 2.0;  // until the reversal, and from then on
    double later_V = 2.0;
    double speed = 3.0, later = -3.0;  // [rad/s]
    int turned_at = -1000;             // the command has its sign since
    double stop_rad = 100.0;
    bool is_passive = false;
    double start = 0.0;  // a sudden change of speed before [rad/s]
    bool trips = false;
  };
  const Case cases[] = {{.name = "against the motor", .trips = true},
                        {.name = "with the motor", .speed = -3.0, .later = 3.0},
                        {.name = "below the stall command", .u_V = 0.4, .later_V = 0.4},
                        {.name = "passive joint", .is_passive = true},
                        {.name = "end stop", .stop_rad = 0.8},
                        {.name = "far from its end stop", .stop_rad = 1.0, .trips = true},
                        {.name = "changed by half as much before", .start = 3.4},
                        {.name = "changed less before", .start = 2.2, .trips = true},
                        {.name = "turned four samples ago", .turned_at = 300},
                        {.name = "turned eleven samples ago", .turned_at = 290, .trips = true},
                        {.name = "slows down", .later = 0.01},
                        {.name = "brakes", .later_V = -2.0}};
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    limits_ = arm_and_pendulum();
    limits_.motion[1].is_unaffected = true;
    limits_.motion[0].stop_rad_max = test.stop_rad;
    if (test.is_passive) std::swap(limits_.motion[0].motor, limits_.motion[1].motor);
    if (test.is_passive) limits_.motion[1].stall_command = 0.5;
    if (test.is_passive) limits_.motion[1].stall_time_s = 0.6;
    checks_ = EncoderMotionMonitor(limits_);
    for (int k = 0; k < 300; ++k) step(0, k, 0.0, MotionPhase::kHandled);
    const auto moved = [&](int k) {
      const double rise = std::min(k, 100) * (1.0 - std::min(k, 100) / 200.0);
      const double at_speed = std::min(k, 300) - rise;
      return counts_at(kTick_s * (test.start * rise + test.speed * at_speed +
                                  test.later * std::max(k - 300, 0)));
    };
    const int at = until_trip(312, [&](int k) {
      const double turned = k < test.turned_at ? -1.0 : 1.0;
      return step(moved(k), 300 + 2 * k, turned * (k < 300 ? test.u_V : test.later_V));
    });
    EXPECT_EQ(at > 300 && trip_.cause == TripCause::kReversal, test.trips) << at;
    if (!test.trips) {
      EXPECT_EQ(at, -1) << to_string(trip_.cause);
    }
  }
}

// ----- Exact repetitions -----

/// A random walk of counts, which never repeats by itself.
std::vector<std::int64_t> make_walk(std::uint64_t seed, std::size_t size) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> walk{0};
  while (walk.size() < size) walk.push_back(walk.back() + static_cast<int>(random() % 5) - 2);
  return walk;
}

/// By how much the path of the last samples that repeat, `lag` samples later, earlier ones is
/// longer than its extent.
std::int64_t reversed_path(const std::vector<std::int64_t>& counts, std::size_t lag) {
  std::int64_t path = 0, lowest = counts.back(), highest = counts.back();
  for (std::size_t k = counts.size(); k-- > lag + 1 && counts[k] == counts[k - lag];) {
    if (counts[k - 1] != counts[k - 1 - lag]) break;
    path += std::abs(counts[k] - counts[k - 1]);
    lowest = std::min(lowest, counts[k - 1]);
    highest = std::max(highest, counts[k - 1]);
  }
  return path - (highest - lowest);
}

// A loop of any length, from any sample on; the commands differ. The detector must find it as
// soon as the repeated path is longer than its extent by more than 32 counts, and its extent is
// eight.
TEST(CountRepetition, FindsALoopOnceItsPathIsLongerThanItsExtent) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::size_t length = 200 + random() % 1500, from = length + 50 + random() % 500;
    std::vector<std::int64_t> counts = make_walk(seed, from);
    for (std::int64_t& each : counts) each *= 4;
    CountRepetitionDetector detector(0.5);
    std::int64_t found = 0;
    double u_V = 0.0;
    std::size_t k = 0;
    for (; k < from + 3000 && found == 0; ++k) {
      if (k >= from) counts.push_back(counts[k - length]);
      u_V = k < from ? 0.0 : 50.0;
      found = detector.add(counts[k], u_V, kTick_s * static_cast<double>(k), 0.0, true);
      if (k < from) {
        ASSERT_EQ(found, 0) << k;
      }
    }
    ASSERT_GT(found, CountRepetitionDetector::kReversedMax);
    counts.resize(k);
    EXPECT_LE(std::abs(reversed_path(counts, length) - found), 8);
    // One sample adds eight counts, and the first window is compared as a whole.
    if (k > from + 33) {
      EXPECT_LE(found, CountRepetitionDetector::kReversedMax + 8);
    }
  }
}

struct RepetitionCase {
  const char* name;
  int repeated = 400;  // samples
  int lag = 500;
  double later_V = 1.5;   // command while they repeat; 1 V before
  double steady_s = 0.0;  // since the last change of a command
  bool is_open_loop = true;
  int amplitude = 60;  // of a motion to and fro by one count a sample
  int flaw_at = -1;    // a single count differs
  bool is_found = true;
};

class ARepetition : public ::testing::TestWithParam<RepetitionCase> {};

TEST_P(ARepetition, IsFoundIfNoMotionExplainsIt) {
  const RepetitionCase& test = GetParam();
  CountRepetitionDetector detector(0.5);
  const std::vector<std::int64_t> walk = make_walk(7, static_cast<std::size_t>(test.lag));
  std::vector<std::int64_t> counts;
  std::int64_t found = 0;
  for (int k = 0; k < test.lag + test.repeated; ++k) {
    const bool repeats = k >= test.lag;
    const int swing = std::abs((k + test.amplitude) % (2 * test.amplitude) - test.amplitude);
    counts.push_back(repeats ? counts[static_cast<std::size_t>(k - test.lag)]
                     : k < (test.amplitude < 10 ? 250 : 120)
                         ? swing
                         : 1000 + walk[static_cast<std::size_t>(k)]);
    if (repeats && k - test.lag == test.flaw_at) ++counts.back();
    const double u_V = repeats ? test.later_V : 1.0;
    found = std::max(found, detector.add(counts.back(), u_V, kTick_s * k, test.steady_s,
                                         test.is_open_loop || !repeats));
  }
  EXPECT_EQ(found > 0, test.is_found) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Of, ARepetition,
    ::testing::Values(
        RepetitionCase{.name = "OtherCommands"},
        RepetitionCase{
            .name = "ThirtyTwoCountsBack", .repeated = 93, .later_V = 9.0, .is_found = false},
        RepetitionCase{.name = "OneCountMore", .repeated = 94, .later_V = 9.0},
        RepetitionCase{.name = "TheSameCommandsThatChange", .later_V = 1.0, .is_found = false},
        RepetitionCase{
            .name = "TheSameCommandsUnderFeedback", .later_V = 1.0, .is_open_loop = false},
        RepetitionCase{.name = "ConstantCommands", .later_V = 1.0, .steady_s = 100.0},
        RepetitionCase{.name = "CommandsThatChangedAfterTheOriginal",
                       .later_V = 1.0,
                       .steady_s = 0.4,
                       .is_found = false},
        RepetitionCase{.name = "OtherCommandsForATenthOfAStallSecond",
                       .repeated = 202,
                       .later_V = 1.24,
                       .is_found = false},
        RepetitionCase{.name = "StrongerCommands", .repeated = 202, .later_V = 1.26},
        RepetitionCase{.name = "SevenCounts",
                       .repeated = 250,
                       .later_V = 9.0,
                       .amplitude = 7,
                       .is_found = false},
        RepetitionCase{.name = "EightCounts", .repeated = 250, .later_V = 9.0, .amplitude = 8},
        RepetitionCase{
            .name = "AFlaw", .repeated = 120, .later_V = 9.0, .flaw_at = 92, .is_found = false},
        RepetitionCase{.name = "ALongLoop", .lag = 8100},
        RepetitionCase{.name = "ALongerLoop", .lag = 8200, .is_found = false},
        RepetitionCase{.name = "AShortLoop", .lag = 150, .steady_s = 100.0}),
    [](const auto& test) { return test.param.name; });

// A command steps during the first period. From then on the counts repeat under a constant one.
TEST(CountRepetition, IsFoundOnceTheOriginalIsAfterTheLastChangeOfTheCommand) {
  CountRepetitionDetector detector(0.5);
  int found_at = -1;
  for (int k = 0; k < 2000 && found_at < 0; ++k) {
    const double time_s = kTick_s * k, steady_s = std::max(time_s - 0.25, 0.0);
    const int counts = std::abs(k % 400 - 200);
    if (detector.add(counts, k < 250 ? 0.9 : 1.0, time_s, steady_s, true) > 0) found_at = k;
  }
  // The second period repeats what was counted from sample 250 on: down, then 33 counts up.
  EXPECT_NEAR(found_at, 400 + 400 + 33, 2);
}

// Constant commands below the stall command: friction may hold a joint, and a swing may repeat.
TEST(CountRepetition, IsNotOfAJointThatIsHardlyDriven) {
  for (const auto& [u_V, is_found] :
       {std::pair(0.49, false), std::pair(-0.51, true), std::pair(kNaN, true)}) {
    CountRepetitionDetector detector(0.5);
    std::int64_t found = 0;
    for (int k = 0; k < 2000; ++k) {
      found = std::max(found, detector.add(k % 300, u_V, kTick_s * k, 100.0, true));
    }
    EXPECT_EQ(found > 0, is_found) << u_V;
  }
}

// The monitor reads the command in effect, and trips in the drive alone.
TEST_F(Motion, CountsThatRepeatTripInTheDriveAlone) {
  limits_.motion[1].is_unaffected = true;
  const std::vector<std::int64_t> walk = make_walk(3, 400);
  for (const bool driven : {true, false}) {
    for (const bool repeats : {true, false}) {
      limits_.motion[0].motor = driven ? 0 : -1;
      checks_ = EncoderMotionMonitor(limits_);
      std::int64_t pendulum = 0;  // moves, so that the direction of the arm is not judged
      for (int k = 0; k < 300; ++k) step(0, pendulum += 3, 0.0, MotionPhase::kHandled);
      const int at = until_trip(1600, [&](int k) {
        const std::size_t loop = static_cast<std::size_t>(k) % walk.size();
        const std::int64_t arm = repeats ? walk[loop] : walk[loop] + k / 20;
        return step(arm, pendulum += 3, k % 250 < 125 ? 1.0 : -1.0);
      });
      EXPECT_EQ(at > 400, driven && repeats);
      if (at < 0) continue;
      EXPECT_EQ(trip_.cause, TripCause::kRepeatedCounts);
      EXPECT_EQ(trip_.joint, 0);
      EXPECT_GT(trip_.value, 32.0);
      EXPECT_EQ(trip_.limit, 32.0);
    }
  }
}

}  // namespace
}  // namespace daq
