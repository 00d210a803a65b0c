#include "estimator/spook/joint_friction_solver.hpp"

#include <algorithm>
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
    solve_sticking(N, r, bound, stick_speed);
    if (is_consistent(N, r, bound, stick_speed)) {
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
    contact_[static_cast<std::size_t>(j)] = sticking < -bound[j]  ? Contact::kSlipForward
                                            : sticking > bound[j] ? Contact::kSlipBackward
                                                                  : Contact::kStick;
  }
}

// (N + diag(s/B))_ss λ_s = −(r + N λ_slip)_s on the sticking axes with B > 0.
void JointFrictionSolver::solve_sticking(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                                         const Eigen::VectorXd& bound,
                                         const Eigen::VectorXd& stick_speed) {
  const Index n = r.size();
  sticking_.clear();
  for (Index j = 0; j < n; ++j) {
    const Contact contact = contact_[static_cast<std::size_t>(j)];
    candidate_[j] = 0.0;
    if (contact == Contact::kSlipForward) candidate_[j] = -bound[j];
    if (contact == Contact::kSlipBackward) candidate_[j] = bound[j];
    if (contact == Contact::kStick && bound[j] > 0.0) sticking_.push_back(static_cast<int>(j));
  }
  const auto count = static_cast<Index>(sticking_.size());
  for (Index i = 0; i < count; ++i) {
    const Index j = sticking_[static_cast<std::size_t>(i)];
    rhs_[i] = -r[j];
    for (Index k = 0; k < n; ++k) rhs_[i] -= N(k, j) * candidate_[k];
    for (Index m = 0; m <= i; ++m) system_(i, m) = N(j, sticking_[static_cast<std::size_t>(m)]);
    system_(i, i) += stick_speed[j] / bound[j];
  }
  solve_cholesky(system_, rhs_, count);
  for (Index i = 0; i < count; ++i) candidate_[sticking_[static_cast<std::size_t>(i)]] = rhs_[i];
}

bool JointFrictionSolver::is_consistent(const Eigen::MatrixXd& N, const Eigen::VectorXd& r,
                                        const Eigen::VectorXd& bound,
                                        const Eigen::VectorXd& stick_speed) const {
  const Index n = r.size();
  for (Index j = 0; j < n; ++j) {
    const Contact contact = contact_[static_cast<std::size_t>(j)];
    if (contact == Contact::kStick) {
      if (!(std::abs(candidate_[j]) <= bound[j] * (1.0 + kEdgeTolerance))) return false;
      continue;
    }
    double omega = r[j];
    for (Index k = 0; k < n; ++k) omega += N(k, j) * candidate_[k];
    const double forward = contact == Contact::kSlipForward ? omega : -omega;
    if (!(forward >= stick_speed[j] * (1.0 - kEdgeTolerance) - kEdgeTolerance)) return false;
  }
  return true;
}

}  // namespace estimator
