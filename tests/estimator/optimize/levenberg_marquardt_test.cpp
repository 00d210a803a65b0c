#include "estimator/optimize/levenberg_marquardt.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/estimator/optimize/linear_chain_problem.hpp"
#include "tests/support/not_a_number.hpp"

namespace estimator {
namespace {

using test_support::kNaN;
using test_support::LinearChainProblem;

// Dynamic from the start: converting fixed-size vectors makes g++ 12 report array bounds.
Eigen::VectorXd vector(std::initializer_list<double> values) {
  return Eigen::Map<const Eigen::VectorXd>(values.begin(),
                                           static_cast<Eigen::Index>(values.size()));
}

/// Parameters alone, with residual and Jacobian given as functions.
class FunctionProblem : public LeastSquaresProblem {
 public:
  using Residual = std::function<Eigen::VectorXd(const Eigen::VectorXd&)>;
  using Jacobian = std::function<Eigen::MatrixXd(const Eigen::VectorXd&)>;

  FunctionProblem(Residual residual, Jacobian jacobian, Eigen::VectorXd start)
      : lower(Eigen::VectorXd::Constant(start.size(), -1e300)),
        upper(-lower),
        residual_(std::move(residual)),
        jacobian_(std::move(jacobian)),
        x_(std::move(start)) {}

  ProblemShape shape() const override { return {0, 1, 1, static_cast<int>(x_.size())}; }
  int block_count() const override { return 1; }
  int max_block_rows() const override { return static_cast<int>(residual_(x_).size()); }
  int noise_group_count() const override { return 1; }
  int thread_count() const override { return 1; }
  void linearize(int /*index*/, ResidualBlock& out) const override {
    ++linearizations;
    out.first_node = 0;
    out.node_span = 0;
    out.group = 0;
    out.residual = residual_(x_);
    out.rows = static_cast<int>(out.residual.size());
    out.parameter_jacobian = jacobian_(x_);
  }
  double cost() const override { return residual_(x_).squaredNorm(); }
  double evaluate_trial_step(const Eigen::VectorXd&, const Eigen::VectorXd& step) override {
    candidate_ = x_ + step;
    ++candidates;
    left_box = left_box || (candidate_.array() < lower.array()).any() ||
               (candidate_.array() > upper.array()).any();
    return residual_(candidate_).squaredNorm();
  }
  void accept_trial_step() override { x_ = candidate_; }
  void save_point() override {
    saved_ = x_;
    ++saves;
  }
  void restore_point() override { x_ = saved_; }
  Eigen::VectorXd parameter_values() const override { return x_; }
  Eigen::VectorXd lower_bounds() const override { return lower; }
  Eigen::VectorXd upper_bounds() const override { return upper; }
  Eigen::VectorXd step_factor_limits() const override { return growth; }

  Eigen::VectorXd lower, upper;
  Eigen::VectorXd growth;  ///< empty: not limited
  mutable int linearizations = 0;
  int candidates = 0;
  int saves = 0;  ///< of points before steps that raise the cost
  bool left_box = false;

 private:
  Residual residual_;
  Jacobian jacobian_;
  Eigen::VectorXd x_, candidate_, saved_;
};

FunctionProblem rosenbrock(std::initializer_list<double> start) {
  return FunctionProblem(
      [](const Eigen::VectorXd& x) {
        return vector({10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]});
      },
      [](const Eigen::VectorXd& x) {
        return (Eigen::MatrixXd(2, 2) << -20.0 * x[0], 10.0, -1.0, 0.0).finished();
      },
      vector(start));
}

// Gauss–Newton on atan diverges from here, so the first steps must be rejected.
FunctionProblem arctangent(double start) {
  return FunctionProblem(
      [](const Eigen::VectorXd& x) { return Eigen::VectorXd::Constant(1, std::atan(x[0])); },
      [](const Eigen::VectorXd& x) {
        return Eigen::MatrixXd::Constant(1, 1, 1.0 / (1.0 + x[0] * x[0]));
      },
      Eigen::VectorXd::Constant(1, start));
}

// A linear problem is solved by its first step; the second only corrects the damping of 1e-8.
TEST(LevenbergMarquardt, LinearProblemTakesTwoSteps) {
  std::mt19937 random(6);
  LinearChainProblem problem =
      test_support::make_random_chain({20, 6, 2, 5}, random, {.noise_group_count = 1});
  const Eigen::MatrixXd J = problem.dense_jacobian();
  const Eigen::VectorXd expected = -J.householderQr().solve(problem.dense_residual());
  const LmSummary summary = solve(problem);
  EXPECT_TRUE(is_converged(summary.termination));
  EXPECT_LE(summary.iterations, 2);
  EXPECT_LT((problem.node() - expected.head(problem.node_unknowns())).norm(),
            1e-9 * expected.norm());
  EXPECT_LT((problem.parameter_values() - expected.tail(5)).norm(), 1e-9 * expected.norm());
}

// On a linear problem the cost is exactly the quadratic that the step minimizes, so every decrease
// must equal the predicted one: with damping that shortens each step, with states and parameters
// together, and with a parameter stopped by a bound. Catches a term of the prediction that is
// missing, doubled or halved; the optimum would hardly reveal it.
TEST(LevenbergMarquardt, PredictsTheDecreaseOfALinearProblem) {
  std::mt19937 random(7);
  for (const bool bounded : {false, true}) {
    LinearChainProblem problem =
        test_support::make_random_chain({20, 6, 2, 5}, random, {.noise_group_count = 1});
    if (bounded) {
      const Eigen::VectorXd free =
          -problem.dense_jacobian().householderQr().solve(problem.dense_residual());
      problem.upper[0] = 0.5 * std::abs(free.tail(5)[0]);
      problem.lower[0] = -problem.upper[0];
    }
    LmOptions options;
    options.initial_damping = 10.0;
    const LmSummary summary = solve(problem, options);
    EXPECT_TRUE(is_converged(summary.termination));
    ASSERT_GE(summary.iterations, 4);
    for (int k = 1; k <= 3; ++k) {
      const IterationRecord& record = summary.history[static_cast<std::size_t>(k)];
      EXPECT_NEAR(record.gain_ratio, 1.0, 1e-6) << "iteration " << k;
      EXPECT_DOUBLE_EQ(record.damping, 10.0 * std::pow(0.01, k - 1)) << "iteration " << k;
    }
  }
}

// Bounds of 1e-6 and 0 side by side must be returned exactly. A build once turned the lower bounds
// (1e-6, 1e-6, 0, 0) into 1e-6 each; the test runs in every build type.
TEST(LevenbergMarquardt, SatisfiesBoundsExactly) {
  const Eigen::VectorXd lower = vector({1e-6, 1e-6, 0.0, 0.0});
  const Eigen::VectorXd pull =
      vector({-1.0, 2e-6, -3.0, 0.5});  // two end at their bounds, two do not
  const auto residual = [&](const Eigen::VectorXd& x) { return Eigen::VectorXd(x - pull); };
  const auto jacobian = [](const Eigen::VectorXd&) { return Eigen::MatrixXd::Identity(4, 4); };
  for (const double start : {1e-6, 1e-3, 0.3, 7.0}) {
    SCOPED_TRACE(start);
    FunctionProblem problem(residual, jacobian, Eigen::VectorXd::Constant(4, start));
    problem.lower = lower;
    problem.upper = Eigen::VectorXd::Constant(4, 10.0);
    const LmSummary summary = solve(problem);
    EXPECT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
    EXPECT_EQ(problem.lower_bounds(), lower);
    EXPECT_FALSE(problem.left_box);
    EXPECT_NEAR(problem.parameter_values()[0], 1e-6, 1e-15);
    EXPECT_GE(problem.parameter_values()[0], 1e-6);
    EXPECT_NEAR(problem.parameter_values()[1], 2e-6, 1e-7);
    EXPECT_EQ(problem.parameter_values()[2], 0.0);
    EXPECT_NEAR(problem.parameter_values()[3], 0.5, 1e-7);
  }
}

// A start at a bound from which the cost falls inward must leave it. One from which it falls
// outward must stay and count as converged.
TEST(LevenbergMarquardt, StaysAtABoundOnlyIfTheCostFallsOutward) {
  const auto residual = [](const Eigen::VectorXd& x) {
    return vector({x[0] - 1.0, x[1] + 1.0, 0.1});
  };
  const auto jacobian = [](const Eigen::VectorXd&) { return Eigen::MatrixXd::Identity(3, 2); };
  FunctionProblem problem(residual, jacobian, Eigen::VectorXd::Zero(2));
  problem.lower = Eigen::VectorXd::Zero(2);
  EXPECT_TRUE(is_converged(solve(problem).termination));
  EXPECT_NEAR(problem.parameter_values()[0], 1.0, 1e-7);
  EXPECT_EQ(problem.parameter_values()[1], 0.0);

  FunctionProblem at_optimum(residual, jacobian, vector({1.0, 0.0}));
  at_optimum.lower = Eigen::VectorXd::Zero(2);
  const LmSummary summary = solve(at_optimum);
  EXPECT_EQ(summary.termination, Termination::kGradientTolerance);
  EXPECT_EQ(summary.iterations, 0);
}

TEST(LevenbergMarquardt, MovesInitialValuesToTheirBounds) {
  FunctionProblem problem = rosenbrock({-3.0, 7.0});
  problem.lower = vector({-1.0, -1.0});
  problem.upper = vector({0.5, 2.0});
  const LmSummary summary = solve(problem);
  EXPECT_TRUE(is_converged(summary.termination));
  EXPECT_EQ(summary.history.front().parameters, vector({-1.0, 2.0}));
  EXPECT_FALSE(problem.left_box);
  EXPECT_EQ(problem.parameter_values()[0], 0.5);
  EXPECT_NEAR(problem.parameter_values()[1], 0.25, 1e-8);
}

// Records must be consistent: costs never rise, the last one is the summary's, the parameters are
// the point's. Rosenbrock's valley gives a nontrivial sequence with rejected steps.
TEST(LevenbergMarquardt, HistoryIsConsistentAndMonotone) {
  FunctionProblem problem = rosenbrock({-1.2, 1.0});
  std::vector<IterationRecord> seen;
  const LmSummary summary =
      solve(problem, {}, [&](const IterationRecord& record) { seen.push_back(record); });
  EXPECT_TRUE(is_converged(summary.termination));
  EXPECT_LT((problem.parameter_values() - Eigen::VectorXd::Ones(2)).norm(), 1e-8);
  ASSERT_EQ(seen.size(), summary.history.size());
  ASSERT_EQ(static_cast<int>(seen.size()), summary.iterations + 1);
  EXPECT_EQ(seen.front().cost, summary.initial_cost);
  EXPECT_EQ(seen.back().cost, summary.cost);
  EXPECT_EQ(seen.back().parameters, problem.parameter_values());
  EXPECT_EQ(summary.cost, problem.cost());
  for (std::size_t k = 1; k < seen.size(); ++k) {
    EXPECT_EQ(seen[k].iteration, static_cast<int>(k));
    EXPECT_LT(seen[k].cost, seen[k - 1].cost);
    EXPECT_GT(seen[k].step_norm, 0.0);
  }
}

TEST(LevenbergMarquardt, RejectedStepsAreCountedButNotApplied) {
  FunctionProblem problem = arctangent(3.0);
  const LmSummary summary = solve(problem);
  EXPECT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
  EXPECT_NEAR(problem.parameter_values()[0], 0.0, 1e-8);
  int rejected = 0;
  for (const IterationRecord& record : summary.history) rejected += record.rejected;
  EXPECT_GT(rejected, 0);
  EXPECT_LE(std::abs(problem.candidates - rejected - summary.iterations), 1);
}

// Trials with other dampings at the same point need no new linearization. The point is linearized
// once, once more to keep it, and at the two points after steps that may raise the cost.
TEST(LevenbergMarquardt, LinearizesAPointAtMostTwice) {
  FunctionProblem problem = arctangent(40.0);
  const LmSummary summary = solve(problem);
  int trials = 0, limit = 1;  // the last point
  for (const IterationRecord& record : summary.history) {
    trials += 1 + record.rejected;
    limit += record.rejected > 0 ? 4 : 1;
  }
  EXPECT_LE(problem.linearizations, limit);
  EXPECT_LT(limit, trials) << "the problem rejects too few steps for this test";
}

// At the kink of x, steps that raise the cost never lead to a lower cost, while y descends slowly.
// Such steps are tried more rarely after each failure.
TEST(LevenbergMarquardt, RarelyRaisesTheCostAtAKink) {
  FunctionProblem problem(
      [](const Eigen::VectorXd& x) {
        return vector({1.0, 1e-2 * (1.0 + std::abs(x[0])), x[1] * x[1]});
      },
      [](const Eigen::VectorXd& x) {
        return (Eigen::MatrixXd(3, 2) << 0.0, 0.0, x[0] < 0.0 ? -1e-2 : 1e-2, 0.0, 0.0, 2.0 * x[1])
            .finished();
      },
      vector({0.3, 1.0}));
  const LmSummary summary = solve(problem);
  int with_rejections = 0;
  for (const IterationRecord& record : summary.history) with_rejections += record.rejected > 0;
  ASSERT_GT(with_rejections, 2);
  EXPECT_LT(problem.saves, with_rejections);
}

// A circle with a weight of 1e2, and the optimum further along it: every straight step leaves the
// circle and raises the cost. Unless steps may raise the cost for a while, 20 short ones are
// needed.
TEST(LevenbergMarquardt, FollowsANarrowCurvedValley) {
  FunctionProblem problem(
      [](const Eigen::VectorXd& x) {
        return vector({1e2 * (x.squaredNorm() - 1.0), x[0], x[1] - 1.0});
      },
      [](const Eigen::VectorXd& x) {
        return (Eigen::MatrixXd(3, 2) << 2e2 * x[0], 2e2 * x[1], 1.0, 0.0, 0.0, 1.0).finished();
      },
      vector({0.28, 0.96}));
  const LmSummary summary = solve(problem);
  EXPECT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
  EXPECT_LT((problem.parameter_values() - vector({0.0, 1.0})).norm(), 1e-6);
  EXPECT_LE(summary.iterations, 8);
  for (std::size_t k = 1; k < summary.history.size(); ++k) {
    EXPECT_LT(summary.history[k].cost, summary.history[k - 1].cost);
  }
}

// A model that is undefined beyond a wall: candidates there give NaN and must be rejected, and the
// solver must still reach the optimum before the wall.
TEST(LevenbergMarquardt, UndefinedCandidatesAreRejected) {
  FunctionProblem problem(
      [](const Eigen::VectorXd& x) {
        return Eigen::VectorXd::Constant(1, x[0] < 0.0 ? kNaN : std::sqrt(x[0]) - 0.1);
      },
      [](const Eigen::VectorXd& x) {
        return Eigen::MatrixXd::Constant(1, 1, 0.5 / std::sqrt(x[0]));
      },
      Eigen::VectorXd::Constant(1, 1.0));
  const LmSummary summary = solve(problem);
  EXPECT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
  EXPECT_NEAR(problem.parameter_values()[0], 0.01, 1e-9);
  EXPECT_GT(summary.history[1].rejected, 0);
}

TEST(LevenbergMarquardt, FailsForUndefinedInitialValues) {
  for (const double bad : {kNaN, std::numeric_limits<double>::infinity()}) {
    FunctionProblem problem(
        [bad](const Eigen::VectorXd&) { return Eigen::VectorXd::Constant(1, bad); },
        [](const Eigen::VectorXd&) { return Eigen::MatrixXd::Identity(1, 1); },
        Eigen::VectorXd::Constant(1, 1.0));
    const LmSummary summary = solve(problem);
    EXPECT_EQ(summary.termination, Termination::kNumericalFailure);
    EXPECT_EQ(summary.iterations, 0);
    EXPECT_TRUE(summary.history.empty());
    EXPECT_EQ(problem.parameter_values()[0], 1.0);
  }
  FunctionProblem undefined_parameter = arctangent(kNaN);
  EXPECT_EQ(solve(undefined_parameter).termination, Termination::kNumericalFailure);
}

// A finite cost with NaN derivatives gives no step: the loop must end.
TEST(LevenbergMarquardt, UndefinedJacobianEndsTheLoop) {
  FunctionProblem problem(
      [](const Eigen::VectorXd& x) { return Eigen::VectorXd(x); },
      [](const Eigen::VectorXd&) { return Eigen::MatrixXd::Constant(1, 1, kNaN); },
      Eigen::VectorXd::Constant(1, 1.0));
  EXPECT_EQ(solve(problem).termination, Termination::kNumericalFailure);
  EXPECT_LT(problem.linearizations, 50);
}

// A kink at the optimum, small compared with the other residuals, as dry friction is. Near it every
// undamped step is rejected, and damped ones achieve less than predicted. The solver must soon end
// at the kink and report neither a tolerance met nor a failure.
TEST(LevenbergMarquardt, KinkEndsWithoutFurtherDecrease) {
  FunctionProblem problem(
      [](const Eigen::VectorXd& x) {
        return vector({1.0, 1e-2 * (1.0 + std::abs(x[0])), 0.1 * (x[1] - 2.0)});
      },
      [](const Eigen::VectorXd& x) {
        return (Eigen::MatrixXd(3, 2) << 0.0, 0.0, x[0] < 0.0 ? -1e-2 : 1e-2, 0.0, 0.0, 0.1)
            .finished();
      },
      vector({0.3, 1.0}));
  const LmSummary summary = solve(problem);
  EXPECT_EQ(summary.termination, Termination::kNoFurtherDecrease) << to_string(summary.termination);
  EXPECT_TRUE(is_converged(summary.termination));
  // 1e-7 of the cost of 1 moves x by 1e-7/(2·1e-4) = 5e-4.
  EXPECT_NEAR(problem.parameter_values()[0], 0.0, 1e-3);
  EXPECT_NEAR(problem.parameter_values()[1], 2.0, 1e-3);
  EXPECT_LT(problem.candidates, 150);
}

/// Cost offset² + x⁴, where steps halve x.
FunctionProblem slow_descent(double offset) {
  return FunctionProblem(
      [=](const Eigen::VectorXd& x) {
        return vector({offset, x[0] * x[0]});
      },
      [](const Eigen::VectorXd& x) {
        return vector({0.0, 2.0 * x[0]});
      },
      vector({1.0}));
}

TEST(LevenbergMarquardt, RequiresMoreDecreaseFarFromTheExpectedCost) {
  LmOptions options;
  options.cost_tolerance = options.negligible_decrease = 0.0;
  options.far_cost = 4.5;
  FunctionProblem near = slow_descent(2.0);
  EXPECT_GT(solve(near, options).iterations, 4);
  options.far_cost = 3.5;
  FunctionProblem far = slow_descent(2.0);
  const LmSummary summary = solve(far, options);
  EXPECT_EQ(summary.termination, Termination::kNoFurtherDecrease);
  EXPECT_EQ(summary.iterations, 4) << "the first three gain a quarter, the next a 64th";
}

// With the gradient's sign wrong no damping gives descent. The solver must report that after
// finitely many trials and not move the point.
TEST(LevenbergMarquardt, AscentDirectionIsNeverTaken) {
  FunctionProblem problem([](const Eigen::VectorXd& x) { return Eigen::VectorXd(x); },
                          [](const Eigen::VectorXd&) { return -Eigen::MatrixXd::Identity(2, 2); },
                          vector({1.0, 2.0}));
  const LmSummary summary = solve(problem);
  EXPECT_EQ(summary.termination, Termination::kNumericalFailure);
  EXPECT_EQ(problem.parameter_values(), vector({1.0, 2.0}));
  EXPECT_EQ(summary.cost, 5.0);
  EXPECT_LT(problem.candidates, 50);
}

// Two parameters act only through their sum and a third has no effect. The solver must converge at
// the usual speed and hardly move along the null directions.
TEST(LevenbergMarquardt, ConvergesDespiteNullDirections) {
  FunctionProblem problem(
      [](const Eigen::VectorXd& x) {
        return vector({std::exp(x[0] + x[1]) - 2.0, x[3] - 4.0, x[3] * x[3] - 15.0});
      },
      [](const Eigen::VectorXd& x) {
        const double e = std::exp(x[0] + x[1]);
        return (Eigen::MatrixXd(3, 4) << e, e, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2.0 * x[3]).finished();
      },
      vector({0.2, 0.4, 5.0, 1.0}));
  const LmSummary summary = solve(problem);
  EXPECT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
  EXPECT_LE(summary.iterations, 8);
  EXPECT_NEAR(problem.parameter_values()[0] + problem.parameter_values()[1], std::log(2.0), 1e-9);
  EXPECT_NEAR(problem.parameter_values()[0] - problem.parameter_values()[1], -0.2, 1e-3);
  EXPECT_EQ(problem.parameter_values()[2], 5.0);
}

TEST(LevenbergMarquardt, StopFlagEndsBetweenIterations) {
  FunctionProblem problem = rosenbrock({-1.2, 1.0});
  std::atomic<bool> stop = false;
  const LmSummary summary = solve(
      problem, {}, [&](const IterationRecord& record) { stop = record.iteration >= 2; }, &stop);
  EXPECT_EQ(summary.termination, Termination::kCancelled);
  EXPECT_EQ(summary.iterations, 2);
  EXPECT_EQ(summary.cost, problem.cost());

  FunctionProblem untouched = rosenbrock({-1.2, 1.0});
  EXPECT_EQ(solve(untouched, {}, {}, &stop).termination, Termination::kCancelled);
  EXPECT_EQ(untouched.linearizations, 0);
}

TEST(LevenbergMarquardt, IterationLimitIsReported) {
  FunctionProblem problem = rosenbrock({-1.2, 1.0});
  LmOptions options;
  options.max_iterations = 2;
  const LmSummary summary = solve(problem, options);
  EXPECT_EQ(summary.termination, Termination::kMaxIterations);
  EXPECT_EQ(summary.iterations, 2);
}

// At a perfect fit cost and gradient are zero, so nothing may be divided by them.
TEST(LevenbergMarquardt, ConvergesImmediatelyFromTheOptimum) {
  FunctionProblem problem = rosenbrock({1.0, 1.0});
  const LmSummary summary = solve(problem);
  EXPECT_EQ(summary.termination, Termination::kGradientTolerance);
  EXPECT_EQ(summary.iterations, 0);
}

/// Values of one parameter, which a step may change by the factor `growth` at most, until it is
/// close to the target.
std::vector<double> way(double start, double target, double growth) {
  FunctionProblem problem([=](const Eigen::VectorXd& x) { return vector({x[0] - target}); },
                          [](const Eigen::VectorXd&) { return Eigen::MatrixXd::Ones(1, 1); },
                          vector({start}));
  problem.growth = vector({growth});
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
