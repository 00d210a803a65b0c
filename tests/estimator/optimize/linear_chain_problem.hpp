#pragma once

#include <Eigen/Core>
#include <random>
#include <vector>

#include "estimator/optimize/least_squares_problem.hpp"
#include "tests/estimator/dense_problem.hpp"

namespace test_support {

/// A linear least-squares problem with residual r = r₀ + J x on a chain of states, as blocks and as
/// dense matrices. It is the reference for all code that uses the arrow structure of J.
class LinearChainProblem : public estimator::LeastSquaresProblem {
 public:
  LinearChainProblem(const estimator::ProblemShape& shape, int noise_group_count)
      : shape_(shape), group_count_(noise_group_count) {
    node_ = candidate_node_ = Eigen::VectorXd::Zero(node_unknowns());
    arrow_ = candidate_arrow_ = Eigen::VectorXd::Zero(shape.parameter_count);
    lower = Eigen::VectorXd::Constant(shape.parameter_count, -1e300);
    upper = -lower;
  }

  /// Appends a block with its residual and Jacobians at x = 0.
  void add(estimator::ResidualBlock block) { blocks_.push_back(std::move(block)); }
  std::vector<estimator::ResidualBlock>& blocks() { return blocks_; }

  Eigen::Index node_unknowns() const {
    return static_cast<Eigen::Index>(shape_.node_count) * shape_.node_size;
  }
  Eigen::Index unknowns() const { return node_unknowns() + shape_.parameter_count; }

  /// Return all rows of the Jacobian J, states before parameters, and of the residual r at the
  /// current point.
  Eigen::MatrixXd dense_jacobian() const { return stack(*this).jacobian; }
  Eigen::VectorXd dense_residual() const { return stack(*this).residual; }

  /// Returns the noise group of each row.
  Eigen::VectorXi row_groups() const;

  estimator::ProblemShape shape() const override { return shape_; }
  int block_count() const override { return static_cast<int>(blocks_.size()); }
  int max_block_rows() const override;
  int noise_group_count() const override { return group_count_; }
  int thread_count() const override { return threads; }
  void linearize(int index, estimator::ResidualBlock& out) const override;
  double cost() const override { return cost_at(node_, arrow_); }
  double evaluate_trial_step(const Eigen::VectorXd& node_step,
                             const Eigen::VectorXd& parameter_step) override;
  void accept_trial_step() override;
  void save_point() override {
    marked_node_ = node_;
    marked_arrow_ = arrow_;
  }
  void restore_point() override {
    node_ = marked_node_;
    arrow_ = marked_arrow_;
  }
  Eigen::VectorXd parameter_values() const override { return arrow_; }
  Eigen::VectorXd lower_bounds() const override { return lower; }
  Eigen::VectorXd upper_bounds() const override { return upper; }

  const Eigen::VectorXd& node() const { return node_; }

  Eigen::VectorXd lower;
  Eigen::VectorXd upper;
  int threads = 1;

 private:
  Eigen::VectorXd residual_at(const estimator::ResidualBlock& block, const Eigen::VectorXd& node,
                              const Eigen::VectorXd& arrow) const;
  double cost_at(const Eigen::VectorXd& node, const Eigen::VectorXd& arrow) const;

  estimator::ProblemShape shape_;
  int group_count_;
  std::vector<estimator::ResidualBlock> blocks_;
  Eigen::VectorXd node_, candidate_node_, marked_node_;
  Eigen::VectorXd arrow_, candidate_arrow_, marked_arrow_;
};

/// Optional content of make_random_chain's problem besides one square block per node.
struct RandomChainOptions {
  bool uncoupled_segments = false;  ///< no block spans any fifth node
  bool prior = true;                ///< a block on parameters only
  int noise_group_count = 3;
};

/// Returns a full-rank problem with random blocks of every span and of 1 to node_size + 2 rows, and
/// with taller blocks that involve some parameters only.
LinearChainProblem make_random_chain(const estimator::ProblemShape& shape, std::mt19937& random,
                                     const RandomChainOptions& options = {});

/// Returns a block with standard normal entries.
estimator::ResidualBlock random_block(const estimator::ProblemShape& shape, int first_node,
                                      int node_span, int rows, int group, std::mt19937& random);

}  // namespace test_support
