#include "estimator/spook/stepper_solvers.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace estimator {
namespace {

using Eigen::Index;

constexpr int kMaxSweeps = 2000;
// Tolerance for an axis at the boundary between sticking and slipping.
constexpr double kEdgeTolerance = 1e-12;

// Solves the n × n positive definite system in the lower triangle of A, in place.
void solve_cholesky(Eigen::MatrixXd& A, Eigen::VectorXd& b, Index n) {
  for (Index c = 0; c < n; ++c) {
    for (Index m = 0; m < c; ++m) A(c, c) -= A(c, m) * A(c, m);
    A(c, c) = std::sqrt(A(c, c));
    for (Index r = c + 1; r < n; ++r) {
      for (Index m = 0; m < c; ++m) A(r, c) -= A(r, m) * A(c, m);
      A(r, c) /= A(c, c);
    }
    for (Index m = 0; m < c; ++m) b[c] -= A(c, m) * b[m];
    b[c] /= A(c, c);
  }
  for (Index c = n; c-- > 0;) {
    for (Index m = c + 1; m < n; ++m) b[c] -= A(m, c) * b[m];
    b[c] /= A(c, c);
  }
}

// A pivot this small relative to its original diagonal means linearly dependent rows. Twenty
// collinear links leave 1e-3 of the diagonal, a loop of rigid joints only round-off.
constexpr double kPivotTolerance = 1e-13;

}  // namespace

JointFrictionSolver::JointFrictionSolver(int axis_count) {
  const auto n = static_cast<std::size_t>(axis_count);
  contact_.resize(n);
  previous_.resize(n);
  sticking_.reserve(n);
  candidate_.setZero(axis_count);
  system_.setZero(axis_count, axis_count);
  rhs_.setZero(axis_count);
}

bool JointFrictionSolver::solve(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                                const Eigen::VectorXd& bound, const Eigen::VectorXd& stick_speed,
                                Eigen::VectorXd& lambda) {
  for (int k = 0; k < kMaxSweeps; ++k) {
    sweep(N, r, bound, stick_speed, lambda);
    // The first guess is nearly always right; later ones need a solve only if they have changed.
    if (k > 0 && contact_ == previous_) continue;
    std::copy(contact_.begin(), contact_.end(), previous_.begin());
    solve_sticking_axes(N, r, bound, stick_speed);
    if (is_stick_slip_consistent(N, r, bound, stick_speed)) {
      lambda.head(r.size()) = candidate_.head(r.size());
      return true;
    }
  }
  return false;
}

// One axis at a time: −B ω/s with ω = rest + N_jj λ gives λ = −B rest/(s + B N_jj).
void JointFrictionSolver::sweep(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                                const Eigen::VectorXd& bound, const Eigen::VectorXd& stick_speed,
                                Eigen::VectorXd& lambda) {
  const Index n = r.size();
  for (Index j = 0; j < n; ++j) {
    double rest = r[j] - N(j, j) * lambda[j];
    for (Index k = 0; k < n; ++k) rest += N(k, j) * lambda[k];
    const double sticking = -bound[j] * rest / (stick_speed[j] + bound[j] * N(j, j));
    lambda[j] = std::clamp(sticking, -bound[j], bound[j]);
    contact_[j] = sticking < -bound[j]  ? StickSlip::kSlipForward
                  : sticking > bound[j] ? StickSlip::kSlipBackward
                                        : StickSlip::kStick;
  }
}

// (N + diag(s/B))_ss λ_s = −(r + N λ_slip)_s on the sticking axes with B > 0.
void JointFrictionSolver::solve_sticking_axes(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                                              const Eigen::VectorXd& bound,
                                              const Eigen::VectorXd& stick_speed) {
  const Index n = r.size();
  sticking_.clear();
  for (Index j = 0; j < n; ++j) {
    const StickSlip contact = contact_[j];
    candidate_[j] = 0.0;
    if (contact == StickSlip::kSlipForward) candidate_[j] = -bound[j];
    if (contact == StickSlip::kSlipBackward) candidate_[j] = bound[j];
    if (contact == StickSlip::kStick && bound[j] > 0.0) sticking_.push_back(static_cast<int>(j));
  }
  const auto count = static_cast<Index>(sticking_.size());
  for (Index i = 0; i < count; ++i) {
    const Index j = sticking_[i];
    rhs_[i] = -r[j];
    for (Index k = 0; k < n; ++k) rhs_[i] -= N(k, j) * candidate_[k];
    for (Index m = 0; m <= i; ++m) system_(i, m) = N(j, sticking_[m]);
    system_(i, i) += stick_speed[j] / bound[j];
  }
  solve_cholesky(system_, rhs_, count);
  for (Index i = 0; i < count; ++i) candidate_[sticking_[i]] = rhs_[i];
}

bool JointFrictionSolver::is_stick_slip_consistent(const Eigen::MatrixXd& N,
                                                   const Eigen::VectorXd& r,
                                                   const Eigen::VectorXd& bound,
                                                   const Eigen::VectorXd& stick_speed) const {
  const Index n = r.size();
  for (Index j = 0; j < n; ++j) {
    const StickSlip contact = contact_[j];
    if (contact == StickSlip::kStick) {
      if (!(std::abs(candidate_[j]) <= bound[j] * (1.0 + kEdgeTolerance))) return false;
      continue;
    }
    double omega = r[j];
    for (Index k = 0; k < n; ++k) omega += N(k, j) * candidate_[k];
    const double forward = contact == StickSlip::kSlipForward ? omega : -omega;
    if (!(forward >= stick_speed[j] * (1.0 - kEdgeTolerance) - kEdgeTolerance)) return false;
  }
  return true;
}

JointBlockCholesky::JointBlockCholesky(std::vector<int> first_block)
    : first_(std::move(first_block)) {
  std::size_t count = 0;
  for (std::size_t j = 0; j < first_.size(); ++j) {
    const auto first = static_cast<std::size_t>(first_[j]);
    assert(first <= j);
    // Every earlier row has at least one block, so count ≥ j ≥ first.
    offset_.push_back(count - first);
    count += j - first + 1;
  }
  blocks_.resize(count);
  diagonal_inverse_.resize(first_.size());
  set_zero();
}

void JointBlockCholesky::set_zero() {
  for (Block& block : blocks_) block.setZero();
}

bool JointBlockCholesky::factorise() {
  for (std::size_t j = 0; j < first_.size(); ++j) {
    Block& diagonal = blocks_[offset_[j] + j];
    const Rows before = diagonal.diagonal();
    for (auto k = static_cast<std::size_t>(first_[j]); k < j; ++k) {
      Block& L_jk = blocks_[offset_[j] + k];
      for (auto m = static_cast<std::size_t>(std::max(first_[j], first_[k])); m < k; ++m) {
        L_jk.noalias() -= factor_block(j, m) * factor_block(k, m).transpose();
      }
      const Block reduced = L_jk;
      L_jk.noalias() = reduced * diagonal_inverse_[k].transpose();
      diagonal.noalias() -= L_jk * L_jk.transpose();
    }
    if (!factorise_diagonal(j)) return false;
    const Rows pivots = diagonal.diagonal().cwiseAbs2();
    if (!(pivots.array() > kPivotTolerance * before.array()).all()) return false;
  }
  return true;
}

// Cholesky factor of the 5×5 diagonal block, in place, and its inverse.
bool JointBlockCholesky::factorise_diagonal(std::size_t j) {
  Block& L = blocks_[offset_[j] + j];
  for (int c = 0; c < 5; ++c) {
    double pivot = L(c, c);
    for (int m = 0; m < c; ++m) pivot -= L(c, m) * L(c, m);
    if (!(pivot > 0.0)) return false;
    const double root = std::sqrt(pivot), scale = 1.0 / root;
    L(c, c) = root;
    for (int r = c + 1; r < 5; ++r) {
      double sum = L(r, c);
      for (int m = 0; m < c; ++m) sum -= L(r, m) * L(c, m);
      L(r, c) = sum * scale;
    }
  }
  Block& inverse = diagonal_inverse_[j];
  inverse.setZero();
  for (int c = 0; c < 5; ++c) {
    inverse(c, c) = 1.0 / L(c, c);
    for (int r = c + 1; r < 5; ++r) {
      double sum = 0.0;
      for (int m = c; m < r; ++m) sum -= L(r, m) * inverse(m, c);
      inverse(r, c) = sum / L(r, r);
    }
  }
  return true;
}

void JointBlockCholesky::solve_lower(std::vector<Rows>& x, int begin) const {
  for (auto j = static_cast<std::size_t>(begin); j < first_.size(); ++j) {
    Rows sum = x[j];
    for (auto k = static_cast<std::size_t>(std::max(first_[j], begin)); k < j; ++k) {
      sum.noalias() -= factor_block(j, k) * x[k];
    }
    x[j].noalias() = diagonal_inverse_[j] * sum;
  }
}

void JointBlockCholesky::solve_upper(std::vector<Rows>& x) const {
  for (std::size_t j = first_.size(); j-- > 0;) {
    const Rows solved = diagonal_inverse_[j].transpose() * x[j];
    x[j] = solved;
    for (auto k = static_cast<std::size_t>(first_[j]); k < j; ++k) {
      x[k].noalias() -= factor_block(j, k).transpose() * solved;
    }
  }
}

}  // namespace estimator
