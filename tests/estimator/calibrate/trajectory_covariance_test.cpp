#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <vector>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"
#include "tests/estimator/dense_problem.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kTracedNoise = 1e-3;  // σ of every weighted residual: angles [rad], impulses/√κ

TrajectorySettings weighted(double state_error_weight) {
  TrajectorySettings settings;
  settings.state_error_weight = state_error_weight;
  return settings;
}

ParameterCovariance covariance_of(const TrajectoryProblem& problem) {
  return compute_covariance(
      compute_information(problem, {.effective_parameters = false}),
      Eigen::VectorXd::Constant(problem.noise_group_count(), kTracedNoise * kTracedNoise));
}

// Every residual is weighted to the same noise, so the covariance of the parameters is a corner of
// the pseudo-inverse of JᵀJ, computed here by a complete orthogonal decomposition of J, without
// that product. The condition number of J reaches 1e6 on this problem, so the normal equations may
// cost half the digits: 1e-5.
TEST(TrajectoryCovariance, MatchesTheDensePseudoInverse) {
  const Mechanism mechanism = furuta_with_12_parameters();
  const TrajectorySettings settings = weighted(1e4);
  const TrajectoryProblem problem(
      mechanism, {simulate_furuta(mechanism, 40, settings.step.step, kTracedNoise, 4)}, settings);
  const ParameterCovariance covariance = covariance_of(problem);
  const Eigen::MatrixXd J = stack(problem).jacobian;
  const Eigen::VectorXd unit = J.colwise().norm().cwiseInverse();
  const Eigen::MatrixXd inverse =
      unit.asDiagonal() *
      Eigen::MatrixXd((J * unit.asDiagonal()).completeOrthogonalDecomposition().pseudoInverse());
  const Eigen::MatrixXd rows = inverse.bottomRows(12);
  const Eigen::MatrixXd expected = kTracedNoise * kTracedNoise * rows * rows.transpose();
  for (int i = 0; i < 12; ++i) {
    EXPECT_NEAR(covariance.standard_deviation[i] / std::sqrt(expected(i, i)), 1.0, 1e-5) << i;
    for (int j = 0; j < i; ++j) {
      const double scale = std::sqrt(expected(i, i) * expected(j, j));
      EXPECT_NEAR(covariance.correlation(i, j), expected(i, j) / scale, 1e-5) << i << ", " << j;
    }
  }
}

// Viscous friction and back-EMF act only as the sum b + K k_e. The trade-off must be found as the
// one null direction, with the ratio K, and the solver must converge in spite of it.
TEST(TrajectoryCovariance, FindsFrictionAndBackEmfInOneNullDirection) {
  Mechanism truth = smooth_furuta({"A.J_zz", "B.J_yy", "1.b", "1.k_e"});
  truth.joint_parameter(0, JointParameter::kBackEmf).value = 0.02;
  Mechanism start = truth;
  disturb_parameters(start, 1.2);
  const TrajectorySettings settings = weighted(1e4);
  const double K = truth.joint_parameter(0, JointParameter::kMotorGain).value;
  TrajectoryProblem problem(
      start, {simulate_furuta(truth, 200, settings.step.step, kTracedNoise, 6)}, settings);
  const LmSummary summary = solve(problem);
  EXPECT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
  EXPECT_LE(summary.iterations, 10);
  const ParameterInformation information = compute_information(problem);
  ASSERT_EQ(information.null_directions.cols(), 1);
  const Eigen::VectorXd direction = information.null_directions.col(0);
  EXPECT_NEAR(direction[2] / direction[3], -K, 1e-6 * K);
  EXPECT_LT(direction.head(2).norm(), 1e-6 * direction.norm());
  EXPECT_EQ(information.undetermined, (std::vector<bool>{false, false, true, true}));
  const Eigen::VectorXd sigma = covariance_of(problem).standard_deviation;
  EXPECT_TRUE(std::isfinite(sigma[0]) && std::isfinite(sigma[1]));
  EXPECT_TRUE(std::isinf(sigma[2]) && std::isinf(sigma[3]));
}

}  // namespace
}  // namespace estimator
