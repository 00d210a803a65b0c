#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/shooting/integration_steps.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"
#include "tests/estimator/dynamics/loop_rigs.hpp"

namespace estimator {
namespace {

constexpr double kFinest = 160.0;  // steps within the longest step near rest

/// Joint angles at all samples. Steps end with them.
/// @param samples    at 1 kHz
/// @param parts      steps per sampling period
/// @param near_rest  as of IntervalIntegrator
Eigen::MatrixXd loop_angles(const Mechanism& mechanism, const Eigen::VectorXd& angles,
                            const Eigen::VectorXd& rates, int samples, int parts,
                            double near_rest = std::numeric_limits<double>::infinity()) {
  const TreeProgram program(mechanism, choice_at(mechanism, angles));
  const SegmentControls controls = driven(program, samples, parts);
  const MotionInterval interval{.controls = &controls,
                                .first_substep = 0,
                                .last_substep = controls.first(samples * parts),
                                .first_sample = 0,
                                .last_sample = samples + 1,
                                .period = kMotionStep,
                                .start = start_of(program, angles, rates),
                                .guess = angles};
  const Moved moved = move(program, mechanism, interval, near_rest);
  EXPECT_EQ(moved.interval.log.unresolved, 0);
  return moved.angles;
}

/// Largest speed of every joint.
Eigen::VectorXd speeds_of(const Eigen::MatrixXd& angles) {
  const Eigen::Index n = angles.rows() - 1;
  return (angles.bottomRows(n) - angles.topRows(n)).cwiseAbs().colwise().maxCoeff().transpose() /
         kMotionStep;
}

/// Compares the chosen steps with a quarter of them, whose errors are 256 times smaller, and for
/// creeping friction with steps that resolve it at all speeds.
void expect_accurate(const Mechanism& mechanism, const Eigen::VectorXd& angles,
                     const Eigen::VectorXd& rates, int samples) {
  const Eigen::VectorXd fastest = speeds_of(loop_angles(mechanism, angles, rates, samples, 4));
  const double step = choose_integration_step(fastest, kLoopSteps);
  const int parts = static_cast<int>(std::ceil(kMotionStep / step * (1.0 - 1e-9)));
  Eigen::VectorXd state(2 * angles.size());
  state << angles, rates;
  const double near_rest = compute_friction_step_limits(mechanism, {state}).near_rest;
  const int fine_parts =
      std::max(4 * parts, static_cast<int>(std::ceil(kFinest * kMotionStep / near_rest)));
  const Eigen::MatrixXd chosen = loop_angles(mechanism, angles, rates, samples, parts, near_rest);
  const Eigen::MatrixXd fine = loop_angles(mechanism, angles, rates, samples, fine_parts);
  EXPECT_GT((chosen.rowwise() - chosen.row(0)).cwiseAbs().maxCoeff(), 0.2);  // it moved
  EXPECT_LT((chosen - fine).cwiseAbs().maxCoeff(), 1e-8);
  LoopClosure closure(mechanism);
  double open = 0.0;
  for (const auto& row : chosen.rowwise()) {
    open = std::max(open, closure.closure_violation(row.transpose()).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(open, 1e-10);
}

void let_creep(Mechanism& mechanism) {
  for (Joint& joint : mechanism.joints) joint.transition_speed = 4e-3;
}

/// A crank that rotates fully at first.
void expect_accurate_from_a_turning_crank(const Mechanism& mechanism, int samples) {
  Eigen::VectorXd angles(4), wanted = Eigen::VectorXd::Constant(4, std::nan(""));
  angles << 0.7, 0.0, 1.0, 1.6;
  wanted[0] = 0.7;
  LoopClosure closure(mechanism);
  ASSERT_TRUE(closure.close(angles, wanted));
  wanted.setConstant(std::nan(""));
  wanted[0] = 12.0;
  expect_accurate(mechanism, angles, closure.rates(angles, wanted), samples);
}

// Decelerated by friction in all joints.
TEST(LoopSteps, KeepAFourBarWithinTenNanoradians) {
  Mechanism mechanism = moving_four_bar();
  add_friction(mechanism, 2e-4, 0.0);
  expect_accurate_from_a_turning_crank(mechanism, 4000);
}

TEST(LoopSteps, KeepAFourBarThatCreepsWithinTenNanoradians) {
  Mechanism mechanism = moving_four_bar();
  add_friction(mechanism, 2e-4, 5e-4);
  let_creep(mechanism);
  expect_accurate_from_a_turning_crank(mechanism, 1000);
}

// Two motors whose commands jump, and joints that stick and slip.
TEST(LoopSteps, KeepADrivenFiveBarWithinTenNanoradians) {
  const DrivenFiveBar rig;
  expect_accurate(rig.mechanism, rig.angles, Eigen::VectorXd::Zero(5), 4000);
}

// The same with creeping joints.
TEST(LoopSteps, KeepADrivenFiveBarThatCreepsWithinTenNanoradians) {
  DrivenFiveBar rig;
  let_creep(rig.mechanism);
  expect_accurate(rig.mechanism, rig.angles, Eigen::VectorXd::Zero(5), 1000);
}

}  // namespace
}  // namespace estimator
