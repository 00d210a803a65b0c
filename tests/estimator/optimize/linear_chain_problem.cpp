#include "tests/estimator/optimize/linear_chain_problem.hpp"

#include <algorithm>

namespace test_support {

using estimator::ProblemShape;
using estimator::ResidualBlock;

Eigen::VectorXi LinearChainProblem::row_groups() const {
  std::vector<int> groups;
  for (const ResidualBlock& block : blocks_) {
    groups.insert(groups.end(), static_cast<std::size_t>(block.rows), block.group);
  }
  return Eigen::Map<const Eigen::VectorXi>(groups.data(), static_cast<Eigen::Index>(groups.size()));
}

int LinearChainProblem::max_block_rows() const {
  int rows = 0;
  for (const ResidualBlock& block : blocks_) rows = std::max(rows, block.rows);
  return rows;
}

// Leaves old content around the written part, as the contract of a reused buffer allows.
void LinearChainProblem::linearize(int index, ResidualBlock& out) const {
  const ResidualBlock& block = blocks_[static_cast<std::size_t>(index)];
  const int columns = block.node_span * shape_.node_size;
  out.first_node = block.first_node;
  out.node_span = block.node_span;
  out.rows = block.rows;
  out.group = block.group;
  if (out.residual.size() < block.rows) out.residual.resize(block.rows);
  if (out.node_jacobian.rows() < block.rows || out.node_jacobian.cols() < columns) {
    out.node_jacobian.resize(block.rows, columns);
  }
  if (out.parameter_jacobian.rows() < block.rows) {
    out.parameter_jacobian.resize(block.rows, shape_.parameter_count);
  }
  out.residual.head(block.rows) = residual_at(block, node_, arrow_);
  out.node_jacobian.topLeftCorner(block.rows, columns) =
      block.node_jacobian.topLeftCorner(block.rows, columns);
  out.parameter_jacobian.topRows(block.rows) = block.parameter_jacobian.topRows(block.rows);
}

double LinearChainProblem::evaluate_trial_step(const Eigen::VectorXd& node_step,
                                               const Eigen::VectorXd& parameter_step) {
  candidate_node_ = node_ + node_step;
  candidate_arrow_ = arrow_ + parameter_step;
  return cost_at(candidate_node_, candidate_arrow_);
}

void LinearChainProblem::accept_trial_step() {
  node_ = candidate_node_;
  arrow_ = candidate_arrow_;
}

Eigen::VectorXd LinearChainProblem::residual_at(const ResidualBlock& block,
                                                const Eigen::VectorXd& node,
                                                const Eigen::VectorXd& arrow) const {
  const int columns = block.node_span * shape_.node_size;
  return block.residual.head(block.rows) +
         block.node_jacobian.topLeftCorner(block.rows, columns) *
             node.segment(block.first_node * shape_.node_size, columns) +
         block.parameter_jacobian.topRows(block.rows) * arrow;
}

double LinearChainProblem::cost_at(const Eigen::VectorXd& node,
                                   const Eigen::VectorXd& arrow) const {
  double cost = 0.0;
  for (const ResidualBlock& block : blocks_) cost += residual_at(block, node, arrow).squaredNorm();
  return cost;
}

ResidualBlock random_block(const ProblemShape& shape, int first_node, int node_span, int rows,
                           int group, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const auto draw = [&](Eigen::Index m, Eigen::Index n) {
    return Eigen::MatrixXd(Eigen::MatrixXd::NullaryExpr(m, n, [&] { return normal(random); }));
  };
  return {.first_node = first_node,
          .node_span = node_span,
          .rows = rows,
          .group = group,
          .residual = draw(rows, 1),
          .node_jacobian = draw(rows, node_span * shape.node_size),
          .parameter_jacobian = draw(rows, shape.parameter_count)};
}

LinearChainProblem make_random_chain(const ProblemShape& shape, std::mt19937& random,
                                     const RandomChainOptions& options) {
  LinearChainProblem problem(shape, options.noise_group_count);
  const auto uniform = [&](int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
  };
  const auto any_group = [&] { return uniform(0, options.noise_group_count - 1); };
  if (options.prior && shape.parameter_count > 0) {
    problem.add(random_block(shape, 0, 0, shape.parameter_count, any_group(), random));
  }
  int segment_begin = 0;
  for (int last = 0; last < shape.node_count; ++last) {
    if (options.uncoupled_segments && last % 5 == 0) segment_begin = last;
    const int reach = std::min(shape.bandwidth + 1, last - segment_begin + 1);
    problem.add(random_block(shape, last, 1, shape.node_size, any_group(), random));
    for (int repeat = uniform(0, 2); repeat > 0; --repeat) {
      const int span = uniform(1, reach);
      problem.add(random_block(shape, last - span + 1, span, uniform(1, shape.node_size + 2),
                               any_group(), random));
    }
    problem.add(random_block(shape, last - reach + 1, reach, shape.node_size, any_group(), random));
    problem.add(random_block(shape, last, 1, uniform(1, 2), any_group(), random));
    if (last % 3 == 1) continue;
    ResidualBlock tall =
        random_block(shape, last, 1, 3 * shape.node_size + uniform(1, 9), any_group(), random);
    for (int i = last % 2; i < shape.parameter_count; i += 2)
      tall.parameter_jacobian.col(i).setZero();
    problem.add(tall);
  }
  return problem;
}

}  // namespace test_support
