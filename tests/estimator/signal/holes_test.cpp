#include "estimator/signal/sample_gaps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace estimator {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

Segment commanded(const std::vector<double>& commands) {
  Segment segment;
  segment.period = 0.01;
  segment.controls = Eigen::Map<const Eigen::VectorXd>(commands.data(),
                                                       static_cast<Eigen::Index>(commands.size()));
  segment.angles.setZero(segment.controls.rows(), 1);
  return segment;
}

/// Change of the command from the end of one segment to the start of the next.
CommandChange change(const std::vector<double>& before, const std::vector<double>& after,
                     int missing) {
  return command_change_between(commanded(before), commanded(after), missing,
                                Eigen::RowVectorXd::Constant(1, 1.0));
}

// If an edge of an otherwise held command falls into the gap, its time is unknown, so the motion
// after it cannot be predicted. A change as fast as beside the gap, or noise, is no edge.
TEST(SampleGap, EndsASegmentIfACommandStepIsHidden) {
  for (const double sign : {1.0, -1.0}) {
    const std::vector<double> rest = {0.0, 0.0, 0.0, 0.0}, on(4, sign);
    for (const int missing : {1, 3}) {
      EXPECT_TRUE(change(rest, on, missing).is_step);
      EXPECT_TRUE(change(on, rest, missing).is_step);
      EXPECT_FALSE(can_continue_across_gap(0.05, missing, change(rest, on, missing), 100.0));
      EXPECT_FALSE(change(on, on, missing).is_step);
      EXPECT_TRUE(can_continue_across_gap(0.05, missing, change(on, on, missing), 100.0));
    }
    const std::vector<double> ramp = {0.0, 0.2 * sign, 0.4 * sign}, later = {0.8 * sign, sign};
    EXPECT_FALSE(change(ramp, later, 1).is_step);
    EXPECT_NEAR(change(ramp, later, 1).whole, 0.4, 1e-12);
    EXPECT_FALSE(change({0.5, -0.4, 0.3, -0.2}, {0.5 * sign, -0.5, 0.2, 0.1}, 1).is_step);
    EXPECT_FALSE(change({0.0, 0.0, sign, sign}, {sign, sign, sign}, 1).is_step);
  }
  EXPECT_FALSE(change({0.0, 0.0}, {kNothing}, 1).is_step);
}

// A command that is held for several rows changes in steps only, also in small ones. Steps of its
// resolution have hardly any effect.
TEST(SampleGap, EndsASegmentAtSmallStepsOfAHeldCommand) {
  EXPECT_TRUE(change({0.0, 0.5, 0.5}, {0.55, 0.55, 0.6}, 1).is_step);
  EXPECT_TRUE(change({0.5, 0.5}, {0.45, 0.45}, 1).is_step);
  EXPECT_FALSE(change({0.5, 0.5}, {0.505, 0.505}, 1).is_step);
  EXPECT_FALSE(change({0.45, 0.5}, {0.55, 0.55}, 1).is_step);
  EXPECT_FALSE(change({0.5, 0.5}, {0.55, 0.6}, 1).is_step);
}

// Across more than three rows the command must be constant. Beyond 0.2 s no state is predictable.
TEST(SampleGap, IsBridgedIfTheCommandIsHeld) {
  const CommandChange held = change({1.0, 1.0, 1.0}, {1.0, 1.0}, 10);
  EXPECT_TRUE(can_continue_across_gap(0.11, 10, held, 100.0));
  EXPECT_FALSE(can_continue_across_gap(0.21, 10, held, 100.0));
  EXPECT_FALSE(can_continue_across_gap(0.11, 10, held, 9.0));
  const CommandChange ramp = change({0.0, 0.05}, {0.6, 0.65}, 10);
  EXPECT_FALSE(ramp.is_step);
  EXPECT_FALSE(can_continue_across_gap(0.11, 10, ramp, 100.0));
}

// With four rows on either side a sine is interpolated far better than by the cubic through two,
// also where it is straight, and beside other gaps. An edge among these rows has no effect.
TEST(SampleGap, InterpolatesASmoothCommandFromManyRows) {
  for (const double phase : {0.0, 0.7, M_PI / 2.0, M_PI}) {
    const auto sine = [&](int k) { return std::sin(0.3 * (k - 5) + phase); };
    for (const int missing : {1, 2}) {
      std::vector<double> values;
      for (int k = 0; k < 12; ++k) values.push_back(sine(k));
      Segment segment = commanded(values);
      segment.controls.middleRows(5, missing).setConstant(kNothing);
      segment.controls(9, 0) = kNothing;
      interpolate_commands({{5, missing}, {9, 1}}, segment);
      for (int k = 5; k < 5 + missing; ++k) {
        EXPECT_NEAR(segment.controls(k, 0), sine(k), 2e-5) << phase << " " << missing;
      }
    }
  }
  for (const double sign : {1.0, -1.0}) {
    Segment held = commanded({0.0, 0.0, 0.0, 0.0, kNothing, 0.0, 0.0, 0.0, sign, sign});
    interpolate_commands({{4, 1}}, held);
    EXPECT_EQ(held.controls(4, 0), 0.0);
    Segment pulsed = commanded({sign, 0.0, 0.0, kNothing, 0.0, 0.0, sign, sign});
    interpolate_commands({{3, 1}}, pulsed);
    EXPECT_EQ(pulsed.controls(3, 0), 0.0);
  }
}

// The command in missing rows curves as beside the gap. Beside a recorded edge it stays constant: a
// cubic through the rows would overshoot.
TEST(SampleGap, InterpolatesWithoutOvershoot) {
  const auto rising = [](double x) { return std::sin(0.3 * x); };
  for (const int missing : {1, 2, 3}) {
    std::vector<double> values;
    for (int k = 0; k < 9; ++k) values.push_back(rising(k));
    Segment segment = commanded(values);
    segment.controls.middleRows(4, missing).setConstant(kNothing);
    interpolate_commands({{4, missing}}, segment);
    for (int k = 4; k < 4 + missing; ++k) {
      const double even =
          rising(3) + (k - 3) / (missing + 1.0) * (rising(4 + missing) - rising(3)) - rising(k);
      EXPECT_LT(std::abs(segment.controls(k, 0) - rising(k)), 0.25 * std::abs(even)) << missing;
    }
  }
  Segment edge = commanded({0.0, 0.0, 1.0, kNothing, 1.0, 1.0, 1.0});
  interpolate_commands({{3, 1}}, edge);
  EXPECT_DOUBLE_EQ(edge.controls(3, 0), 1.0);
  // A gap next to another uses the rows beyond that; at the ends there are none.
  const auto bent = [](double x) { return std::exp(0.1 * x); };
  Segment beside = commanded({bent(0), bent(1), kNothing, bent(3), kNothing, bent(5), bent(6)});
  interpolate_commands({{2, 1}, {4, 1}}, beside);
  EXPECT_NEAR(beside.controls(2, 0), bent(2), 1e-4);
  EXPECT_NEAR(beside.controls(4, 0), bent(4), 1e-4);
  Segment ends = commanded({0.0, kNothing, 1.0});
  interpolate_commands({{1, 1}}, ends);
  EXPECT_DOUBLE_EQ(ends.controls(1, 0), 0.5);
}

// Rows keep their readings; missing rows have none, but commands.
TEST(Joined, KeepsAllValuesInTheirRow) {
  const Segment first = commanded({0.0, 0.0, 0.0});
  Segment second = commanded({0.0, 0.0});
  second.angles.setConstant(2.0);
  second.start = 0.05;
  const Segment whole = concatenate_segments(std::vector<Segment>{first, second}, {0, 2});
  ASSERT_EQ(whole.sample_count(), 7);
  EXPECT_TRUE(whole.angles.middleRows(3, 2).array().isNaN().all());
  EXPECT_EQ(whole.angles(2, 0), 0.0);
  EXPECT_EQ(whole.angles(5, 0), 2.0);
  EXPECT_FALSE(whole.controls.array().isNaN().any());
}

}  // namespace
}  // namespace estimator
