#pragma once

#include <Eigen/Cholesky>
#include <optional>

namespace estimator {

// Decompositions of dense matrices of some tens of rows. A compiler spends seconds on each of
// Eigen's in every file that asks for it; these are compiled once.

/// A = V diag(λ) Vᵀ.
struct SymmetricEigen {
  Eigen::VectorXd values;   ///< ascending
  Eigen::MatrixXd vectors;  ///< orthonormal columns
};

/// @param A symmetric; its lower triangle is read
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& A);

/// K v = λ M v, the columns v with vᵀ M v = 1.
/// @param K symmetric
/// @param M positive definite
SymmetricEigen generalized_eigen(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M);

struct SymmetricEigen3 {
  Eigen::Vector3d values;   ///< ascending
  Eigen::Matrix3d vectors;  ///< orthonormal columns
};

/// @param A symmetric; its lower triangle is read
SymmetricEigen3 symmetric_eigen3(const Eigen::Matrix3d& A);

/// Pᵀ L D Lᵀ P of a symmetric matrix, with pivoting. Directions with a pivot of zero are left out
/// of what is solved.
class SymmetricFactor {
 public:
  explicit SymmetricFactor(const Eigen::MatrixXd& A);

  /// False where a pivot of zero stands above elements that are not zero.
  bool ok() const { return ldlt_.info() == Eigen::Success; }

  /// A⁻¹ B, a vector where B is one.
  template <class Derived>
  auto solve(const Eigen::MatrixBase<Derived>& B) const {
    if constexpr (Derived::ColsAtCompileTime == 1) {
      return solve_vector(B);
    } else {
      return solve_columns(B);
    }
  }

  Eigen::MatrixXd inverse() const;

  /// D, and the row of A that each belongs to.
  Eigen::VectorXd pivots() const { return ldlt_.vectorD(); }
  Eigen::VectorXi order() const;

 private:
  Eigen::VectorXd solve_vector(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_columns(const Eigen::MatrixXd& B) const;

  Eigen::LDLT<Eigen::MatrixXd> ldlt_;
};

/// R with Rᵀ R = Aᵀ A, square and upper triangular.
/// @param A is overwritten
Eigen::MatrixXd triangular_factor(Eigen::Ref<Eigen::MatrixXd> A);

// In what follows pivots below `tolerance` of the largest count as none; without one, below
// rounding.

/// x of the smallest norm among those that minimise |A x − b|.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                              std::optional<double> tolerance = {});

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& A, std::optional<double> tolerance = {});

/// Orthonormal columns Z with G Z = 0, all there are.
Eigen::MatrixXd null_space(const Eigen::MatrixXd& G, std::optional<double> tolerance = {});

/// A⁻¹ B of a square matrix; not finite, or huge, where it is singular.
Eigen::MatrixXd solve_square(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

}  // namespace estimator
