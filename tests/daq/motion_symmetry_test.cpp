#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/daq/random_rig_run.hpp"

// What the monitor of encoder motions finds in a run must not depend on how the rig is described:
// on the order of joints and motors, the direction of encoders and motors, the zero of counts and
// time, or on which side a motion is. Random runs with random faults are changed in these ways.
// Catches an index, a sign or an absolute value that is right for the usual rig only.

namespace daq {
namespace {

using Change = std::function<void(RigRun&)>;

void mirror_joint(RigRun& run, std::size_t j) {
  JointDrive& drive = run.limits.motion[j];
  std::tie(drive.stop_rad_min, drive.stop_rad_max) =
      std::pair(-drive.stop_rad_max, -drive.stop_rad_min);
  drive.gain_sign = -drive.gain_sign;
  for (RunSample& sample : run.samples) {
    sample.counts[j] = -sample.counts[j];
    sample.now.joint[j].angle_rad *= -1.0;
    sample.now.joint[j].speed_rad_per_s *= -1.0;
  }
}

void mirror_motor(RigRun& run, std::size_t motor) {
  for (JointDrive& drive : run.limits.motion) {
    if (drive.motor == static_cast<int>(motor)) drive.gain_sign = -drive.gain_sign;
  }
  for (RunSample& sample : run.samples) sample.command[motor] *= -1.0;
}

void swap_joints(RigRun& run, std::size_t a, std::size_t b) {
  std::swap(run.limits.joint[a], run.limits.joint[b]);
  std::swap(run.limits.motion[a], run.limits.motion[b]);
  for (RunSample& sample : run.samples) {
    std::swap(sample.counts[a], sample.counts[b]);
    std::swap(sample.now.joint[a], sample.now.joint[b]);
  }
}

void swap_motors(RigRun& run) {
  for (JointDrive& drive : run.limits.motion) {
    if (drive.motor >= 0) drive.motor = 1 - drive.motor;
  }
  for (RunSample& sample : run.samples) std::swap(sample.command[0], sample.command[1]);
}

/// A joint in front of the others that never moves and that no motor affects.
void add_resting_joint(RigRun& run) {
  run.limits.joint.insert(run.limits.joint.begin(), JointLimits{.joint = "fixed"});
  run.limits.motion.insert(run.limits.motion.begin(),
                           JointDrive{.rad_per_count = 0.001, .is_unaffected = true});
  for (RunSample& sample : run.samples) {
    sample.counts.insert(sample.counts.begin(), 77);
    std::shift_right(sample.now.joint.begin(), sample.now.joint.end(), 1);
    sample.now.joint[0] = {0.077, 0.0, true};
  }
}

TEST(MotionSymmetry, FindingsDoNotDependOnTheDescriptionOfTheRig) {
  const std::map<std::string, Change> changes = {
      {"mirrored joint 0", [](RigRun& run) { mirror_joint(run, 0); }},
      {"mirrored joints",
       [](RigRun& run) {
         for (std::size_t j = 0; j < kRunJoints; ++j) mirror_joint(run, j);
       }},
      {"mirrored motor 0", [](RigRun& run) { mirror_motor(run, 0); }},
      {"mirrored motors",
       [](RigRun& run) {
         for (std::size_t m = 0; m < 2; ++m) mirror_motor(run, m);
       }},
      {"inverted encoders",
       [](RigRun& run) {
         for (JointDrive& drive : run.limits.motion) drive.rad_per_count *= -1.0;
         for (RunSample& sample : run.samples) {
           for (std::int64_t& counts : sample.counts) counts = -counts;
         }
       }},
      {"other zero of counts",
       [](RigRun& run) {
         for (RunSample& sample : run.samples) {
           for (std::size_t j = 0; j < kRunJoints; ++j) sample.counts[j] += j == 1 ? -7001 : 100003;
         }
       }},
      {"later start",
       [](RigRun& run) {
         for (RunSample& sample : run.samples) sample.now.time_s += 1024.0;
       }},
      {"swapped motors", swap_motors},
      {"last joint first", [](RigRun& run) { swap_joints(run, 0, 2); }},
      {"middle joint first", [](RigRun& run) { swap_joints(run, 0, 1); }},
      {"a resting joint before", add_resting_joint}};
  const std::map<std::string, std::array<std::size_t, kRunJoints>> order = {
      {"last joint first", {2, 1, 0}},
      {"middle joint first", {1, 0, 2}},
      {"a resting joint before", {1, 2, 3}}};
  std::map<TripCause, int> causes;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const RigRun run = make_run(seed);
    const FirstTrip expected = find_first_trip(run);
    ++causes[expected.trip.cause];
    for (const auto& [name, change] : changes) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name);
      RigRun changed = run;
      change(changed);
      const FirstTrip result = find_first_trip(changed);
      EXPECT_EQ(result.sample, expected.sample);
      EXPECT_EQ(result.creeping, expected.creeping);
      const auto moved = order.find(name);
      const auto& places =
          moved == order.end() ? std::array<std::size_t, kRunJoints>{0, 1, 2} : moved->second;
      // If two joints trip at once, the first one of the list is reported.
      const bool is_same = result.trip.joint == places[expected.trip.joint] ||
                           expected.trip.cause == TripCause::kNone;
      EXPECT_TRUE(is_same || moved != order.end());
      if (!is_same) continue;
      EXPECT_EQ(to_string(result.trip.cause), to_string(expected.trip.cause));
      EXPECT_DOUBLE_EQ(result.trip.value, expected.trip.value);
      EXPECT_DOUBLE_EQ(result.trip.limit, expected.trip.limit);
    }
  }
  // The runs trip each check, and some trip none.
  for (const TripCause cause :
       {TripCause::kNone, TripCause::kStall, TripCause::kFrozenEncoder, TripCause::kNoResponse,
        TripCause::kWrongDirection, TripCause::kGrowingSwings, TripCause::kCreep}) {
    EXPECT_GE(causes[cause], 3) << to_string(cause);
  }
}

/// Puts two seconds at rest before a run. With events there are phases of every kind with commands
/// that move nothing, then a creep of all joints, and half a second at rest. Commands change at the
/// ends of the monitor's time intervals only, which are therefore the same.
void add_earlier_phases(RigRun& run, std::uint64_t seed, bool has_events) {
  constexpr int kSamples = 2048, kInterval = 64, kCreep = 768, kRest = 1536;
  std::mt19937_64 random(seed);
  RunSample sample = run.samples.front();
  sample.phase = MotionPhase::kHandled;
  std::vector<RunSample> before;
  for (int k = 0; k < kSamples; ++k) {
    sample.now.time_s = run.samples.front().now.time_s - kSampleTick_s * (kSamples - k);
    if (has_events && k % (4 * kInterval) == 0) {
      sample.phase = k >= kRest    ? MotionPhase::kHandled
                     : k >= kCreep ? MotionPhase::kWatched
                                   : static_cast<MotionPhase>(random() % 4);
    }
    if (has_events && k % kInterval == 0) {
      const bool drives = sample.phase == MotionPhase::kDriven;
      const double largest = k / kInterval % 2 == 0 ? 0.3 : 0.6;  // short pushes are no stall
      for (double& u : sample.command) {
        u = drives ? largest * std::array{-1.0, -0.5, 0.0, 0.5, 1.0}[random() % 5] : 0.0;
      }
    }
    const int crept = has_events ? std::clamp((kRest - k) / 72, 0, (kRest - kCreep) / 72) : 0;
    sample.counts = run.samples.front().counts;
    for (std::int64_t& counts : sample.counts) counts -= crept;
    before.push_back(sample);
  }
  run.samples.insert(run.samples.begin(), before.begin(), before.end());
}

// Each phase is judged for itself. Neither commands nor a creep of an earlier phase change what is
// found if all joints rested in between. Catches state that a new phase does not reset.
TEST(MotionSymmetry, FindingsDoNotDependOnEarlierPhases) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    RigRun rested = make_run(seed), eventful = rested;
    add_earlier_phases(rested, seed, false);
    add_earlier_phases(eventful, seed, true);
    const FirstTrip expected = find_first_trip(rested), result = find_first_trip(eventful);
    EXPECT_EQ(result.sample, expected.sample);
    EXPECT_EQ(to_string(result.trip.cause), to_string(expected.trip.cause));
    EXPECT_EQ(result.creeping_at_end, expected.creeping_at_end);
    EXPECT_NEAR(result.trip.value, expected.trip.value, 1e-9);
  }
}

}  // namespace
}  // namespace daq
