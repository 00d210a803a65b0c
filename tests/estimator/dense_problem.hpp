#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "estimator/optimize/least_squares_problem.hpp"

namespace test_support {

/// All residuals of a problem, and their Jacobian by the states and then the parameters.
struct DenseProblem {
  Eigen::VectorXd residual;
  Eigen::MatrixXd jacobian;
};

inline int node_unknowns(const estimator::LeastSquaresProblem& problem) {
  return problem.shape().node_count * problem.shape().node_size;
}

/// Linearizes all blocks and stacks them.
inline DenseProblem stack(const estimator::LeastSquaresProblem& problem) {
  const estimator::ProblemShape shape = problem.shape();
  const int nodes = node_unknowns(problem);
  std::vector<estimator::ResidualBlock> blocks(static_cast<std::size_t>(problem.block_count()));
  Eigen::Index rows = 0;
  for (int i = 0; i < problem.block_count(); ++i) {
    problem.linearize(i, blocks[static_cast<std::size_t>(i)]);
    rows += blocks[static_cast<std::size_t>(i)].rows;
    EXPECT_LE(blocks[static_cast<std::size_t>(i)].rows, problem.max_block_rows());
  }
  DenseProblem dense{Eigen::VectorXd(rows),
                     Eigen::MatrixXd::Zero(rows, nodes + shape.parameter_count)};
  Eigen::Index row = 0;
  for (const estimator::ResidualBlock& block : blocks) {
    const int columns = block.node_span * shape.node_size;
    dense.residual.segment(row, block.rows) = block.residual.head(block.rows);
    dense.jacobian.block(row, block.first_node * shape.node_size, block.rows, columns) =
        block.node_jacobian.topLeftCorner(block.rows, columns);
    dense.jacobian.block(row, nodes, block.rows, shape.parameter_count) =
        block.parameter_jacobian.topRows(block.rows);
    row += block.rows;
  }
  return dense;
}

/// Returns the central difference of the residuals along a step of the unknowns, per unit of its
/// length. The problem returns to its point.
inline Eigen::VectorXd slope_along(estimator::LeastSquaresProblem& problem,
                                   const Eigen::VectorXd& step) {
  const auto residual_after = [&](double sign) {
    problem.save_point();
    problem.evaluate_trial_step(sign * step.head(node_unknowns(problem)),
                                sign * step.tail(problem.shape().parameter_count));
    problem.accept_trial_step();
    const Eigen::VectorXd residual = stack(problem).residual;
    problem.restore_point();
    return residual;
  };
  return (residual_after(1.0) - residual_after(-1.0)) / (2.0 * step.norm());
}

/// Expects that the cost and the Jacobian agree with the residuals and their central differences.
inline void expect_derivatives(estimator::LeastSquaresProblem& problem) {
  const DenseProblem at = stack(problem);
  EXPECT_NEAR(at.residual.squaredNorm(), problem.cost(), 1e-9 * problem.cost());
  for (Eigen::Index i = 0; i < at.jacobian.cols(); ++i) {
    const double scale = at.jacobian.col(i).norm();
    ASSERT_GT(scale, 0.0) << "unknown " << i;
    // The mean control is piecewise linear in the delay, so the difference stays on one piece.
    const Eigen::VectorXd step = 1e-3 / scale * Eigen::VectorXd::Unit(at.jacobian.cols(), i);
    EXPECT_LT((slope_along(problem, step) - at.jacobian.col(i)).norm(), 1e-4 * scale)
        << "unknown " << i;
  }
}
inline void expect_derivatives(estimator::LeastSquaresProblem&& problem) {
  expect_derivatives(problem);
}

}  // namespace test_support
