#include "estimator/math/decompositions.hpp"

#include <gtest/gtest.h>

#include <random>

namespace estimator {
namespace {

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

Eigen::MatrixXd random_covariance(Eigen::Index n, unsigned seed) {
  const Eigen::MatrixXd root = random_matrix(n, n + 2, seed);
  return root * root.transpose();
}

double largest(const Eigen::MatrixXd& A) { return A.cwiseAbs().maxCoeff(); }

TEST(SymmetricEigen, ReproducesTheMatrixWithAscendingEigenvalues) {
  const Eigen::MatrixXd A = random_covariance(7, 1) - 5.0 * Eigen::MatrixXd::Identity(7, 7);
  Eigen::MatrixXd lower = A;  // entries above the diagonal are not read
  lower.triangularView<Eigen::StrictlyUpper>().setConstant(1e3);
  const SymmetricEigen eigen = symmetric_eigen(lower);
  EXPECT_LT(largest(eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose() - A),
            1e-12);
  EXPECT_LT(largest(eigen.vectors.transpose() * eigen.vectors - Eigen::MatrixXd::Identity(7, 7)),
            1e-13);
  for (Eigen::Index k = 1; k < 7; ++k) EXPECT_LE(eigen.values[k - 1], eigen.values[k]);
}

TEST(SymmetricEigen, OfThreeRowsMatchesTheGeneralDecomposition) {
  const Eigen::Matrix3d A = random_covariance(3, 2);
  const SymmetricEigen3 eigen = symmetric_eigen3(A);
  EXPECT_LT(largest(eigen.values - symmetric_eigen(A).values), 1e-13);
  EXPECT_LT(largest(A * eigen.vectors - eigen.vectors * eigen.values.asDiagonal()), 1e-13);
}

TEST(GeneralizedEigen, SolvesBothConditions) {
  const Eigen::MatrixXd K = random_covariance(5, 3) - 4.0 * Eigen::MatrixXd::Identity(5, 5);
  const Eigen::MatrixXd M = random_covariance(5, 4);
  const SymmetricEigen eigen = generalized_eigen(K, M);
  EXPECT_LT(largest(K * eigen.vectors - M * eigen.vectors * eigen.values.asDiagonal()), 1e-11);
  EXPECT_LT(
      largest(eigen.vectors.transpose() * M * eigen.vectors - Eigen::MatrixXd::Identity(5, 5)),
      1e-12);
}

TEST(SymmetricFactor, SolvesForVectorsAndMatrices) {
  const Eigen::MatrixXd A = random_covariance(6, 5) - 6.0 * Eigen::MatrixXd::Identity(6, 6);
  const SymmetricFactor factor(A);
  ASSERT_TRUE(factor.ok());
  const Eigen::VectorXd b = random_matrix(6, 1, 6);
  const Eigen::MatrixXd B = random_matrix(6, 3, 7);
  const Eigen::VectorXd x = factor.solve(b);
  EXPECT_LT(largest(A * x - b), 1e-12);
  EXPECT_LT(largest(A * factor.solve(B.leftCols(2)) - B.leftCols(2)), 1e-12);
  EXPECT_LT(largest(A * factor.inverse() - Eigen::MatrixXd::Identity(6, 6)), 1e-12);
}

TEST(SymmetricFactor, ReportsTheRowWithoutPivot) {
  Eigen::MatrixXd A = random_covariance(4, 8);
  A.row(1).setZero();
  A.col(1).setZero();
  const SymmetricFactor factor(A);
  const Eigen::VectorXd pivots = factor.pivots();
  const Eigen::VectorXi order = factor.order();
  for (Eigen::Index k = 0; k < 4; ++k) {
    if (order[k] == 1) {
      EXPECT_EQ(pivots[k], 0.0);
    } else {
      EXPECT_GT(pivots[k], 0.1);
    }
  }
  EXPECT_EQ(order.sum(), 6);
}

TEST(SymmetricFactor, ReportsASingularPivot) {
  EXPECT_FALSE(SymmetricFactor((Eigen::Matrix2d() << 0.0, 1.0, 1.0, 0.0).finished()).ok());
  EXPECT_TRUE(SymmetricFactor(Eigen::Matrix2d::Identity()).ok());
}

// Also with few rows: a short recording has fewer equations than unknowns.
TEST(TriangularFactor, HasTheSquareOfTheMatrix) {
  for (const Eigen::Index rows : {40, 5, 3}) {
    const Eigen::MatrixXd A = random_matrix(rows, 5, 15);
    Eigen::MatrixXd overwritten = A;
    const Eigen::MatrixXd R = triangular_factor(overwritten);
    ASSERT_EQ(R.rows(), 5);
    EXPECT_LT(largest(R.transpose() * R - A.transpose() * A), 1e-12) << rows;
    EXPECT_EQ(largest(R.triangularView<Eigen::StrictlyLower>().toDenseMatrix()), 0.0);
  }
}

TEST(LeastSquares, ReturnsTheMinimumNormSolution) {
  const Eigen::MatrixXd tall = random_matrix(8, 3, 9);
  Eigen::MatrixXd A(8, 4);
  A << tall, tall.col(0) + tall.col(1);  // the last column is a linear combination
  const Eigen::VectorXd b = random_matrix(8, 1, 10);
  const Eigen::VectorXd x = least_squares(A, b);
  EXPECT_LT(largest(A.transpose() * (A * x - b)), 1e-12);
  const Eigen::Vector4d unseen(1.0, 1.0, 0.0, -1.0);
  EXPECT_NEAR(x.dot(unseen), 0.0, 1e-13);
  EXPECT_LT(largest(x - pseudo_inverse(A) * b), 1e-12);
}

TEST(LeastSquares, OmitsDirectionsBelowTheTolerance) {
  const Eigen::MatrixXd A = Eigen::Vector3d(1.0, 1e-3, 0.5).asDiagonal();
  const Eigen::Vector3d b(1.0, 1.0, 1.0);
  EXPECT_NEAR(least_squares(A, b)[1], 1e3, 1e-9);
  EXPECT_NEAR(least_squares(A, b, 1e-2)[1], 0.0, 1e-12);
  EXPECT_NEAR(pseudo_inverse(A)(1, 1), 1e3, 1e-9);
  EXPECT_NEAR(pseudo_inverse(A, 1e-2)(1, 1), 0.0, 1e-12);
}

TEST(NullSpace, ContainsExactlyTheNullDirections) {
  Eigen::MatrixXd G = random_matrix(3, 6, 11);
  G.row(2) = G.row(0) - 2.0 * G.row(1);
  const Eigen::MatrixXd Z = null_space(G);
  ASSERT_EQ(Z.cols(), 4);
  EXPECT_LT(largest(G * Z), 1e-13);
  EXPECT_LT(largest(Z.transpose() * Z - Eigen::MatrixXd::Identity(4, 4)), 1e-13);
  G.row(2) += 1e-6 * random_matrix(1, 6, 12);
  EXPECT_EQ(null_space(G).cols(), 3);
  EXPECT_EQ(null_space(G, 1e-4).cols(), 4);
}

TEST(SolveSquare, SolvesAllColumns) {
  const Eigen::MatrixXd A = random_matrix(5, 5, 13), B = random_matrix(5, 2, 14);
  EXPECT_LT(largest(A * solve_square_system(A, B) - B), 1e-12);
}

}  // namespace
}  // namespace estimator
