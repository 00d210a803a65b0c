#pragma once

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

  explicit ChainBenchProblem(const estimator::ProblemShape& shape);

  /// Operations of assembly, factorization and back substitution; a multiply-add counts as two.
  double flop_count() const;

  estimator::ProblemShape shape() const override { return shape_; }
  int block_count() const override { return 2 * shape_.node_count; }
  int max_block_rows() const override { return shape_.node_size; }
  int noise_group_count() const override { return 2; }
  int thread_count() const override { return 1; }
  void linearize(int index, estimator::ResidualBlock& out) const override;
  double cost() const override { return 1.0; }
  double evaluate_trial_step(const Eigen::VectorXd&, const Eigen::VectorXd&) override {
    return 1.0;
  }
  void accept_trial_step() override {}
  void save_point() override {}
  void restore_point() override {}
  Eigen::VectorXd parameter_values() const override {
    return Eigen::VectorXd::Zero(shape_.parameter_count);
  }
  Eigen::VectorXd lower_bounds() const override { return parameter_values().array() - 1.0; }
  Eigen::VectorXd upper_bounds() const override { return parameter_values().array() + 1.0; }

 private:
  estimator::ProblemShape shape_;
  std::vector<estimator::ResidualBlock> steps_;
  std::vector<estimator::ResidualBlock> observations_;
};

}  // namespace bench
