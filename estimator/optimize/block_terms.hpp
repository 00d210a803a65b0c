#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/optimize/arrow_matrix.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Contribution of a residual block to the normal equations, in a reused buffer.
///
/// A block over one node with more rows than the node has unknowns is multiplied out at once. Most
/// readings depend on few parameters, so the product is smaller than the block. Other blocks are
/// stored as [r J_χ J_x]ᵀ: column i is residual i, in the row order of a panel of an ArrowMatrix.
struct BlockTerms {
  int first_node = 0;
  int node_span = 0;
  int rows = 0;                 ///< rows of the residual block
  bool is_product = false;      ///< whether `columns` are [J_x r J_seen]ᵀ [J_x r J_seen], lower
  std::vector<int> parameters;  ///< parameters with nonzero derivatives in the block
  double square = 0.0;          ///< rᵀr of the residuals r
  int stride = 0;
  Eigen::VectorXd columns;  ///< padded; capacity of the largest block so far
};

/// Linearizes residual blocks of a problem one at a time. Several objects may share a problem.
class BlockLinearizer {
 public:
  /// @param max_block_rows  upper bound on the rows of a residual block
  BlockLinearizer(const ArrowMatrix& panels, int max_block_rows);

  /// Linearizes the residual block `index`.
  /// @param panels  as in the constructor
  void linearize(const LeastSquaresProblem& problem, int index, const ArrowMatrix& panels,
                 BlockTerms& out);

 private:
  void multiply(int node_size, BlockTerms& out);
  void transpose_rows(const ArrowMatrix& panels, BlockTerms& out) const;

  ResidualBlock block_;
  Eigen::VectorXd tall_;  // [J_x r J_seen]ᵀ, padded
};

}  // namespace estimator
