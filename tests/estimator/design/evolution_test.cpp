#include <gtest/gtest.h>

#include <Eigen/QR>

#include <cmath>
#include <limits>
#include <vector>

#include "estimator/design/cma_es.hpp"

namespace estimator {
namespace {

template <typename Cost>
CmaEs searched(const Eigen::VectorXd& start, double spread, int rounds, const Cost& cost) {
  CmaEs evolution(start, spread, 16, 1);
  for (int k = 0; k < rounds; ++k) {
    const Eigen::MatrixXd points = evolution.ask();
    std::vector<double> costs;
    for (const auto& point : points.colwise()) costs.push_back(cost(point));
    evolution.update_distribution(costs);
  }
  return evolution;
}

// A curved valley a hundred times as steep as it is long. With a wrong rank-one or rank-μ update of
// the covariance the search crawls along it and ends far off.
TEST(CmaEs, MinimizesACurvedValley) {
  const auto rosenbrock = [](const Eigen::VectorXd& x) {
    double sum = 0.0;
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
      sum += 100.0 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1.0 - x[i], 2);
    }
    return sum;
  };
  const CmaEs evolution = searched(Eigen::VectorXd::Zero(5), 0.3, 400, rosenbrock);
  EXPECT_LT(rosenbrock(evolution.best()), 1e-10);
  EXPECT_LT((evolution.best() - Eigen::VectorXd::Ones(5)).norm(), 1e-4);
}

// Scales that differ by a factor of 1000, in directions off the axes.
TEST(CmaEs, LearnsScalesAndDirections) {
  Eigen::MatrixXd turn = Eigen::MatrixXd::Random(6, 6).householderQr().householderQ();
  const Eigen::VectorXd scales =
      Eigen::VectorXd::LinSpaced(6, 0.0, 3.0).unaryExpr([](double e) { return std::pow(10.0, e); });
  const auto bowl = [&](const Eigen::VectorXd& x) {
    return (scales.asDiagonal() * turn * x).squaredNorm();
  };
  EXPECT_LT(bowl(searched(Eigen::VectorXd::Ones(6), 0.5, 300, bowl).best()), 1e-10);
}

// Only the ranking counts: infeasible points, even all but one, do no harm.
TEST(CmaEs, HandlesPointsWithoutFiniteCost) {
  const auto half = [](const Eigen::VectorXd& x) {
    if (x[0] < 0.5) return std::numeric_limits<double>::quiet_NaN();
    return x.squaredNorm();
  };
  const CmaEs evolution = searched(Eigen::Vector2d(3.0, 3.0), 0.5, 100, half);
  EXPECT_NEAR(half(evolution.best()), 0.25, 1e-4);
}

TEST(CmaEs, IsDeterministicForItsSeed) {
  CmaEs one(Eigen::VectorXd::Zero(3), 1.0, 8, 5), same(Eigen::VectorXd::Zero(3), 1.0, 8, 5);
  CmaEs other(Eigen::VectorXd::Zero(3), 1.0, 8, 6);
  const Eigen::MatrixXd points = one.ask();
  EXPECT_EQ(points, same.ask());
  EXPECT_NE(points, other.ask());
}

}  // namespace
}  // namespace estimator
