#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
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

}  // namespace
}  // namespace estimator
