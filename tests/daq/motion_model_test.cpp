#include "tests/daq/motion_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

// The monitor of encoder motions against its model: random rigs and faults, missing readings,
// hands, and phases in any order. Catches a state that is not updated or reset, and a wrong
// threshold.

namespace daq {
namespace {

/// Makes the speeds those that the loop measures over its window of 16 samples.
void measure_speeds(RigRun& run) {
  for (std::size_t k = run.samples.size(); k-- > 1;) {
    const std::size_t window = std::min<std::size_t>(k, 16);
    for (std::size_t j = 0; j < kRunJoints; ++j) {
      JointState& now = run.samples[k].now.joint[j];
      now.speed_rad_per_s = (now.angle_rad - run.samples[k - window].now.joint[j].angle_rad) /
                            (kSampleTick_s * static_cast<double>(window));
    }
  }
}

/// Changes phases, hides readings and moves joints by hand. A hidden reading repeats the last one,
/// or has any counts if there is none.
void add_events(RigRun& run, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::uint64_t count) { return random() % count; };
  std::array<std::int64_t, kRunJoints> moved{};
  std::array<int, kRunJoints> hidden{}, speed{};
  std::array<std::int64_t, kRunJoints> last = {1000, -1000, 1000};
  for (int& count : hidden) count = one_of(4) == 0 ? static_cast<int>(one_of(60)) : 0;
  MotionPhase phase = MotionPhase::kWatched;
  int phase_left = 0;
  const bool own_phases = one_of(3) == 0, is_frozen = one_of(6) == 0;
  for (RunSample& sample : run.samples) {
    if (own_phases && phase_left-- == 0) {
      phase = static_cast<MotionPhase>(one_of(4));
      phase_left = static_cast<int>(one_of(3) == 0 ? 1 + one_of(100) : 100 + one_of(700));
    }
    if (own_phases) sample.phase = phase;
    for (std::size_t j = 0; j < kRunJoints; ++j) {
      if (one_of(400) == 0) hidden[j] = static_cast<int>(one_of(60));
      if (sample.phase == MotionPhase::kHandled && one_of(100) == 0) {
        speed[j] = static_cast<int>(one_of(9)) - 4;
      }
      if (sample.phase == MotionPhase::kHandled) moved[j] += speed[j];
      if (is_frozen && j == 0) sample.counts[j] = run.samples.front().counts[j];
      sample.counts[j] += moved[j];
      sample.now.joint[j].valid = hidden[j]-- <= 0;
      if (!sample.now.joint[j].valid) sample.counts[j] = last[j];
      last[j] = sample.counts[j];
      sample.now.joint[j].angle_rad =
          run.limits.motion[j].rad_per_count * static_cast<double>(last[j]);
    }
  }
  measure_speeds(run);
}

TEST(MotionModel, AgreesWithTheMonitorInRandomRuns) {
  std::map<TripCause, int> causes;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    RigRun run = make_run(seed);
    add_events(run, seed);
    const FirstTrip result = find_first_trip(run);
    const FirstTrip expected = MotionModel(run).find_first_trip();
    ++causes[expected.trip.cause];
    ASSERT_EQ(result.sample, expected.sample)
        << to_string(result.trip.cause) << ", model: " << to_string(expected.trip.cause);
    EXPECT_EQ(to_string(result.trip.cause), to_string(expected.trip.cause));
    EXPECT_EQ(result.creeping, expected.creeping);
    if (expected.trip.cause == TripCause::kNone) continue;
    EXPECT_EQ(result.trip.joint, expected.trip.joint);
    EXPECT_EQ(result.trip.time_s, expected.trip.time_s);
    EXPECT_NEAR(result.trip.value, expected.trip.value, 1e-9);
    EXPECT_NEAR(result.trip.limit, expected.trip.limit, 1e-9);
  }
  for (const TripCause cause :
       {TripCause::kNone, TripCause::kStall, TripCause::kFrozenEncoder, TripCause::kNoResponse,
        TripCause::kLateEncoder, TripCause::kWrongDirection, TripCause::kGrowingSwings,
        TripCause::kCreep}) {
    EXPECT_GE(causes[cause], 5) << to_string(cause);
  }
}

}  // namespace
}  // namespace daq
