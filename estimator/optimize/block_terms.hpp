#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/optimize/arrow_matrix.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// What one residual block adds to the normal equations, in a reused buffer.
///
/// A block over one node that has more rows than the node has unknowns is multiplied out at once:
/// most readings tell of few parameters, and what is left is smaller than the block. Any other
/// stays as it is, [r J_χ J_x]ᵀ: column i is residual i, in the rows of a panel of an ArrowMatrix.
struct BlockTerms {
  int first_node = 0;
  int node_span = 0;
  int rows = 0;             ///< of the block
  bool multiplied = false;  ///< `columns` are [J_x r J_seen]ᵀ [J_x r J_seen], lower
  std::vector<int> seen;    ///< parameters that the block's derivatives are not all zero along
  double square = 0.0;      ///< rᵀr
  int stride = 0;
  Eigen::VectorXd columns;  ///< padded; grows to the largest block it has held
};

/// Linearises residual blocks of a problem, one at a time; several linearise one problem at once.
class BlockLinearizer {
 public:
  /// @param max_block_rows  upper bound on the rows of a residual block
  BlockLinearizer(const ArrowMatrix& panels, int max_block_rows);

  /// @param panels  as the constructor had them
  void linearize(const LeastSquaresProblem& problem, int index, const ArrowMatrix& panels,
                 BlockTerms& out);

 private:
  void multiply(int node_size, BlockTerms& out);
  void transpose_rows(const ArrowMatrix& panels, BlockTerms& out) const;

  ResidualBlock block_;
  Eigen::VectorXd tall_;  // [J_x r J_seen]ᵀ, padded
};

}  // namespace estimator
