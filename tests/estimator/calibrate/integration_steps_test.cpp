#include "estimator/fit/physical/shooting/integration_steps.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "estimator/fit/physical/shooting_input.hpp"

namespace estimator {
namespace {

// The fastest joint determines the step, whichever it is, and no step leaves its limits.
TEST(IntegrationSteps, FollowTheFastestJoint) {
  EXPECT_DOUBLE_EQ(choose_integration_step(Eigen::Vector2d(20.0, 16.0), kSteps), 0.002);
  EXPECT_DOUBLE_EQ(choose_integration_step(Eigen::Vector2d(16.0, 20.0), kSteps), 0.002);
  EXPECT_DOUBLE_EQ(choose_integration_step(Eigen::Vector2d(1e-3, 0.0), kSteps), 0.004);
  EXPECT_DOUBLE_EQ(choose_integration_step(Eigen::Vector2d(1e6, 0.0), kSteps), 0.001);
  EXPECT_DOUBLE_EQ(choose_integration_step(Eigen::Vector2d::Zero(), kSteps), 0.004);
}

/// 2 s at 1 kHz: slow, but fast in one coordinate between 0.9 and 1.1 s.
Eigen::MatrixXd states() {
  Eigen::MatrixXd states = Eigen::MatrixXd::Constant(4, 2001, 0.5);
  states.row(3).segment(901, 199).setConstant(-20.0);
  return states;
}

Segment without_motor() {
  Segment segment;
  segment.period = 1e-3;
  segment.angles = Eigen::MatrixXd::Zero(2001, 2);
  return segment;
}

// Segments of 0.2 s, each judged with half a segment before and after it.
TEST(IntegrationSteps, AreLongerDuringSlowMotion) {
  const std::vector<double> steps = choose_local_integration_steps(
      without_motor(), states(), 1e-3, Eigen::Vector2d::Ones(), kSteps, 0.002);
  ASSERT_EQ(steps.size(), 11U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_DOUBLE_EQ(steps[i], i >= 4 && i <= 5 ? 0.002 : 0.004) << i;
  }
}

// With a scale of 0.1 m per rad, 2 m/s of a prismatic joint count as 20 rad/s.
TEST(IntegrationSteps, UseTheScaleOfAPrismaticJoint) {
  const std::vector<double> steps = choose_local_integration_steps(
      without_motor(), 0.1 * states(), 1e-3, Eigen::Vector2d(1.0, 0.1), kSteps, 0.002);
  EXPECT_DOUBLE_EQ(steps[4], 0.002);
  EXPECT_DOUBLE_EQ(steps[1], 0.004);
}

TEST(IntegrationSteps, AreShortWhereAControlChanges) {
  Segment segment = without_motor();
  segment.controls = Eigen::MatrixXd::Constant(2001, 2, 3.0);
  segment.controls.col(1).tail(401).setConstant(3.1);  // from 1.6 s on
  const std::vector<double> steps = choose_local_integration_steps(
      segment, states(), 1e-3, Eigen::Vector2d::Ones(), kSteps, 0.0015);
  EXPECT_DOUBLE_EQ(steps[0], 0.004);
  EXPECT_DOUBLE_EQ(steps[7], 0.0015);
  EXPECT_DOUBLE_EQ(steps[8], 0.0015);
  EXPECT_DOUBLE_EQ(steps[9], 0.004);
}

TEST(IntegrationSteps, AreLimitedEverywhere) {
  ShootingGrid grid{
      .step = 0.002, .interval = 0.2, .coordinates = {}, .local_steps = {{0.004, 0.001}, {0.003}}};
  limit_integration_steps(0.0025, grid);
  EXPECT_EQ(grid.step, 0.002);
  EXPECT_EQ(grid.local_steps, (std::vector<std::vector<double>>{{0.0025, 0.001}, {0.0025}}));
  limit_integration_steps(0.0005, grid);
  EXPECT_EQ(grid.step, 0.0005);
  limit_integration_steps(std::numeric_limits<double>::infinity(), grid);
  EXPECT_EQ(grid.step, 0.0005);
}

}  // namespace
// Across several control periods the control is replaced by a line, which would start the motion of
// a creeping joint at another time. Steps near rest must therefore end with the periods.
TEST(IntegrationSteps, EndWithControlPeriodsForCreepingJoints) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto limited = [](const FrictionStepLimits& longest, int controls) {
    ShootingInput input;
    input.grid = {.step = 0.004, .interval = 0.2, .coordinates = {}, .local_steps = {{0.003}}};
    input.last_grid = input.grid;
    input.last_grid->step = 0.002;
    for (const double period : {0.0015, 0.001}) {
      Segment segment;
      segment.period = period;
      segment.controls.resize(10, controls);
      input.segments.push_back(segment);
    }
    limit_integration_steps(longest, input);
    EXPECT_EQ(input.grid.near_rest, longest.near_rest);
    EXPECT_EQ(input.last_grid->near_rest, longest.near_rest);
    return std::array{input.grid.step, input.grid.local_steps[0][0], input.last_grid->step};
  };
  using Steps = std::array<double, 3>;
  EXPECT_EQ(limited({kNone, kNone}, 1), (Steps{0.004, 0.003, 0.002}));
  EXPECT_EQ(limited({kNone, 1e-4}, 1), (Steps{0.001, 0.001, 0.001}));
  EXPECT_EQ(limited({kNone, 1e-4}, 0), (Steps{0.004, 0.003, 0.002}));
  EXPECT_EQ(limited({5e-4, 1e-4}, 1), (Steps{5e-4, 5e-4, 5e-4}));
  EXPECT_EQ(limited({0.0025, kNone}, 1), (Steps{0.0025, 0.0025, 0.002}));
}

}  // namespace estimator
