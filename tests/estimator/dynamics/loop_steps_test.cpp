#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "estimator/fit/physical/integration_steps.hpp"
#include "estimator/tree/interval_motion.hpp"
#include "tests/estimator/dynamics/loop_rigs.hpp"

namespace estimator {
namespace {

constexpr int kSamples = 4000;  // 4 s at 1 kHz

/// Joint angles at all samples; steps end with them.
/// @param parts  of a sampling period that a step takes
Eigen::MatrixXd loop_angles(const Mechanism& mechanism, const Eigen::VectorXd& angles,
                            const Eigen::VectorXd& rates, int parts) {
  const TreeProgram program(mechanism, choice_at(mechanism, angles));
  const HeldControls controls = driven(program, kSamples, parts);
  MotionInterval interval{.controls = &controls,
                          .first_stretch = 0,
                          .last_stretch = controls.first(kSamples * parts),
                          .first_sample = 0,
                          .last_sample = kSamples + 1,
                          .period = kMotionStep,
                          .start = start_of(program, angles, rates),
                          .guess = angles};
  Eigen::MatrixXd result;
  IntervalMotion(program, mechanism).run(std::span(&interval, 1), std::span(&result, 1));
  EXPECT_EQ(interval.log.unresolved, 0);
  return result;
}

/// Fastest speed of every joint.
Eigen::VectorXd speeds_of(const Eigen::MatrixXd& angles) {
  const Eigen::Index n = angles.rows() - 1;
  return (angles.bottomRows(n) - angles.topRows(n)).cwiseAbs().colwise().maxCoeff().transpose() /
         kMotionStep;
}

/// The steps that are chosen, against those of a quarter, whose errors are 256 times smaller.
void expect_accurate(const Mechanism& mechanism, const Eigen::VectorXd& angles,
                     const Eigen::VectorXd& rates) {
  const Eigen::VectorXd fastest = speeds_of(loop_angles(mechanism, angles, rates, 4));
  const double step = choose_step(fastest, kLoopSteps);
  const int parts = static_cast<int>(std::ceil(kMotionStep / step * (1.0 - 1e-9)));
  const Eigen::MatrixXd chosen = loop_angles(mechanism, angles, rates, parts);
  const Eigen::MatrixXd fine = loop_angles(mechanism, angles, rates, 4 * parts);
  EXPECT_GT((chosen.rowwise() - chosen.row(0)).cwiseAbs().maxCoeff(), 0.2);  // it moved
  EXPECT_LT((chosen - fine).cwiseAbs().maxCoeff(), 1e-8);
  LoopClosure closure(mechanism);
  double open = 0.0;
  for (const auto& row : chosen.rowwise()) {
    open = std::max(open, closure.violation(row.transpose()).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(open, 1e-10);
}

// A crank that turns round, slowed by all joints.
TEST(LoopSteps, KeepAFourBarWithinTenNanoradians) {
  Mechanism mechanism = moving_four_bar();
  add_friction(mechanism, 2e-4, 0.0);
  Eigen::VectorXd angles(4), wanted = Eigen::VectorXd::Constant(4, std::nan(""));
  angles << 0.7, 0.0, 1.0, 1.6;
  wanted[0] = 0.7;
  LoopClosure closure(mechanism);
  ASSERT_TRUE(closure.close(angles, wanted));
  wanted.setConstant(std::nan(""));
  wanted[0] = 12.0;
  expect_accurate(mechanism, angles, closure.rates(angles, wanted));
}

// Two motors whose commands jump, and joints that stick and slip.
TEST(LoopSteps, KeepADrivenFiveBarWithinTenNanoradians) {
  const DrivenFiveBar rig;
  expect_accurate(rig.mechanism, rig.angles, Eigen::VectorXd::Zero(5));
}

}  // namespace
}  // namespace estimator
