#include "estimator/optimize/levenberg_marquardt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace estimator {
namespace {

Damping damping_from(double start) {
  LmOptions options;
  options.initial_damping = start;
  options.min_damping = 1e-6;
  options.max_damping = 1e6;
  return Damping(options);
}

double after_gain(double gain_ratio) {
  Damping damping = damping_from(1.0);
  damping.lower(gain_ratio);
  return damping.value();
}

// 1 − (2ρ − 1)³, limited to between 0.01 and 1/3. ρ = 0.95 lies between the limits: a square
// instead of the cube gives 0.19. A step much better than predicted counts as perfect.
TEST(Damping, FallsMoreForBetterPredictedSteps) {
  EXPECT_DOUBLE_EQ(after_gain(1e-4), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(after_gain(0.5), 1.0 / 3.0);
  EXPECT_NEAR(after_gain(0.95), 1.0 - 0.9 * 0.9 * 0.9, 1e-12);
  EXPECT_DOUBLE_EQ(after_gain(1.0), 0.01);
  EXPECT_DOUBLE_EQ(after_gain(3.0), 0.01);
}

// By 2, 4, 8; an accepted step restarts the sequence.
TEST(Damping, GrowsFasterUntilAStepIsAccepted) {
  Damping damping = damping_from(1.0);
  for (const double expected : {2.0, 8.0, 64.0}) {
    EXPECT_TRUE(damping.raise());
    EXPECT_DOUBLE_EQ(damping.value(), expected);
  }
  damping.lower(1.0);
  EXPECT_DOUBLE_EQ(damping.value(), 0.64);
  EXPECT_TRUE(damping.raise());
  EXPECT_DOUBLE_EQ(damping.value(), 1.28);
}

// A failed factorization raises it a hundredfold without changing that sequence.
TEST(Damping, RoundingRaisesItAHundredfold) {
  Damping damping = damping_from(1.0);
  EXPECT_TRUE(damping.raise_after_failed_factorization());
  EXPECT_DOUBLE_EQ(damping.value(), 100.0);
  EXPECT_TRUE(damping.raise());
  EXPECT_DOUBLE_EQ(damping.value(), 200.0);
}

// It stays between smallest and largest, and the largest is reported. It can grow from zero.
TEST(Damping, StaysInItsRange) {
  Damping low = damping_from(2e-6);
  low.lower(1.0);
  EXPECT_DOUBLE_EQ(low.value(), 1e-6);
  Damping high = damping_from(9e5);
  EXPECT_TRUE(high.raise());
  EXPECT_DOUBLE_EQ(high.value(), 1e6);
  EXPECT_FALSE(high.raise());
  EXPECT_FALSE(high.raise_after_failed_factorization());
  EXPECT_DOUBLE_EQ(high.value(), 1e6);
  Damping none = damping_from(0.0);
  EXPECT_TRUE(none.raise());
  EXPECT_DOUBLE_EQ(none.value(), 2e-6);
}

/// One parameter with the optimum `target`, which a step may change at most fourfold.
class OneParameter final : public LeastSquaresProblem {
 public:
  OneParameter(double start, double target, double growth)
      : x_(start), target_(target), growth_(growth) {}
  ProblemShape shape() const override { return {0, 1, 1, 1}; }
  int block_count() const override { return 1; }
  int max_block_rows() const override { return 1; }
  int noise_group_count() const override { return 1; }
  int thread_count() const override { return 1; }
  void linearize(int /*index*/, ResidualBlock& out) const override {
    resize_block(out, 0, 0, 1, 1, 1, 0);
    out.residual[0] = x_ - target_;
    out.parameter_jacobian(0, 0) = 1.0;
  }
  double cost() const override { return std::pow(x_ - target_, 2); }
  double evaluate_trial_step(const Eigen::VectorXd&, const Eigen::VectorXd& step) override {
    candidate_ = x_ + step[0];
    return std::pow(candidate_ - target_, 2);
  }
  void accept_trial_step() override { x_ = candidate_; }
  void save_point() override { saved_ = x_; }
  void restore_point() override { x_ = saved_; }
  Eigen::VectorXd parameter_values() const override { return Eigen::VectorXd::Constant(1, x_); }
  Eigen::VectorXd lower_bounds() const override { return Eigen::VectorXd::Constant(1, -HUGE_VAL); }
  Eigen::VectorXd upper_bounds() const override { return Eigen::VectorXd::Constant(1, HUGE_VAL); }
  Eigen::VectorXd growth_limits() const override { return Eigen::VectorXd::Constant(1, growth_); }

 private:
  double x_, target_, growth_, candidate_ = 0.0, saved_ = 0.0;
};

/// Iterates until close to the target.
std::vector<double> way(double start, double target, double growth) {
  OneParameter problem(start, target, growth);
  std::vector<double> values;
  solve(problem, {}, [&](const IterationRecord& record) {
    if (std::abs(record.parameters[0] - target) > 1e-3 * std::abs(target)) {
      values.push_back(record.parameters[0]);
    }
  });
  EXPECT_NEAR(problem.parameter_values()[0], target, 1e-6 * std::abs(target));
  return values;
}

// Up and down by the factor, and no farther than the optimum. Without the limit a linear problem
// would be solved at once.
TEST(StepGrowth, LimitsStepsUpAndDown) {
  EXPECT_EQ(way(1.0, 100.0, 4.0), (std::vector{1.0, 4.0, 16.0, 64.0}));
  EXPECT_EQ(way(1.0, 0.01, 4.0), (std::vector{1.0, 0.25, 0.0625, 0.015625}));
  EXPECT_EQ(way(1.0, 3.9, 4.0), (std::vector{1.0}));
}

// From zero or below there is no factor to limit.
TEST(StepGrowth, LimitsNoStepsFromZeroOrBelow) {
  EXPECT_EQ(way(1.0, 100.0, HUGE_VAL), (std::vector{1.0}));
  EXPECT_EQ(way(0.0, 100.0, 4.0), (std::vector{0.0}));
  EXPECT_EQ(way(-1.0, 100.0, 4.0), (std::vector{-1.0}));
}

}  // namespace
}  // namespace estimator
