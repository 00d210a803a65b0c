#include "estimator/model/inertia/inertia_parameterization.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>
#include <random>

namespace estimator {
namespace {

constexpr InertiaParameterization kCharts[] = {InertiaParameterization::kLogCholesky,
                                               InertiaParameterization::kExponentialEigenvalue};
const Eigen::Array<bool, 3, 1> kAllProducts(true, true, true);

Moments possible(const Eigen::Vector3d& second, const Eigen::Vector3d& turn) {
  const Eigen::Matrix3d R = Eigen::AngleAxisd(turn.norm(), turn.normalized()).toRotationMatrix();
  return moments_of_inertia(second_moments_to_inertia(R * second.asDiagonal() * R.transpose()));
}

double least_second_moment(const Moments& moments) {
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(
             inertia_to_second_moments(inertia_matrix(moments)))
      .eigenvalues()[0];
}

/// Generic, axially symmetric, a sphere, nearly flat.
std::vector<Moments> bodies() {
  return {possible({1e-3, 4e-3, 9e-3}, {0.4, -1.1, 0.3}), possible({2e-3, 2e-3, 9e-3}, {1, 0, 0}),
          possible({5e-3, 5e-3, 5e-3}, {0, 1, 0}), possible({1e-7, 3e-3, 9e-3}, {0.2, 0.9, -0.7})};
}

// The parameterization must reproduce its reference inertia. Catches a lost rotation, and a lower
// triangular U.
TEST(InertiaParameterization, ContainsItsReference) {
  for (const InertiaParameterization kind : kCharts) {
    for (const Moments& body : bodies()) {
      const SecondMomentParameterization chart(kind, kAllProducts, body);
      // U of the flat one loses digits of its least second moment, 1e-5 of the largest.
      EXPECT_LT((chart.moments_of_inertia(chart.start()) - body).norm(), 1e-12 * body.norm());
    }
  }
}

TEST(InertiaParameterization, SlopesMatchCentralDifferences) {
  constexpr double kStep = 1e-5;
  for (const InertiaParameterization kind : kCharts) {
    for (const Moments& body : bodies()) {
      const SecondMomentParameterization chart(kind, kAllProducts, body);
      Eigen::VectorXd at = chart.start();
      at.tail(3).array() += 0.01;  // also off the symmetric point
      const Eigen::MatrixXd slopes = chart.moment_derivatives(at);
      for (int i = 0; i < chart.size(); ++i) {
        const Eigen::VectorXd step = kStep * Eigen::VectorXd::Unit(chart.size(), i);
        const Moments expected =
            (chart.moments_of_inertia(at + step) - chart.moments_of_inertia(at - step)) /
            (2 * kStep);
        // O(step²) of moments of 1e-2, and their rounding over the step.
        EXPECT_LT((slopes.col(i) - expected).norm(), 1e-11) << static_cast<int>(kind) << " " << i;
      }
    }
  }
}

// Any step gives a physically consistent inertia, even one of ten units, which overshoots by far.
TEST(InertiaParameterization, AnyStepYieldsAConsistentInertia) {
  std::mt19937 random(7);
  std::normal_distribution<double> gaussian;
  for (const InertiaParameterization kind : kCharts) {
    for (const Moments& body : bodies()) {
      const SecondMomentParameterization chart(kind, kAllProducts, body);
      for (int draw = 0; draw < 200; ++draw) {
        Eigen::VectorXd step = Eigen::VectorXd::NullaryExpr(6, [&] { return gaussian(random); });
        step.head<3>() *= 10.0;
        if (kind == InertiaParameterization::kLogCholesky)
          step.tail<3>() *= 0.1;  // as large as U is
        const Eigen::VectorXd at = chart.moved(chart.start(), step).cwiseMax(chart.lower());
        const Moments moved = chart.moments_of_inertia(at);
        ASSERT_TRUE(is_physically_consistent(inertia_matrix(moved)));
        // As far as moments of such ratios resolve it: their differences have round-off.
        ASSERT_GT(least_second_moment(moved), -1e-14 * moved.cwiseAbs().maxCoeff());
      }
    }
  }
}

// Upward, a step is that of the linear model; downward it never passes zero.
TEST(InertiaParameterization, StepsGrowAsInALinearModel) {
  EXPECT_DOUBLE_EQ(apply_logarithm_step(2.0, 500.0), 1002.0);
  EXPECT_DOUBLE_EQ(apply_logarithm_step(2.0, -3.0), 2.0 * std::exp(-3.0));
  const Moments ball = bodies()[2];
  const SecondMomentParameterization chart(InertiaParameterization::kLogCholesky,
                                           {false, false, false}, ball);
  ASSERT_EQ(chart.size(), 3);
  const Eigen::Vector3d step(0.0, 0.0, 4.0);
  const Moments linear = ball + chart.moment_derivatives(chart.start()) * step;
  EXPECT_LT((chart.moments_of_inertia(chart.moved(chart.start(), step)) - linear).norm(), 1e-15);
}

// Products fixed at zero stay there, whichever one is free.
TEST(InertiaParameterization, FixesProductsAtZero) {
  for (int product = 0; product < 3; ++product) {
    Moments body = moments_of_inertia(
        second_moments_to_inertia(Eigen::Vector3d(1e-3, 4e-3, 9e-3).asDiagonal()));
    body[3 + product] = 1e-3;
    Eigen::Array<bool, 3, 1> free(false, false, false);
    free[product] = true;
    const SecondMomentParameterization chart(InertiaParameterization::kExponentialEigenvalue, free,
                                             body);
    ASSERT_EQ(chart.size(), 4);
    EXPECT_LT((chart.moments_of_inertia(chart.start()) - body).norm(), 1e-15);
    const Moments moved =
        chart.moments_of_inertia(chart.start() + Eigen::Vector4d(0.3, -0.2, 0.1, 0.01));
    for (int other = 0; other < 3; ++other) {
      if (other == product) continue;
      EXPECT_EQ(moved[3 + other], 0.0);
      EXPECT_EQ(chart.moment_derivatives(chart.start()).row(3 + other).norm(), 0.0);
    }
  }
}

// A flat body is put on the boundary, not at minus infinity.
TEST(InertiaParameterization, AFlatBodyIsAtTheFeasibilityBoundary) {
  const Moments sheet = possible({0.0, 3e-3, 9e-3}, {0.3, 0.2, 0.1});
  for (const InertiaParameterization kind : kCharts) {
    const SecondMomentParameterization chart(kind, kAllProducts, sheet);
    EXPECT_TRUE(chart.start().allFinite());
    EXPECT_TRUE((chart.start().array() >= chart.lower().array()).all());
    EXPECT_NEAR(least_second_moment(chart.moments_of_inertia(chart.start())),
                feasibility_boundary(9e-3), 1e-3 * feasibility_boundary(9e-3));
  }
}

}  // namespace
}  // namespace estimator
