#include "estimator/optimize/box_step.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace estimator {
namespace {

struct BoxProblem {
  Eigen::MatrixXd S;
  Eigen::VectorXd s;
  Eigen::VectorXd scale;
  Eigen::VectorXd lower;
  Eigen::VectorXd upper;

  double value(const Eigen::VectorXd& x) const { return 0.5 * x.dot(S * x) + s.dot(x); }
};

// Smallest value over all 3^p choices of lower, free and upper per variable: minimizes over the
// free ones and keeps feasible results.
double brute_force_minimum(const BoxProblem& problem) {
  const int p = static_cast<int>(problem.s.size());
  int choices = 1;
  for (int i = 0; i < p; ++i) choices *= 3;
  double best = std::numeric_limits<double>::infinity();
  for (int choice = 0; choice < choices; ++choice) {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(p);
    std::vector<int> free;
    for (int i = 0, rest = choice; i < p; ++i, rest /= 3) {
      if (rest % 3 == 0) free.push_back(i);
      if (rest % 3 == 1) x[i] = problem.lower[i];
      if (rest % 3 == 2) x[i] = problem.upper[i];
    }
    if (!x.allFinite()) continue;
    if (!free.empty()) {
      const Eigen::VectorXd gradient = problem.S * x + problem.s;
      const Eigen::VectorXd inner = -problem.S(free, free).llt().solve(gradient(free));
      for (std::size_t k = 0; k < free.size(); ++k) x[free[k]] = inner[static_cast<int>(k)];
    }
    const double slack = 1e-12;
    if (((x - problem.lower).array() < -slack).any()) continue;
    if (((problem.upper - x).array() < -slack).any()) continue;
    best = std::min(best, problem.value(x));
  }
  return best;
}

BoxProblem random_problem(int p, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto draw = [&](int m, int n) {
    return Eigen::MatrixXd(Eigen::MatrixXd::NullaryExpr(m, n, [&] { return normal(random); }));
  };
  const Eigen::MatrixXd A = draw(p + 1, p);
  const Eigen::VectorXd unit =  // parameters in units up to 1e6 apart
      Eigen::VectorXd::NullaryExpr(p, [&] { return std::pow(10.0, 6.0 * uniform(random) - 3.0); });
  BoxProblem problem;
  problem.S = unit.asDiagonal() * A.transpose() * A * unit.asDiagonal();
  problem.s = unit.cwiseProduct(draw(p, 1));
  problem.scale = problem.S.diagonal();
  problem.lower.resize(p);
  problem.upper.resize(p);
  for (int i = 0; i < p; ++i) {
    const double kind = uniform(random);
    const double room = 0.5 / unit[i];
    problem.lower[i] = kind < 0.3 ? 0.0 : -room * uniform(random);  // at its bound already
    problem.upper[i] = kind > 0.7 ? 0.0 : room * uniform(random);
    if (kind > 0.95) problem.lower[i] = 0.0;  // fixed
    if (kind > 0.1 && kind < 0.15) problem.upper[i] = std::numeric_limits<double>::infinity();
    if (kind > 0.5 && kind < 0.55) problem.lower[i] = -std::numeric_limits<double>::infinity();
  }
  return problem;
}

// The optimum over all active sets, on thousands of problems with variables at their bounds, fixed,
// half-bounded and badly scaled. Catches a bound never released, a wrong sign of a multiplier, and
// an iteration that stops early.
TEST(BoundedStep, MatchesTheBestOfAllActiveSets) {
  std::mt19937 random(42);
  int with_active_bounds = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    SCOPED_TRACE(trial);
    const int p = 1 + trial % 6;
    const BoxProblem problem = random_problem(p, random);
    const BoundedStep result =
        solve_bounded_step(problem.S, problem.s, problem.scale, problem.lower, problem.upper);
    ASSERT_TRUE((result.step.array() >= problem.lower.array()).all());
    ASSERT_TRUE((result.step.array() <= problem.upper.array()).all());
    const double expected = brute_force_minimum(problem);
    ASSERT_NEAR(problem.value(result.step), expected, 1e-9 * (1.0 + std::abs(expected)));
    for (int i = 0; i < p; ++i) {
      if (result.at_bound[i] == 0) continue;
      ASSERT_EQ(result.step[i], result.at_bound[i] < 0 ? problem.lower[i] : problem.upper[i]);
    }
    with_active_bounds += result.at_bound.any() ? 1 : 0;
  }
  EXPECT_GT(with_active_bounds, 3000);  // bounds are active
}

// Two parameters with one and the same effect: S is singular, up to rounding even indefinite. The
// step must stay bounded and still minimise.
TEST(BoundedStep, HasABoundedMinimizerForASingularMatrix) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double rounding : {-1e-16, 0.0, 1e-16}) {
    Eigen::MatrixXd S(3, 3);
    S << 4.0, 4.0, 1.0, 4.0, 4.0 * (1.0 + rounding), 1.0, 1.0, 1.0, 2.0;
    const Eigen::Vector3d s(-4.0, -4.0, 3.0);
    const BoundedStep result =
        solve_bounded_step(S, s, S.diagonal(), Eigen::Vector3d::Constant(-infinity),
                           Eigen::Vector3d::Constant(infinity));
    EXPECT_LT((S * result.step + s).norm(), 1e-6);
    EXPECT_LT(result.step.norm(), 10.0);
  }
}

// A parameter without any effect must not move, and a zero matrix must not be divided by.
TEST(BoundedStep, LeavesAParameterWithoutEffectUnchanged) {
  Eigen::MatrixXd S = Eigen::MatrixXd::Zero(2, 2);
  S(0, 0) = 2.0;
  const BoundedStep result =
      solve_bounded_step(S, Eigen::Vector2d(-2.0, 0.0), Eigen::Vector2d(2.0, 1.0),
                         Eigen::Vector2d(-5.0, -5.0), Eigen::Vector2d(5.0, 5.0));
  EXPECT_NEAR(result.step[0], 1.0, 1e-14);
  EXPECT_EQ(result.step[1], 0.0);
  const BoundedStep nothing = solve_bounded_step(
      Eigen::MatrixXd::Zero(2, 2), Eigen::Vector2d::Zero(), Eigen::Vector2d::Ones(),
      Eigen::Vector2d(-5.0, -5.0), Eigen::Vector2d(5.0, 5.0));
  EXPECT_EQ(nothing.step, Eigen::Vector2d(0.0, 0.0));
}

// Curvature below the floor is treated as round-off and raised to it, so the step along it is
// limited. Just above, it is used unchanged. A zero matrix is replaced by the identity. All in the
// scaled matrix, independent of units.
TEST(BoundedStep, CurvatureBelowTheFloorIsRaisedToIt) {
  const double infinity = std::numeric_limits<double>::infinity();
  constexpr double kLargest = 100.0;  // eigenvalue of the scaled matrix
  const auto step_with = [&](double curvature, double unit) {
    const Eigen::Vector2d scale(1.0, unit * unit);
    const Eigen::Matrix2d S =
        scale.cwiseProduct(kLargest * Eigen::Vector2d(1.0, curvature)).asDiagonal();
    const Eigen::Vector2d s(0.0, 1e-14 * kLargest * unit);
    return unit * solve_bounded_step(S, s, scale, Eigen::Vector2d::Constant(-infinity),
                                     Eigen::Vector2d::Constant(infinity))
                      .step[1];
  };
  for (const double unit : {1.0, 1e6}) {
    EXPECT_NEAR(step_with(0.5 * kEigenvalueFloor, unit), -1.0, 1e-6);
    EXPECT_NEAR(step_with(-1e-16, unit), -1.0, 1e-6);
    EXPECT_NEAR(step_with(2.0 * kEigenvalueFloor, unit), -0.5, 1e-6);
    EXPECT_NEAR(step_with(1e-3, unit), -1e-11, 1e-17);
  }
  const BoundedStep none = solve_bounded_step(
      Eigen::Matrix2d::Zero(), Eigen::Vector2d(0.5, -2.0), Eigen::Vector2d::Ones(),
      Eigen::Vector2d::Constant(-infinity), Eigen::Vector2d::Constant(infinity));
  EXPECT_EQ(none.step, Eigen::Vector2d(-0.5, 2.0));
}

// Descent along a null direction ends at the box, not at infinity.
TEST(BoundedStep, EndsAtTheBoundWithoutCurvature) {
  const Eigen::MatrixXd S = Eigen::MatrixXd::Constant(2, 2, 1.0);
  const BoundedStep result =
      solve_bounded_step(S, Eigen::Vector2d(1.0, -1.0), Eigen::Vector2d::Ones(),
                         Eigen::Vector2d(-1.0, -2.0), Eigen::Vector2d(3.0, 4.0));
  EXPECT_EQ(result.step[0], -1.0);
  EXPECT_NEAR(result.step[1], 2.0, 1e-6);
}

}  // namespace
}  // namespace estimator
