#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "estimator/assessment/identifiability/inertia_results.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"

namespace estimator {
namespace {

using Covariance = Eigen::Matrix<double, 6, 6>;

double cost(const Moments& step, const Covariance& covariance) {
  return step.dot(covariance.ldlt().solve(step));
}

// Compared with many physically consistent bodies: none fits the data better.
TEST(NearestConsistentInertia, HasTheSmallestCostIncrease) {
  std::mt19937 random(5);
  std::normal_distribution<double> gaussian;
  const Moments moments = (Moments() << 1.0, 2.0, 3.6, 0.3, -0.2, 0.1).finished();
  ASSERT_FALSE(is_physically_consistent(inertia_matrix(moments)));
  const Covariance A = Covariance::NullaryExpr([&] { return 0.3 * gaussian(random); });
  const Covariance covariance = A * A.transpose() + 0.01 * Covariance::Identity();
  const auto nearest = find_nearest_consistent_inertia(moments, covariance);
  ASSERT_TRUE(nearest);
  EXPECT_TRUE(is_physically_consistent(inertia_matrix(nearest->moments)));
  EXPECT_NEAR(nearest->cost, cost(nearest->moments - moments, covariance), 1e-6 * nearest->cost);
  const Eigen::SelfAdjointEigenSolver<Covariance> root(covariance);
  int possible = 0;
  for (int draw = 0; draw < 4000; ++draw) {
    const Eigen::VectorXd shift = Eigen::VectorXd::NullaryExpr(6, [&] { return gaussian(random); });
    const Moments other =
        nearest->moments + std::pow(0.5, draw % 8) * (root.operatorSqrt() * shift);
    if (!is_physically_consistent(inertia_matrix(other))) continue;
    ++possible;
    ASSERT_GE(cost(other - moments, covariance), 0.999 * nearest->cost);
  }
  EXPECT_GT(possible, 200);
}

// Fixed entries stay. If only J_zz may move, it decreases to J_xx + J_yy.
TEST(NearestConsistentInertia, ChangesFreeMomentsOnly) {
  const Moments moments = (Moments() << 1.0, 2.0, 3.6, 0.0, 0.0, 0.0).finished();
  Covariance covariance = Covariance::Zero();
  covariance(2, 2) = 0.04;
  const auto nearest = find_nearest_consistent_inertia(moments, covariance);
  ASSERT_TRUE(nearest);
  EXPECT_NEAR(nearest->moments[2], 3.0, 1e-5);
  EXPECT_EQ(nearest->moments[0], 1.0);
  EXPECT_NEAR(nearest->cost, 9.0, 1e-3);
  EXPECT_FALSE(find_nearest_consistent_inertia(moments, Covariance::Zero()));
  const Moments fine = (Moments() << 1.0, 2.0, 2.5, 0.0, 0.0, 0.0).finished();
  EXPECT_EQ(find_nearest_consistent_inertia(fine, covariance)->cost, 0.0);
}

TEST(NearestConsistentInertiaMatrix, LeavesAConsistentInertiaUnchanged) {
  const Eigen::Matrix3d rod = Eigen::Vector3d(1e-6, 1.0, 1.0).asDiagonal();
  const Eigen::Matrix3d plate = Eigen::Vector3d(1.0, 2.0, 3.0).asDiagonal();
  for (const Eigen::Matrix3d& inertia : {rod, plate}) {
    EXPECT_TRUE(is_physically_consistent(inertia));
    EXPECT_EQ(nearest_consistent_inertia_matrix(1.0, inertia), inertia);
  }
}

TEST(NearestConsistentInertiaMatrix, ProjectsAnInconsistentInertiaOntoTheBoundary) {
  const Eigen::Matrix3d turn =
      Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  const Eigen::Matrix3d J = turn * Eigen::Vector3d(1.0, 2.0, 3.3).asDiagonal() * turn.transpose();
  EXPECT_FALSE(is_physically_consistent(J));
  const Eigen::Matrix3d moved = nearest_consistent_inertia_matrix(1.0, J);
  EXPECT_TRUE(is_physically_consistent(moved));
  const Eigen::Matrix3d inside = turn.transpose() * moved * turn;
  EXPECT_NEAR((inside - Eigen::Matrix3d(inside.diagonal().asDiagonal())).norm(), 0.0, 1e-12);
  // Σ = (2.15, 1.15, −0.15): the last becomes about zero, so J_1 and J_2 rise by 0.15.
  EXPECT_NEAR((inside.diagonal() - Eigen::Vector3d(1.15, 2.15, 3.3)).norm(), 0.0, 1e-5);
}

TEST(NearestConsistentInertiaMatrix, ReplacesAZeroInertiaByASmallOne) {
  const Eigen::Matrix3d grain = nearest_consistent_inertia_matrix(2.0, Eigen::Matrix3d::Zero());
  EXPECT_TRUE(is_physically_consistent(grain));
  EXPECT_NEAR(grain(0, 0), 2.0 * 2.0 * 1e-8, 1e-20);
  EXPECT_TRUE(is_physically_consistent(
      nearest_consistent_inertia_matrix(1.0, -Eigen::Matrix3d::Identity())));
}

}  // namespace
}  // namespace estimator
