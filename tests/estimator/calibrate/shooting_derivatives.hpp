#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"

namespace test_support {

/// Computes the residuals of all blocks, and their Jacobian with respect to states and parameters.
inline void linearize_all(const estimator::ShootingProblem& problem, Eigen::VectorXd& residual,
                          Eigen::MatrixXd& jacobian) {
  const auto layout = problem.layout();
  const int nodes = layout.node_count * layout.node_size, columns = nodes + layout.arrow_size;
  std::vector<Eigen::VectorXd> rows;
  std::vector<double> values;
  estimator::ResidualBlock block;
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    EXPECT_LE(block.rows, problem.max_block_rows());
    for (int row = 0; row < block.rows; ++row) {
      Eigen::VectorXd full = Eigen::VectorXd::Zero(columns);
      full.segment(block.first_node * layout.node_size, block.node_span * layout.node_size) =
          block.node_jacobian.row(row).head(block.node_span * layout.node_size).transpose();
      full.tail(layout.arrow_size) = block.arrow_jacobian.row(row).transpose();
      rows.push_back(full);
      values.push_back(block.residual[row]);
    }
  }
  jacobian.resize(static_cast<Eigen::Index>(rows.size()), columns);
  residual.resize(jacobian.rows());
  for (Eigen::Index i = 0; i < jacobian.rows(); ++i) {
    jacobian.row(i) = rows[static_cast<std::size_t>(i)].transpose();
    residual[i] = values[static_cast<std::size_t>(i)];
  }
}

/// Returns the residuals after a step of the unknowns.
inline Eigen::VectorXd residual_after(estimator::ShootingProblem problem,
                                      const Eigen::VectorXd& step) {
  const auto layout = problem.layout();
  const int nodes = layout.node_count * layout.node_size;
  problem.evaluate_candidate(step.head(nodes), step.tail(layout.arrow_size));
  problem.accept_candidate();
  Eigen::VectorXd residual;
  Eigen::MatrixXd jacobian;
  linearize_all(problem, residual, jacobian);
  return residual;
}

/// Expects that the problem's Jacobian agrees with central differences of the residuals.
inline void expect_derivatives(const estimator::ShootingProblem& problem) {
  Eigen::VectorXd residual;
  Eigen::MatrixXd jacobian;
  linearize_all(problem, residual, jacobian);
  EXPECT_NEAR(residual.squaredNorm(), problem.cost(), 1e-9 * problem.cost());
  for (Eigen::Index i = 0; i < jacobian.cols(); ++i) {
    const double scale = jacobian.col(i).norm();
    ASSERT_GT(scale, 0.0) << "unknown " << i;
    // The mean control is piecewise linear in the delay, so the difference stays on one piece.
    const double distance = 1e-3 / scale;
    const Eigen::VectorXd step = distance * Eigen::VectorXd::Unit(jacobian.cols(), i);
    const Eigen::VectorXd slope =
        (residual_after(problem, step) - residual_after(problem, -step)) / (2.0 * distance);
    EXPECT_LT((slope - jacobian.col(i)).norm(), 1e-4 * scale) << "unknown " << i;
  }
}

}  // namespace test_support
