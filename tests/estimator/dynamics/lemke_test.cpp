#include "estimator/math/lemke.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>
#include <vector>

namespace estimator {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Lemke : public ::testing::Test {
 protected:
  static constexpr unsigned kSeed = 20240611;

  MatrixXd gaussian(int rows, int cols) {
    return MatrixXd::NullaryExpr(rows, cols, [&] { return normal_(engine_); });
  }
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  // Positive definite, not symmetric: a P-matrix, so the solution exists and is unique.
  MatrixXd p_matrix(int n) {
    const MatrixXd A = gaussian(n, n), K = gaussian(n, n);
    return A * A.transpose() + 0.1 * MatrixXd::Identity(n, n) + K - K.transpose();
  }

  std::mt19937 engine_{kSeed};
  std::normal_distribution<double> normal_;
};

// All solutions with a regular active set, by trying each of the 2ⁿ sets.
std::vector<VectorXd> enumerate_solutions(const MatrixXd& H, const VectorXd& q, double tolerance) {
  const int n = static_cast<int>(q.size());
  std::vector<VectorXd> solutions;
  for (int mask = 0; mask < (1 << n); ++mask) {
    std::vector<int> active;
    for (int i = 0; i < n; ++i) {
      if (mask >> i & 1) active.push_back(i);
    }
    VectorXd z = VectorXd::Zero(n);
    if (!active.empty()) {
      const Eigen::FullPivLU<MatrixXd> lu(H(active, active));
      if (!lu.isInvertible()) continue;
      z(active) = lu.solve(-q(active).eval());
    }
    if (z.minCoeff() >= -tolerance && (H * z + q).minCoeff() >= -tolerance) solutions.push_back(z);
  }
  return solutions;
}

double complementarity_error(const MatrixXd& H, const VectorXd& q, const VectorXd& z) {
  const VectorXd w = H * z + q;
  const double infeasibility = std::max(-z.minCoeff(), -w.minCoeff());
  return std::max(infeasibility, z.cwiseProduct(w).cwiseAbs().maxCoeff());
}

// A wrong ratio test, complement or first pivot gives another basis or a ray. The tolerance is
// round-off times the condition of the active block (at most 1e5 with the shift of 0.1).
TEST_F(Lemke, FindsTheOnlySolutionOfPMatrices) {
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " trial " << trial);
    const int n = pick(1, 7);
    const MatrixXd H = p_matrix(n);
    const VectorXd q = gaussian(n, 1);
    const ComplementaritySolution solution = solve_linear_complementarity(H, q);
    ASSERT_EQ(solution.outcome, ComplementarityOutcome::kSolved);
    const std::vector<VectorXd> expected = enumerate_solutions(H, q, 1e-12);
    ASSERT_EQ(expected.size(), 1u);
    ASSERT_LT((solution.z - expected[0]).cwiseAbs().maxCoeff(), 1e-9);
    ASSERT_LT((solution.w - (H * solution.z + q)).cwiseAbs().maxCoeff(), 1e-9);
  }
}

// Strictly copositive (nonnegative with a positive diagonal): always solvable, often with several
// solutions; Lemke must return one of them and never a ray.
TEST_F(Lemke, SolvesEveryStrictlyCopositiveProblem) {
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " trial " << trial);
    const int n = pick(1, 6);
    const MatrixXd H = gaussian(n, n).cwiseAbs() + 0.05 * MatrixXd::Identity(n, n);
    const VectorXd q = gaussian(n, 1);
    const ComplementaritySolution solution = solve_linear_complementarity(H, q);
    ASSERT_EQ(solution.outcome, ComplementarityOutcome::kSolved);
    ASSERT_LT(complementarity_error(H, q, solution.z), 1e-8);
    bool listed = false;
    for (const VectorXd& z : enumerate_solutions(H, q, 1e-10)) {
      listed = listed || (z - solution.z).cwiseAbs().maxCoeff() < 1e-7;
    }
    ASSERT_TRUE(listed);
  }
}

// Singular positive semidefinite plus skew is copositive-plus: a ray proves that there is no
// solution. Integers give exact dependencies, on which a ratio test without a rule cycles.
TEST_F(Lemke, ReportsARayOnlyWithoutASolution) {
  int rays = 0, solved = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " trial " << trial);
    const int n = pick(2, 5), rank = pick(1, n - 1);
    const auto integer = [&] { return static_cast<double>(pick(-2, 2)); };
    const MatrixXd A = MatrixXd::NullaryExpr(n, rank, integer);
    const MatrixXd K = MatrixXd::NullaryExpr(n, n, integer);
    const MatrixXd H = A * A.transpose() + (trial % 2 ? 1.0 : 0.0) * (K - K.transpose());
    const VectorXd q = VectorXd::NullaryExpr(n, integer);
    const ComplementaritySolution solution = solve_linear_complementarity(H, q);
    ASSERT_NE(solution.outcome, ComplementarityOutcome::kMaxPivots);
    const bool solvable = !enumerate_solutions(H, q, 1e-10).empty();
    if (solution.outcome == ComplementarityOutcome::kSolved) {
      ++solved;
      ASSERT_LT(complementarity_error(H, q, solution.z), 1e-9);
    } else {
      ++rays;
      ASSERT_FALSE(solvable) << "H =\n" << H << "\nq = " << q.transpose();
    }
  }
  EXPECT_GT(rays, 200);
  EXPECT_GT(solved, 200);
}

// Dependencies in every ratio: many equal right-hand sides. A cycle would end in kMaxPivots.
TEST_F(Lemke, DoesNotCycleOnDegenerateProblems) {
  for (int n = 1; n <= 30; ++n) {
    const MatrixXd H = MatrixXd::Identity(n, n) + MatrixXd::Ones(n, n);
    const VectorXd q = VectorXd::Constant(n, -1.0);
    const ComplementaritySolution solution = solve_linear_complementarity(H, q);
    ASSERT_EQ(solution.outcome, ComplementarityOutcome::kSolved) << n;
    EXPECT_LT((solution.z.array() - 1.0 / (n + 1.0)).abs().maxCoeff(), 1e-14) << n;
  }
}

TEST_F(Lemke, ReturnsZeroIfQIsNotNegative) {
  const ComplementaritySolution solution =
      solve_linear_complementarity(-MatrixXd::Identity(2, 2), Eigen::Vector2d(0.0, 3.0));
  EXPECT_EQ(solution.outcome, ComplementarityOutcome::kSolved);
  EXPECT_EQ(solution.z, Eigen::Vector2d(0.0, 0.0));
  EXPECT_EQ(solution.w, Eigen::Vector2d(0.0, 3.0));
}

TEST_F(Lemke, StopsAtTheLimitOfPivots) {
  const ComplementaritySolution solution =
      solve_linear_complementarity(p_matrix(6), VectorXd::Constant(6, -1.0), 1);
  EXPECT_EQ(solution.outcome, ComplementarityOutcome::kMaxPivots);
  EXPECT_EQ(solution.z, VectorXd::Zero(6));
}

}  // namespace
}  // namespace estimator
