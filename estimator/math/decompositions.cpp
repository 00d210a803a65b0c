#include "estimator/math/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>

namespace estimator {
namespace {

using Orthogonal = Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>;

Orthogonal orthogonal(const Eigen::MatrixXd& A, std::optional<double> tolerance) {
  Orthogonal decomposition;
  if (tolerance) decomposition.setThreshold(*tolerance);
  decomposition.compute(A);
  return decomposition;
}

}  // namespace

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& A) {
  if (A.rows() == 0) return {Eigen::VectorXd(0), Eigen::MatrixXd(0, 0)};  // no case of Eigen's
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen generalized_eigen(const Eigen::MatrixXd& K, const Eigen::MatrixXd& M) {
  if (K.rows() == 0) return {Eigen::VectorXd(0), Eigen::MatrixXd(0, 0)};
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(K, M);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen3 symmetric_eigen3(const Eigen::Matrix3d& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricFactor::SymmetricFactor(const Eigen::MatrixXd& A) : ldlt_(A) {}

Eigen::MatrixXd SymmetricFactor::inverse() const {
  return solve_columns(Eigen::MatrixXd::Identity(ldlt_.rows(), ldlt_.cols()));
}

Eigen::VectorXi SymmetricFactor::order() const {
  const auto count = static_cast<int>(ldlt_.rows());
  return ldlt_.transpositionsP() * Eigen::VectorXi::LinSpaced(count, 0, count - 1);
}

Eigen::VectorXd SymmetricFactor::solve_vector(const Eigen::VectorXd& b) const {
  return ldlt_.solve(b);
}

Eigen::MatrixXd SymmetricFactor::solve_columns(const Eigen::MatrixXd& B) const {
  return ldlt_.solve(B);
}

Eigen::MatrixXd triangular_factor(Eigen::Ref<Eigen::MatrixXd> A) {
  const Eigen::HouseholderQR<Eigen::Ref<Eigen::MatrixXd>> in_place(A);
  const Eigen::Index rank_most = std::min(A.rows(), A.cols());
  Eigen::MatrixXd R = Eigen::MatrixXd::Zero(A.cols(), A.cols());
  R.topRows(rank_most) = A.topRows(rank_most).triangularView<Eigen::Upper>();
  return R;
}

Eigen::VectorXd least_squares(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                              std::optional<double> tolerance) {
  return orthogonal(A, tolerance).solve(b);
}

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& A, std::optional<double> tolerance) {
  return orthogonal(A, tolerance).pseudoInverse();
}

Eigen::MatrixXd null_space(const Eigen::MatrixXd& G, std::optional<double> tolerance) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  if (tolerance) qr.setThreshold(*tolerance);
  qr.compute(G.transpose());
  const Eigen::MatrixXd Q = qr.householderQ();
  return Q.rightCols(G.cols() - qr.rank());
}

Eigen::MatrixXd solve_square_system(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.partialPivLu().solve(B);
}

}  // namespace estimator
