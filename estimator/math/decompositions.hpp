#pragma once

#include <Eigen/Cholesky>
#include <optional>

namespace estimator {

// Decompositions of dense matrices with some tens of rows. Eigen's templates take seconds to
// compile in every file that uses them, so they are compiled once here.

/// Eigendecomposition A = V diag(λ) Vᵀ of a symmetric matrix A.
struct SymmetricEigen {
  Eigen::VectorXd values;   ///< ascending
  Eigen::MatrixXd vectors;  ///< orthonormal columns
};

/// @param A symmetric; its lower triangle is read
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& A);

/// Returns the solutions of the generalized eigenvalue problem K v = λ M v. The columns v satisfy
/// vᵀ M v = 1.
/// @param K symmetric
/// @param M positive definite
SymmetricEigen generalized_eigen(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M);

struct SymmetricEigen3 {
  Eigen::Vector3d values;   ///< ascending
  Eigen::Matrix3d vectors;  ///< orthonormal columns
};

/// @param A symmetric; its lower triangle is read
SymmetricEigen3 symmetric_eigen3(const Eigen::Matrix3d& A);

/// Pivoted factorization A = Pᵀ L D Lᵀ P of a symmetric matrix. Solutions ignore zero pivots.
class SymmetricFactor {
 public:
  explicit SymmetricFactor(const Eigen::MatrixXd& A);

  /// Returns whether the factorization succeeded. It fails if a zero pivot has nonzero elements
  /// below it.
  bool ok() const { return ldlt_.info() == Eigen::Success; }

  /// Returns A⁻¹ B; a vector if B is a vector.
  template <class Derived>
  auto solve(const Eigen::MatrixBase<Derived>& B) const {
    if constexpr (Derived::ColsAtCompileTime == 1) {
      return solve_vector(B);
    } else {
      return solve_columns(B);
    }
  }

  Eigen::MatrixXd inverse() const;

  /// Return the pivots D, and the row of A that belongs to each pivot.
  Eigen::VectorXd pivots() const { return ldlt_.vectorD(); }
  Eigen::VectorXi order() const;

 private:
  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_columns(const Eigen::MatrixXd& B) const;

  Eigen::LDLT<Eigen::MatrixXd> ldlt_;
};

/// Returns the square upper triangular R with Rᵀ R = Aᵀ A.
/// @param A is overwritten
Eigen::MatrixXd triangular_factor(Eigen::Ref<Eigen::MatrixXd> A);

// Below, pivots under `tolerance` times the largest are treated as zero. The default is round-off.

/// Returns the minimum-norm least-squares solution of A x = b.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                              std::optional<double> tolerance = {});

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& A, std::optional<double> tolerance = {});

/// Returns an orthonormal basis Z of the null space of G, with G Z = 0.
Eigen::MatrixXd null_space(const Eigen::MatrixXd& G, std::optional<double> tolerance = {});

/// Returns A⁻¹ B for a square matrix A. The result is huge or not finite if A is singular.
Eigen::MatrixXd solve_square_system(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

}  // namespace estimator
