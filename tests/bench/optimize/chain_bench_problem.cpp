#include "tests/bench/optimize/chain_bench_problem.hpp"

#include <algorithm>
#include <random>

namespace bench {

using estimator::ProblemShape;
using estimator::ResidualBlock;

namespace {

// Different blocks, so that no result can be reused, and few, so that they stay in cache.
constexpr std::size_t kStoredBlocks = 4;

}  // namespace

ChainBenchProblem::ChainBenchProblem(const ProblemShape& shape) : shape_(shape) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto draw = [&](Eigen::Index m, Eigen::Index n) {
    return Eigen::MatrixXd(Eigen::MatrixXd::NullaryExpr(m, n, [&] { return normal(random); }));
  };
  const int s = shape.node_size;
  for (std::size_t k = 0; k < kStoredBlocks; ++k) {
    ResidualBlock step;
    step.rows = s;
    step.node_span = shape.bandwidth + 1;
    step.residual = draw(s, 1);
    step.node_jacobian = 0.1 * draw(s, step.node_span * s);
    step.node_jacobian.rightCols(s).diagonal().array() += 2.0;  // each step determines its node
    step.parameter_jacobian = draw(s, shape.parameter_count);
    steps_.push_back(step);
    ResidualBlock observation;
    observation.rows = kObservationRows;
    observation.node_span = 1;
    observation.group = 1;
    observation.residual = draw(kObservationRows, 1);
    observation.node_jacobian = draw(kObservationRows, s);
    observation.parameter_jacobian = Eigen::MatrixXd::Zero(kObservationRows, shape.parameter_count);
    observations_.push_back(observation);
  }
}

double ChainBenchProblem::flop_count() const {
  const double s = shape_.node_size;
  const double a = shape_.parameter_count + 1.0;  // with the right-hand side
  const double b = shape_.bandwidth;
  const auto gram = [&](double rows, double columns) { return rows * columns * (columns + 1.0); };
  const double below = b * s + a;
  const double per_node = gram(s, (b + 1.0) * s + a) + gram(kObservationRows, s + a) +
                          s * s * s / 3.0 + s * s * below + s * below * (below + 1.0) +
                          2.0 * s * (s + b * s + a);
  return per_node * shape_.node_count;
}

void ChainBenchProblem::linearize(int index, ResidualBlock& out) const {
  const auto stored = static_cast<std::size_t>(index) % kStoredBlocks;
  const int node = index / 2;
  const bool is_step = index % 2 == 0;
  const ResidualBlock& block = is_step ? steps_[stored] : observations_[stored];
  const int span = is_step ? std::min(node + 1, block.node_span) : 1;
  const int columns = span * shape_.node_size;
  out.first_node = node - span + 1;
  out.node_span = span;
  out.rows = block.rows;
  out.group = block.group;
  out.residual.head(block.rows) = block.residual;
  out.node_jacobian.topLeftCorner(block.rows, columns) = block.node_jacobian.rightCols(columns);
  out.parameter_jacobian.topRows(block.rows) = block.parameter_jacobian;
}

}  // namespace bench
