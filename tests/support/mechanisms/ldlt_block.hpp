#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <vector>

namespace estimator {

/// Block LDLᵀ factorisation of a matrix S that stops before the last block [Mar, eqs. A.2–A.3]:
///
///   S = [S_AA S_BAᵀ; S_BA S_BB] = L D Lᵀ,  D = diag(D_11, …, D_nn, D_BB),
///
/// where L is unit block lower triangular. S_AA must be symmetric and is divided into the pivot
/// blocks. S_BB may be any matrix and is never a pivot. D_BB is the Schur complement S_BB − S_BA
/// S_AA⁻¹ S_BAᵀ. Zero blocks that remain zero need no computation.
class BlockLdlt {
 public:
  /// @param S           (a + b) × (a + b) matrix
  /// @param block_sizes sizes of the pivot blocks, whose sum is a
  BlockLdlt(const Eigen::MatrixXd& S, const std::vector<int>& block_sizes);

  /// Returns false if a pivot block is singular. In this case, no other function may be called.
  bool ok() const { return ok_; }

  /// Returns the Schur complement D_BB, b × b.
  const Eigen::MatrixXd& schur_complement() const { return schur_complement_; }

  /// Returns a vector with the solution y_A of L_AA y_A = r_A, followed by r_B − L_BA y_A in the
  /// last b rows.
  Eigen::VectorXd solve_lower(const Eigen::VectorXd& r) const;

  /// Returns the solution λ_A of L_AAᵀ λ_A = D_AA⁻¹ y_A − L_BAᵀ λ_B.
  Eigen::VectorXd solve_upper(const Eigen::VectorXd& y_A, const Eigen::VectorXd& lambda_B) const;

 private:
  std::vector<Eigen::Index> offsets_;  // of the pivot blocks, and a at the end
  Eigen::MatrixXd L_;                  // (a + b) × a; the unit blocks on the diagonal are not used
  std::vector<Eigen::FullPivLU<Eigen::MatrixXd>> D_;
  Eigen::MatrixXd schur_complement_;
  bool ok_ = true;
};

}  // namespace estimator
