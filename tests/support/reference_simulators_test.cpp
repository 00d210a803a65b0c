#include "tests/support/reference_simulators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/evaluation_data.hpp"
#include "tests/support/ode_solver.hpp"

namespace test_support {
namespace {

// Wrong extrapolation weights lower the order: halving the step must divide the error by 2¹⁰.
TEST(OdeSolver, IsOfOrderTen) {
  const OdeSolver solver;
  const OdeFunction f = [](const Eigen::VectorXd& y) -> Eigen::VectorXd {
    return Eigen::Vector2d(y[1], -y[0] * y[0] * y[0]);
  };
  const auto solve = [&](int steps) {
    Eigen::VectorXd y = Eigen::Vector2d(1.0, 0.3);
    double error;
    for (int k = 0; k < steps; ++k) y = solver.step(f, y, 4.0 / steps, &error);
    return y;
  };
  const Eigen::VectorXd exact = solve(400);
  const double coarse = (solve(5) - exact).norm(), fine = (solve(10) - exact).norm();
  EXPECT_NEAR(std::log2(coarse / fine), 10.0, 1.0);
}

// A force that flips inside a step: the error estimate must detect it, or a wrong step is accepted.
TEST(OdeSolver, ResolvesAKinkInsideAStep) {
  OdeSolver solver;
  const OdeFunction f = [](const Eigen::VectorXd& y) -> Eigen::VectorXd {
    return Eigen::Vector2d(1.0, y[0] < 0.0 ? 1.0 : -1.0);
  };
  const Eigen::VectorXd y = solver.advance(f, Eigen::Vector2d(-0.3, 0.0), 1.0);
  EXPECT_NEAR(y[1], 0.3 - 0.7, 1e-8);
}

TEST(ReferencePendulum, HasThePeriodOfTheEllipticIntegral) {
  const ReferencePendulum rig;
  // T = 4 K(sin(θ0/2)) / ω0, K by the arithmetic-geometric mean.
  const double start = 2.5;
  double a = 1.0, b = std::cos(0.5 * start);
  for (int i = 0; i < 10; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  const double omega_0 = std::sqrt(rig.m * rig.g * rig.l / (rig.J + rig.m * rig.l * rig.l));
  const double period = 2.0 * std::numbers::pi / (a * omega_0);
  const Eigen::MatrixXd trajectory = simulate(rig, {start, 0.0}, period / 8.0, 80);  // 10 periods
  EXPECT_NEAR(trajectory(80, 0), start, 1e-8);
  EXPECT_NEAR(trajectory(80, 1), 0.0, 1e-8);
}

TEST(ReferencePendulum, SticksWhereStaticFrictionHolds) {
  ReferencePendulum rig{.tau_c = 0.02, .tau_s = 0.03, .zeta = 4.0};
  const Eigen::MatrixXd trajectory = simulate(rig, {1.0, 0.0}, 0.01, 1000);
  EXPECT_EQ(trajectory(1000, 1), 0.0);
  EXPECT_LE(std::abs(rig.m * rig.g * rig.l * std::sin(trajectory(1000, 0))), rig.tau_s);
}

TEST(ReferenceFuruta, ConservesEnergyWithoutFriction) {
  ReferenceFuruta rig{.tilt = {0.05, 0.0, -0.1}};
  const Eigen::Vector4d start(0.3, 2.0, 1.0, -2.0);
  const Eigen::MatrixXd trajectory = simulate(rig, start, Eigen::VectorXd::Zero(500), 0.01);
  for (int k = 0; k <= 500; k += 50) {
    EXPECT_NEAR(rig.energy(trajectory.row(k).transpose()), rig.energy(start), 1e-9) << k;
  }
}

TEST(ReferenceChain, OfOneLinkIsThePendulum) {
  const ReferenceChain chain{.links = 1};
  ReferencePendulum rig{.m = chain.m, .l = 0.5 * chain.l, .J = chain.J};
  const Eigen::Vector2d start(2.0, 0.5);
  EXPECT_LT(
      (simulate(chain, start, 0.01, 300) - simulate(rig, start, 0.01, 300)).cwiseAbs().maxCoeff(),
      1e-8);
}

// The independent simulator that wrote the evaluation data agrees to the digits of its file (1e-9
// rad, times the growth of an integrator's error over the run).
TEST(ReferenceFuruta, ReproducesTheCleanEvaluationData) {
  const auto folder = find_evaluation_data();
  if (!folder) GTEST_SKIP() << "no evaluation data; set RIG_DATA to its folder";
  const Eigen::MatrixXd data = read_csv(*folder / "synthetic/furuta_paper_release__clean.csv");
  // truth.json, set "paper"
  ReferenceFuruta rig{.J_Azz = 0.0044,
                      .J_Byy = 0.00396,
                      .J_Bzz = 0.0039,
                      .J_shaft = 0.0004,
                      .b_1 = 0.001,
                      .b_2 = 0.0001,
                      .tau_c1 = 0.004,
                      .tau_c2 = 0.0009,
                      .K = 0.0729,
                      .tilt = {0.006, 0.0, -0.004}};
  const Eigen::VectorXd u = data.col(5).head(data.rows() - 1);
  const Eigen::MatrixXd actual = simulate(rig, {0.0, 3.1115926535897933, 0.0, 0.0}, u, 1e-3);
  EXPECT_LT((actual.leftCols(2) - data.middleCols(1, 2)).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(ReferencePendulum, ReproducesTheCleanEvaluationData) {
  const auto folder = find_evaluation_data();
  if (!folder) GTEST_SKIP() << "no evaluation data; set RIG_DATA to its folder";
  const Eigen::MatrixXd data = read_csv(*folder / "synthetic/pend_paper_release__clean.csv");
  // truth.json, set "paper"
  ReferencePendulum rig{.b = 2e-4, .tau_c = 0.006, .tau_s = 0.008, .zeta = 4.0};
  const Eigen::MatrixXd actual =
      simulate(rig, {3.0915926535897933, 0.0}, 1e-3, static_cast<int>(data.rows()) - 1);
  EXPECT_LT((actual.col(0) - data.col(1)).cwiseAbs().maxCoeff(), 1e-7);
}

}  // namespace
}  // namespace test_support
