#pragma once

#include <Eigen/Core>

namespace estimator {

/// Factorization S = L D Lᵀ of a symmetric positive definite matrix of about 5 to 50 rows, with L
/// unit lower triangular. It operates on whole columns, so that the compiler vectorizes it for a
/// fixed size. Eigen's general solvers spend most of their time on overhead at these sizes.
///
/// @tparam kSize  rows of S, or Eigen::Dynamic
template <int kSize>
class SmallLdlt {
 public:
  using Matrix = Eigen::Matrix<double, kSize, kSize>;
  using Vector = Eigen::Matrix<double, kSize, 1>;

  /// @return false unless every pivot is positive; nothing else may then be called.
  bool compute(const Matrix& S) {
    L_ = S;
    inverse_d_.resize(S.rows());
    const Eigen::Index n = L_.rows();
    for (Eigen::Index j = 0; j < n; ++j) {
      if (!(L_(j, j) > 0.0)) return false;  // NaN too
      inverse_d_[j] = 1.0 / L_(j, j);
      for (Eigen::Index k = j + 1; k < n; ++k) {
        L_.col(k) -= (L_(k, j) * inverse_d_[j]) * L_.col(j);
      }
      L_.col(j) *= inverse_d_[j];
      L_.col(j).head(j + 1).setZero();  // whole columns can then be subtracted in the solves
    }
    return true;
  }

  /// x ← S⁻¹ x.
  void solve_in_place(Vector& x) const {
    const Eigen::Index n = L_.rows();
    for (Eigen::Index j = 0; j < n; ++j) x -= x[j] * L_.col(j);
    x = x.cwiseProduct(inverse_d_);
    for (Eigen::Index j = n - 1; j >= 0; --j) x[j] -= L_.col(j).dot(x);
  }

  /// Y ← Y S⁻¹.
  template <int kRows>
  void solve_from_right(Eigen::Matrix<double, kRows, kSize>& Y) const {
    const Eigen::Index n = L_.rows();
    for (Eigen::Index p = 0; p < n; ++p) {
      for (Eigen::Index j = p + 1; j < n; ++j) Y.col(j) -= L_(j, p) * Y.col(p);
    }
    for (Eigen::Index p = n - 1; p >= 0; --p) {
      Y.col(p) *= inverse_d_[p];
      for (Eigen::Index j = p + 1; j < n; ++j) Y.col(p) -= L_(j, p) * Y.col(j);
    }
  }

 private:
  Matrix L_;  // strictly lower part; zero elsewhere
  Vector inverse_d_;
};

}  // namespace estimator
