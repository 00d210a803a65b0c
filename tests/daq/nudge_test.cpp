#include "daq/scenario/feedback.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "daq/scenario/catalog.hpp"

namespace daq {
namespace {

TestPushSettings settings() {
  return {.joint = 1,
          .joint_count = 2,
          .level = 2.0,
          .push_s_max = 0.5,
          .motion_rad = 0.1,
          .other_motion_rad = 0.3,
          .rest_s = 0.1};
}

class Nudged {
 public:
  explicit Nudged(const TestPushSettings& nudge = settings()) : nudge_(nudge) {}

  double at(double time_s, double angle_rad, double other_rad = 5.0) {
    Observation now;
    now.time_s = time_s;
    now.joint[0].angle_rad = other_rad;
    now.joint[1].angle_rad = angle_rad;
    return nudge_.compute_command(now);
  }
  ScenarioPhase phase() const { return nudge_.phase(); }

 private:
  TestPush nudge_;
};

// The push ends when motion is detected in either direction, and is opposed until the joint stops.
TEST(TestPush, PushesBrakesAndRests) {
  for (const double way : {1.0, -1.0}) {
    Nudged nudge;
    EXPECT_EQ(nudge.at(1.0, 7.0), 2.0);
    EXPECT_EQ(nudge.at(1.2, 7.0 + way * 0.099), 2.0);
    EXPECT_EQ(nudge.at(1.21, 7.0 + way * 0.101), -2.0);
    EXPECT_EQ(nudge.at(1.24, 7.0 + way * 0.12), -2.0);
    EXPECT_EQ(nudge.at(1.27, 7.0 + way * 0.12), -2.0);
    EXPECT_EQ(nudge.phase(), ScenarioPhase::kRunning);
    EXPECT_EQ(nudge.at(1.29, 7.0 + way * 0.12), 0.0);  // 50 ms without progress
    EXPECT_EQ(nudge.at(1.38, 7.0), 0.0);
    EXPECT_EQ(nudge.phase(), ScenarioPhase::kRunning);
    EXPECT_EQ(nudge.at(1.40, 7.0), 0.0);
    EXPECT_EQ(nudge.phase(), ScenarioPhase::kFinished);
    EXPECT_EQ(nudge.at(1.5, 0.0), 0.0);
  }
}

// A joint that does not stop is braked no longer than it was pushed.
TEST(TestPush, BrakesNoLongerThanItPushed) {
  Nudged nudge;
  nudge.at(0.0, 0.0);
  EXPECT_EQ(nudge.at(0.1, 0.2), -2.0);
  EXPECT_EQ(nudge.at(0.15, 0.3), -2.0);
  EXPECT_EQ(nudge.at(0.19, 0.4), -2.0);
  EXPECT_EQ(nudge.at(0.21, 0.5), 0.0);
  EXPECT_EQ(nudge.at(0.305, 0.6), 0.0);
  EXPECT_EQ(nudge.phase(), ScenarioPhase::kRunning) << "rests after the brake";
  EXPECT_EQ(nudge.at(0.315, 0.6), 0.0);
  EXPECT_EQ(nudge.phase(), ScenarioPhase::kFinished);
}

// The motion of an earlier push, which went farther, does not end a later one's braking.
TEST(TestPush, BrakesEachPushByItsOwnMotion) {
  TestPushSettings two = settings();
  two.count = 2;
  Nudged nudge(two);
  EXPECT_EQ(nudge.at(0.0, 1.0), 2.0);
  EXPECT_EQ(nudge.at(0.1, 1.5), -2.0);
  EXPECT_EQ(nudge.at(0.12, 1.6), -2.0);
  EXPECT_EQ(nudge.at(0.17, 1.6), 0.0);
  EXPECT_EQ(nudge.at(0.28, 1.6), 0.0);
  EXPECT_EQ(nudge.at(0.29, 1.6), -2.0);
  EXPECT_EQ(nudge.at(0.39, 1.49), 2.0);
  EXPECT_EQ(nudge.at(0.42, 1.47), 2.0);
  EXPECT_EQ(nudge.at(0.44, 1.45), 2.0) << "still moves";
}

TEST(TestPush, EndsWhereNothingMoves) {
  Nudged nudge;
  EXPECT_EQ(nudge.at(0.0, 1.0), 2.0);
  EXPECT_EQ(nudge.at(0.499, 1.0), 2.0);
  EXPECT_EQ(nudge.at(0.501, 1.0), 0.0);
  EXPECT_EQ(nudge.at(0.601, 1.0), 0.0);
  EXPECT_EQ(nudge.at(0.602, 1.0), 0.0);
  EXPECT_EQ(nudge.phase(), ScenarioPhase::kFinished);
}

TEST(TestPush, EndsWhenAnotherJointMovesFar) {
  Nudged nudge;
  nudge.at(0.0, 0.0);
  EXPECT_EQ(nudge.at(0.1, 0.0, 5.29), 2.0);
  EXPECT_EQ(nudge.at(0.2, 0.0, 5.31), 0.0);
}

// An angle that is not a number must end the push.
TEST(TestPush, EndsWithAnAngleThatIsNotANumber) {
  Nudged nudge;
  nudge.at(0.0, 0.0);
  EXPECT_EQ(nudge.at(0.1, std::numeric_limits<double>::quiet_NaN()), 0.0);
}

TEST(TestPush, RisesSlowly) {
  TestPushSettings ramp = settings();
  ramp.rise_s = 2.0;
  ramp.push_s_max = 2.5;
  ramp.level = -1.0;
  Nudged nudge(ramp);
  EXPECT_EQ(nudge.at(0.0, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(nudge.at(0.5, 0.0), -0.25);
  EXPECT_DOUBLE_EQ(nudge.at(2.25, 0.0), -1.0);
  EXPECT_EQ(nudge.at(2.51, 0.0), 0.0);
}

// The second push has the opposite command, from the position at which it begins.
TEST(TestPush, AlternatesInDirection) {
  TestPushSettings two = settings();
  two.count = 2;
  Nudged nudge(two);
  EXPECT_EQ(nudge.at(0.0, 1.0), 2.0);
  EXPECT_EQ(nudge.at(0.1, 1.2), -2.0);
  EXPECT_EQ(nudge.at(0.12, 1.2), -2.0);
  EXPECT_EQ(nudge.at(0.17, 1.2), 0.0);
  EXPECT_EQ(nudge.at(0.28, 1.2), 0.0);
  EXPECT_EQ(nudge.phase(), ScenarioPhase::kRunning);
  EXPECT_EQ(nudge.at(0.29, 1.2), -2.0);
  EXPECT_EQ(nudge.at(0.3, 1.11), -2.0);
  EXPECT_EQ(nudge.at(0.31, 1.09), 2.0);
  EXPECT_EQ(nudge.phase(), ScenarioPhase::kRunning);
  EXPECT_EQ(nudge.at(0.325, 1.08), 2.0) << "still moves";
  EXPECT_EQ(nudge.at(0.34, 1.08), 0.0) << "as long as it was pushed";
  EXPECT_EQ(nudge.at(0.45, 1.08), 0.0);
  EXPECT_EQ(nudge.phase(), ScenarioPhase::kFinished);
}

// At 1.85 of −2 to 2, there is no room upward. All pushes go downward, whatever the sign of the
// first one, and an upward motion by a motor of the opposite sign ends after half of its motion.
TEST(TestPush, PushesAwayFromANearbyEndOfTheRange) {
  TestPushSettings near = settings();
  near.count = 3;
  near.lowest_rad = -2.0;
  near.highest_rad = 2.05;
  for (const double level : {2.0, -2.0}) {
    near.level = level;
    Nudged nudge(near);
    EXPECT_EQ(nudge.at(0.0, 1.85), -2.0);
    EXPECT_EQ(nudge.at(0.1, 1.76), -2.0);
    EXPECT_EQ(nudge.at(0.15, 1.74), 2.0);
    EXPECT_EQ(nudge.at(0.4, 1.74), 0.0);
    EXPECT_EQ(nudge.at(0.51, 1.74), 0.0);
    EXPECT_EQ(nudge.at(0.52, 1.74), -2.0) << "again downward";
    EXPECT_EQ(nudge.at(0.6, 1.818), 2.0) << "a motion upward ends after (2.05 - 1.74) / 4";
    EXPECT_EQ(nudge.at(0.7, 1.818), 0.0);
    EXPECT_EQ(nudge.at(0.81, 1.818), 0.0);
    EXPECT_EQ(nudge.at(0.82, 1.818), 2.0) << "a positive command now moves the joint downward";
  }
}

// With room on both sides, the range changes nothing.
TEST(TestPush, AlternatesWithinAWideRange) {
  TestPushSettings wide = settings();
  wide.count = 2;
  wide.lowest_rad = -1.4;
  wide.highest_rad = 1.41;
  Nudged nudge(wide);
  EXPECT_EQ(nudge.at(0.0, 1.0), 2.0);
  EXPECT_EQ(nudge.at(0.1, 1.099), 2.0);
  EXPECT_EQ(nudge.at(0.11, 1.101), -2.0);
  wide.lowest_rad = wide.highest_rad;
  EXPECT_EQ(TestPush(wide).validation_errors().size(), 1U);
}

// The next push begins when the joint rests, or after three times the rest.
TEST(TestPush, WaitsForRestBeforeTheNextPush) {
  TestPushSettings two = settings();
  two.count = 2;
  for (const bool comes_to_rest : {true, false}) {
    TestPush push(two);
    const auto at = [&](double time_s, double speed) {
      Observation now;
      now.time_s = time_s;
      now.joint[1].speed_rad_per_s = speed;
      return push.compute_command(now);
    };
    at(0.0, 0.0);
    at(0.5, 0.0);  // no motion: rest
    EXPECT_EQ(at(0.61, 0.02), 0.0);
    EXPECT_EQ(at(0.75, -0.02), 0.0);
    EXPECT_EQ(at(0.79, comes_to_rest ? 0.005 : 0.02), 0.0);
    EXPECT_EQ(at(0.795, 0.02), comes_to_rest ? -2.0 : 0.0);
    EXPECT_EQ(at(0.801, 0.02), comes_to_rest ? -2.0 : 0.0);
    EXPECT_EQ(at(0.802, 0.02), -2.0);
  }
}

// A joint that drifts to an end of its range after a push is pushed back at once. Its drift does
// not end this push, and says nothing about the motor's direction.
TEST(TestPush, ReturnsAJointThatDriftsToAnEndOfItsRange) {
  TestPushSettings twice = settings();
  twice.count = 2;
  twice.lowest_rad = -2.0;
  twice.highest_rad = 2.0;
  TestPush push(twice);
  const auto at = [&](double time_s, double angle, double speed) {
    Observation now;
    now.time_s = time_s;
    now.joint[1] = {angle, speed, true};
    return push.compute_command(now);
  };
  EXPECT_EQ(at(0.0, 1.0, 0.0), 2.0);
  EXPECT_EQ(at(0.1, 1.11, 1.0), -2.0);
  EXPECT_EQ(at(0.21, 1.2, 1.0), 0.0) << "braked as long as it was pushed";
  EXPECT_EQ(at(0.25, 1.79, 1.0), 0.0);
  EXPECT_EQ(at(0.26, 1.81, 1.0), 0.0) << "less than twice the motion from the end";
  EXPECT_EQ(at(0.27, 1.82, 1.0), -2.0);
  EXPECT_EQ(at(0.35, 1.95, 0.5), -2.0) << "still drifts";
  EXPECT_EQ(at(0.45, 1.71, -2.0), 2.0) << "returned";
  EXPECT_EQ(at(0.7, 1.6, 0.0), 0.0);
  EXPECT_EQ(at(0.81, 1.6, 0.0), 0.0);
  EXPECT_EQ(at(0.82, 1.0, 0.0), -2.0) << "the second push, in the other direction";
  EXPECT_EQ(at(0.9, 0.89, -1.0), 2.0);
  EXPECT_EQ(at(0.99, 0.85, 0.0), 0.0);
  EXPECT_EQ(push.phase(), ScenarioPhase::kRunning);
  at(1.0, 1.9, 1.0);
  EXPECT_EQ(push.phase(), ScenarioPhase::kFinished) << "ends while the joint drifts";
}

// A joint that drifts on against the push that should return it is not braked, which would push it
// on. This motion says nothing about the motor's direction: the next push leads away from the end.
TEST(TestPush, LearnsNothingFromAPushThatDoesNotReturnTheJoint) {
  TestPushSettings twice = settings();
  twice.count = 2;
  twice.lowest_rad = -2.0;
  twice.highest_rad = 2.0;
  TestPush push(twice);
  const auto at = [&](double time_s, double angle, double speed) {
    Observation now;
    now.time_s = time_s;
    now.joint[1] = {angle, speed, true};
    return push.compute_command(now);
  };
  at(0.0, 1.0, 0.0);
  at(0.1, 1.11, 1.0);
  EXPECT_EQ(at(0.21, 1.2, 1.0), 0.0);
  EXPECT_EQ(at(0.26, 1.81, 1.0), 0.0);
  EXPECT_EQ(at(0.27, 1.82, 1.0), -2.0) << "returns the joint";
  EXPECT_EQ(at(0.76, 1.92, 0.2), -2.0);
  EXPECT_EQ(at(0.78, 1.93, 0.2), 0.0) << "has pushed long enough";
  EXPECT_EQ(at(0.90, 1.93, 0.0), 0.0);
  EXPECT_EQ(at(0.91, 1.93, 0.0), -2.0);
}

// A joint that goes on drifting is returned as often as it is pushed, not without end.
TEST(TestPush, ReturnsADriftingJointForAFewTimesOnly) {
  TestPushSettings thrice = settings();
  thrice.count = 3;
  thrice.lowest_rad = -2.0;
  thrice.highest_rad = 2.0;
  TestPush push(thrice);
  int begun = 0;
  double before = 0.0;
  for (int k = 0; k < 1000; ++k) {
    Observation now;
    now.time_s = 0.01 * k;
    now.joint[1] = {k < 10 ? 1.0 : 1.9, k < 10 ? 0.0 : 1.0, true};
    const double command = push.compute_command(now);
    if (before == 0.0 && command != 0.0) ++begun;
    before = command;
  }
  EXPECT_EQ(push.phase(), ScenarioPhase::kFinished);
  EXPECT_EQ(begun, 6);
}

// Sliding joints have a limit of their own.
TEST(TestPush, EndsWhenASlidingJointMovesFar) {
  TestPushSettings cart = settings();
  cart.slides = {true, false};
  cart.other_motion_m = 0.01;
  Nudged nudge(cart);
  nudge.at(0.0, 0.0);
  EXPECT_EQ(nudge.at(0.1, 0.0, 5.009), 2.0);
  EXPECT_EQ(nudge.at(0.2, 0.0, 5.011), 0.0);
}

TEST(TestPush, IsAScenarioThatDependsOnMotion) {
  const Scenario scenario("nudge", TestPush(settings()), 3.0);
  EXPECT_FALSE(scenario.is_open_loop());
  EXPECT_EQ(scenario.command_peak(), 2.0);
  EXPECT_TRUE(scenario.validation_errors().empty());
  EXPECT_EQ(Scenario("nudge", TestPush({}), 3.0).validation_errors().size(), 2U);
}

}  // namespace
}  // namespace daq
