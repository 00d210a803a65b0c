#include "estimator/optimize/covariance.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/estimator/optimize/linear_chain_problem.hpp"

namespace estimator {
namespace {

using test_support::LinearChainProblem;
using test_support::make_random_chain;

constexpr int kGroups = 3;

// Rows of a matrix that belong to one group, the others set to zero.
Eigen::MatrixXd rows_of_group(const Eigen::MatrixXd& matrix, const Eigen::VectorXi& groups, int g) {
  return (groups.array() == g).cast<double>().matrix().asDiagonal() * matrix;
}

// Five standard errors of an estimated trace, see NodeTraceEstimator.
double trace_tolerance(double trace, double redundancy) {
  const double variance = 2.0 * std::max(std::min(trace, redundancy), 0.0);
  return 5.0 * std::sqrt(variance / NodeTraceEstimator::kProbes) + 1e-7;
}

// The response of the residuals to the parameters by dense projection.
Eigen::MatrixXd dense_response(const LinearChainProblem& problem) {
  const Eigen::MatrixXd J = problem.dense_jacobian();
  const Eigen::MatrixXd J_x = J.leftCols(problem.node_unknowns());
  const Eigen::MatrixXd J_chi = J.rightCols(problem.shape().parameter_count);
  return J_chi - J_x * J_x.householderQr().solve(J_chi);
}

const ProblemShape kCovarianceLayouts[] = {{1, 4, 1, 2},   {9, 6, 2, 4},  {12, 5, 2, 7},
                                           {10, 9, 1, 13}, {6, 7, 0, 3},  {7, 3, 3, 5},
                                           {8, 12, 2, 12}, {15, 6, 2, 0}, {6, 24, 1, 13}};

// Compares every quantity with dense formulas that share no step with the elimination: QR
// projection instead of Cholesky, the full inverse instead of a selected one. Catches a response of
// the wrong sign, a block paired with the wrong nodes, and exchanged groups.
TEST(Covariance, AgreesWithDenseFormulas) {
  std::mt19937 random(31);
  for (const ProblemShape& shape : kCovarianceLayouts) {
    for (const bool uncoupled : {false, true}) {
      SCOPED_TRACE(::testing::Message()
                   << shape.node_count << " x " << shape.node_size << ", bandwidth "
                   << shape.bandwidth << ", uncoupled " << uncoupled);
      const LinearChainProblem problem = make_random_chain(
          shape, random, {.uncoupled_segments = uncoupled, .noise_group_count = kGroups});
      const ParameterInformation information = compute_information(problem);
      ASSERT_TRUE(information.valid);
      EXPECT_EQ(information.null_directions.cols(), 0);

      const Eigen::MatrixXd J = problem.dense_jacobian();
      const Eigen::VectorXd r = problem.dense_residual();
      const Eigen::VectorXi groups = problem.row_groups();
      const Eigen::MatrixXd T = dense_response(problem);
      const Eigen::MatrixXd inverse = (T.transpose() * T).inverse();
      const Eigen::MatrixXd hat = J * (J.transpose() * J).ldlt().solve(J.transpose().eval());
      double effective_parameters = 0.0;
      Eigen::VectorXd variance(kGroups);
      Eigen::MatrixXd middle = Eigen::MatrixXd::Zero(shape.parameter_count, shape.parameter_count);
      for (int g = 0; g < kGroups; ++g) {
        variance[g] = 0.3 + 2.0 * g;
        const auto& statistics = information.groups[static_cast<std::size_t>(g)];
        EXPECT_EQ(statistics.rows, (groups.array() == g).count());
        EXPECT_NEAR(statistics.cost, rows_of_group(r, groups, g).squaredNorm(),
                    1e-9 * r.squaredNorm());
        const double trace = rows_of_group(hat, groups, g).diagonal().sum();
        EXPECT_NEAR(statistics.effective_parameters, trace,
                    trace_tolerance(trace, statistics.rows - trace));
        effective_parameters += statistics.effective_parameters;
        middle += variance[g] * T.transpose() * rows_of_group(T, groups, g);
      }
      const auto unknowns = static_cast<double>(problem.unknowns());
      EXPECT_NEAR(
          effective_parameters, unknowns,
          std::sqrt(kGroups) * trace_tolerance(unknowns, static_cast<double>(J.rows()) - unknowns));
      if (shape.parameter_count == 0) continue;
      const ParameterCovariance result = compute_covariance(information, variance);
      const Eigen::MatrixXd expected = inverse * middle * inverse;
      EXPECT_LT((result.covariance - expected).norm(), 1e-8 * expected.norm());
      EXPECT_LT((result.standard_deviation - expected.diagonal().cwiseSqrt()).norm(),
                1e-8 * expected.norm());
      EXPECT_LT(
          (compute_covariance(information, Eigen::VectorXd::Ones(kGroups)).covariance - inverse)
              .norm(),
          1e-8 * inverse.norm());
    }
  }
}

// Two parameters act only through 2a + b, and one has no effect. The null directions must be
// exactly these, and the others must keep the covariance that they have without them.
TEST(Covariance, FindsNullDirectionsWithoutEffectOnOtherParameters) {
  const ProblemShape shape{10, 4, 2, 5};
  std::mt19937 random(5);
  LinearChainProblem problem = make_random_chain(shape, random, {.noise_group_count = 1});
  LinearChainProblem reduced({10, 4, 2, 3}, 1);  // parameters 0, 1, 4
  for (auto& block : problem.blocks()) {
    block.parameter_jacobian.col(1) = 2.0 * block.parameter_jacobian.col(2);
    block.parameter_jacobian.col(3).setZero();
    auto copy = block;
    copy.parameter_jacobian = block.parameter_jacobian(Eigen::all, std::vector<int>{0, 1, 4});
    reduced.add(copy);
  }
  const ParameterInformation information = compute_information(problem);
  ASSERT_TRUE(information.valid);
  ASSERT_EQ(information.null_directions.cols(), 2);
  EXPECT_EQ(information.null_directions.col(0), Eigen::VectorXd::Unit(5, 3));
  Eigen::VectorXd trade_off(5);
  trade_off << 0.0, -0.5, 1.0, 0.0, 0.0;
  EXPECT_NEAR(std::abs(information.null_directions.col(1).dot(trade_off)), 1.25, 1e-6);
  EXPECT_NEAR(information.null_directions.col(1).squaredNorm(), 1.25, 1e-6);
  EXPECT_EQ(information.undetermined, (std::vector<bool>{false, true, true, true, false}));

  const ParameterCovariance result = compute_covariance(information, Eigen::VectorXd::Ones(1));
  const ParameterCovariance expected =
      compute_covariance(compute_information(reduced), Eigen::VectorXd::Ones(1));
  for (const auto& [full, small] : {std::pair{0, 0}, std::pair{4, 2}}) {
    EXPECT_NEAR(result.standard_deviation[full] / expected.standard_deviation[small], 1.0, 1e-8);
  }
  EXPECT_TRUE(std::isinf(result.standard_deviation[1]));
  EXPECT_TRUE(std::isinf(result.standard_deviation[2]));
  EXPECT_TRUE(std::isinf(result.standard_deviation[3]));
  // Ten nodes of four, and three directions of the parameters.
  EXPECT_NEAR(information.groups[0].effective_parameters, 43.0,
              trace_tolerance(43.0, information.groups[0].rows - 43.0));
}

// A parameter whose effect the nodes absorb completely has a large H_ii but no information. The
// difference H_χχ − H_χx H_xx⁻¹ H_xχ would leave round-off of either sign in its place.
TEST(Covariance, AbsorbedParameterIsUndetermined) {
  const ProblemShape shape{6, 3, 1, 2};
  std::mt19937 random(12);
  LinearChainProblem problem =
      make_random_chain(shape, random, {.prior = false, .noise_group_count = 1});
  const Eigen::VectorXd shift = Eigen::VectorXd::LinSpaced(18, -1.0, 2.0);
  for (auto& block : problem.blocks()) {
    block.parameter_jacobian.col(1) =
        block.node_jacobian * shift.segment(3 * block.first_node, 3 * block.node_span);
  }
  const ParameterInformation information = compute_information(problem);
  ASSERT_EQ(information.null_directions.cols(), 1);
  EXPECT_EQ(information.null_directions.col(0), Eigen::VectorXd::Unit(2, 1));
  EXPECT_EQ(information.undetermined, (std::vector<bool>{false, true}));
}

// A parameter at its bound is fixed: it has no scatter and adds none to the others.
TEST(Covariance, ParameterAtBoundIsFixed) {
  const ProblemShape shape{8, 4, 1, 3};
  std::mt19937 random(9);
  LinearChainProblem problem = make_random_chain(shape, random, {.noise_group_count = 1});
  LinearChainProblem without({8, 4, 1, 2}, 1);
  for (const auto& block : problem.blocks()) {
    auto copy = block;
    copy.parameter_jacobian = block.parameter_jacobian.leftCols(2);
    without.add(copy);
  }
  problem.lower[2] = 0.0;  // at its value
  const ParameterInformation information = compute_information(problem);
  EXPECT_EQ(information.at_bound, Eigen::Vector3i(0, 0, -1));
  const ParameterCovariance result = compute_covariance(information, Eigen::VectorXd::Ones(1));
  const ParameterCovariance expected =
      compute_covariance(compute_information(without), Eigen::VectorXd::Ones(1));
  EXPECT_EQ(result.standard_deviation[2], 0.0);
  EXPECT_LT((result.covariance.topLeftCorner(2, 2) - expected.covariance).norm(),
            1e-9 * expected.covariance.norm());
  EXPECT_EQ(result.correlation(2, 2), 1.0);
  EXPECT_EQ(result.correlation(0, 2), 0.0);
}

// Undetermined nodes make the result meaningless, which must be reported.
TEST(Covariance, UndefinedProblemIsNotValid) {
  std::mt19937 random(4);
  LinearChainProblem problem = make_random_chain({4, 3, 1, 2}, random);
  problem.blocks()[3].node_jacobian(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(compute_information(problem).valid);
}

}  // namespace
}  // namespace estimator
