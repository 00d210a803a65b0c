#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// Cholesky factor of a symmetric matrix of 5×5 blocks with one block row per joint. It is stored
/// as an envelope: a block row starts at its first nonzero block, and fill-in stays inside. A chain
/// costs O(joints), and any graph is possible. No memory is allocated after construction.
class JointRowFactor {
 public:
  using Block = Eigen::Matrix<double, 5, 5>;
  using Rows = Eigen::Matrix<double, 5, 1>;

  JointRowFactor() = default;

  /// @param first_block  first nonzero block column of each block row j, first_block[j] ≤ j
  explicit JointRowFactor(std::vector<int> first_block);

  /// Sets every block to zero, ready for a new matrix.
  void set_zero();

  /// Returns block (j, k) of the lower triangle, first_block[j] ≤ k ≤ j. Set it before `factorise`.
  Block& block(int j, int k) {
    return blocks_[offset_[static_cast<std::size_t>(j)] + static_cast<std::size_t>(k)];
  }

  /// Replaces the matrix by its Cholesky factor L. Returns false, with undefined contents, if the
  /// matrix is not positive definite to working accuracy.
  bool factorise();

  /// Solves L y = x in place. x must be zero in the block rows before `begin`.
  void solve_lower(std::vector<Rows>& x, int begin) const;

  /// Solves Lᵀ y = x in place.
  void solve_upper(std::vector<Rows>& x) const;

 private:
  const Block& factor(std::size_t j, std::size_t k) const { return blocks_[offset_[j] + k]; }
  bool factorise_diagonal(std::size_t j);

  std::vector<int> first_;
  std::vector<std::size_t> offset_;      // block (j, k) is blocks_[offset_[j] + k]
  std::vector<Block> blocks_;            // off the diagonal L_jk, on it L_jj
  std::vector<Block> diagonal_inverse_;  // L_jj⁻¹
};

}  // namespace estimator
