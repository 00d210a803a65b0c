#pragma once

#include <random>
#include <vector>

#include "estimator/optimize/least_squares_problem.hpp"

namespace bench {

/// A well-conditioned linear chain with the sparsity of a trajectory: per step one block of
/// node_size rows over bandwidth + 1 nodes and all parameters, and per node two rows that involve
/// that node only. Linearizing copies stored blocks: an elimination costs linear algebra and one
/// copy.
class ChainBenchProblem : public estimator::LeastSquaresProblem {
 public:
  static constexpr int kObservationRows = 2;

  explicit ChainBenchProblem(const estimator::ArrowLayout& layout);

  /// Operations of assembly, factorization and back substitution; a multiply-add counts as two.
  double flop_count() const;

  estimator::ArrowLayout layout() const override { return layout_; }
  int block_count() const override { return 2 * layout_.node_count; }
  int max_block_rows() const override { return layout_.node_size; }
  int group_count() const override { return 2; }
  int threads() const override { return 1; }
  void linearize(int index, estimator::ResidualBlock& out) const override;
  double cost() const override { return 1.0; }
  double evaluate_candidate(const Eigen::VectorXd&, const Eigen::VectorXd&) override { return 1.0; }
  void accept_candidate() override {}
  void mark() override {}
  void restore() override {}
  Eigen::VectorXd arrow() const override { return Eigen::VectorXd::Zero(layout_.arrow_size); }
  Eigen::VectorXd arrow_lower() const override { return arrow().array() - 1.0; }
  Eigen::VectorXd arrow_upper() const override { return arrow().array() + 1.0; }

 private:
  estimator::ArrowLayout layout_;
  std::vector<estimator::ResidualBlock> steps_;
  std::vector<estimator::ResidualBlock> observations_;
};

}  // namespace bench
