#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// Solves for the dry friction impulses λ and speeds ω of several coupled joint axes. Friction is
/// regularized near zero speed:
///
///   ω = r + N λ,   λ_j = −B_j clamp(ω_j / s_j, −1, 1).
///
/// The solution is unique, since it minimizes a strictly convex quadratic function in the box |λ_j|
/// ≤ B_j. Projected Gauss–Seidel guesses the set of sticking axes. An exact solve for this set
/// gives λ, which is verified. Plain semismooth Newton would cycle on some states [METHOD 3]. No
/// memory is allocated after construction.
class JointFrictionSolver {
 public:
  JointFrictionSolver() = default;

  /// @param axis_count  largest number of axes
  explicit JointFrictionSolver(int axis_count);

  /// @param N       speed change of each axis per unit impulse, n × n, symmetric positive
  /// semidefinite [1/(kg·m²)]
  /// @param r       axis speeds without dry friction [rad/s]
  /// @param bound   bounds B_j ≥ 0 of the impulses [N·m·s]
  /// @param stick_speed  speeds s_j > 0 below which friction is regularized [rad/s]
  /// @param lambda  initial value, |λ_j| ≤ B_j; result: the solution [N·m·s]
  /// @return false if the limit of iterations was reached; λ is then the last iterate
  bool solve(const Eigen::MatrixXd& N, const Eigen::VectorXd& r, const Eigen::VectorXd& bound,
             const Eigen::VectorXd& stick_speed, Eigen::VectorXd& lambda);

 private:
  void sweep(const Eigen::MatrixXd& N, const Eigen::VectorXd& r, const Eigen::VectorXd& bound,
             const Eigen::VectorXd& stick_speed, Eigen::VectorXd& lambda);
  void solve_sticking_axes(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                           const Eigen::VectorXd& bound, const Eigen::VectorXd& stick_speed);
  bool is_stick_slip_consistent(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                                const Eigen::VectorXd& bound,
                                const Eigen::VectorXd& stick_speed) const;

  enum class StickSlip { kStick, kSlipForward, kSlipBackward };
  std::vector<StickSlip> contact_, previous_;
  std::vector<int> sticking_;
  Eigen::VectorXd candidate_;
  Eigen::MatrixXd system_;  // of the sticking axes, lower triangle
  Eigen::VectorXd rhs_;
};

/// Cholesky factor of a symmetric matrix of 5×5 blocks with one block row per joint. It is stored
/// as an envelope: a block row starts at its first nonzero block, and fill-in stays inside. The
/// cost for a chain of joints is O(joints). Any graph is possible. No memory is allocated after
/// construction.
class JointBlockCholesky {
 public:
  using Block = Eigen::Matrix<double, 5, 5>;
  using Rows = Eigen::Matrix<double, 5, 1>;

  JointBlockCholesky() = default;

  /// @param first_block  first nonzero block column of each block row j, first_block[j] ≤ j
  explicit JointBlockCholesky(std::vector<int> first_block);

  /// Sets every block to zero, in preparation for a new matrix.
  void set_zero();

  /// Returns block (j, k) of the lower triangle, first_block[j] ≤ k ≤ j. Set it before `factorise`.
  Block& block(int j, int k) { return blocks_[offset_[j] + static_cast<std::size_t>(k)]; }

  /// Replaces the matrix by its Cholesky factor L. Returns false, with undefined contents, if the
  /// matrix is not positive definite to working accuracy.
  bool factorise();

  /// Solves L y = x in place. x must be zero in the block rows before `begin`.
  void solve_lower(std::vector<Rows>& x, int begin) const;

  /// Solves Lᵀ y = x in place.
  void solve_upper(std::vector<Rows>& x) const;

 private:
  const Block& factor_block(std::size_t j, std::size_t k) const { return blocks_[offset_[j] + k]; }
  bool factorise_diagonal(std::size_t j);

  std::vector<int> first_;
  std::vector<std::size_t> offset_;      // block (j, k) is blocks_[offset_[j] + k]
  std::vector<Block> blocks_;            // off the diagonal L_jk, on it L_jj
  std::vector<Block> diagonal_inverse_;  // L_jj⁻¹
};

}  // namespace estimator
