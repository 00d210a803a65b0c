#include "estimator/math/lemke.hpp"

#include <Eigen/LU>
#include <cassert>
#include <cmath>
#include <vector>

namespace estimator {
namespace {

using Eigen::Index;

// Relative to the largest element of H: pivots below are round-off.
constexpr double kPivotTolerance = 1e-11;
// Ratios closer than this, relative to the larger, are ties for the lexicographic rule.
constexpr double kTieTolerance = 1e-12;

// Tableau of  w − H z − d z₀ = q, d = ones: columns 0 … n−1 are w (they hold the inverse of the
// basis), n … 2n−1 are z, 2n is z₀, 2n+1 the right-hand side.
class Tableau {
 public:
  Tableau(const Eigen::MatrixXd& H, const Eigen::VectorXd& q)
      : n_(q.size()), rows_(n_, 2 * n_ + 2), basis_(static_cast<std::size_t>(n_)) {
    rows_.leftCols(n_).setIdentity();
    rows_.middleCols(n_, n_) = -H;
    rows_.col(cover()).setConstant(-1.0);
    rows_.col(right()) = q;
    for (Index i = 0; i < n_; ++i) basis_[static_cast<std::size_t>(i)] = i;
    scale_ = std::max(1.0, H.cwiseAbs().maxCoeff());
  }

  Index cover() const { return 2 * n_; }
  Index right() const { return 2 * n_ + 1; }
  Index complement(Index variable) const { return variable < n_ ? variable + n_ : variable - n_; }
  Index basic(Index row) const { return basis_[static_cast<std::size_t>(row)]; }

  // First pivot: z₀ enters so that every right-hand side becomes lexicographically positive.
  Index row_of_first_pivot() const {
    Index best = 0;
    for (Index i = 1; i < n_; ++i) {
      if (lexicographic_compare(i, 1.0, best, 1.0) < 0) best = i;
    }
    return best;
  }

  // Row that blocks the entering column, or −1 on a ray. z₀ leaves wherever it ties on the ratio.
  Index blocking_row(Index entering) const {
    Index best = -1;
    for (Index i = 0; i < n_; ++i) {
      const double pivot = rows_(i, entering);
      if (pivot <= kPivotTolerance * scale_) continue;
      if (best < 0 || lexicographic_compare(i, pivot, best, rows_(best, entering)) < 0) best = i;
    }
    if (best < 0) return best;
    const double ratio = rows_(best, right()) / rows_(best, entering);
    for (Index i = 0; i < n_; ++i) {
      const double pivot = rows_(i, entering);
      if (basic(i) == cover() && pivot > kPivotTolerance * scale_ &&
          rows_(i, right()) / pivot <= ratio + kTieTolerance * std::abs(ratio)) {
        return i;
      }
    }
    return best;
  }

  // Makes the entering variable basic in the row; returns the variable that leaves.
  Index exchange(Index row, Index entering) {
    rows_.row(row) /= rows_(row, entering);
    for (Index i = 0; i < n_; ++i) {
      if (i != row) rows_.row(i) -= rows_(i, entering) * rows_.row(row).eval();
    }
    const Index leaving = basic(row);
    basis_[static_cast<std::size_t>(row)] = entering;
    return leaving;
  }

 private:
  // Compares the rows (right-hand side, inverse basis) divided by their pivots: −1, 0, +1.
  int lexicographic_compare(Index i, double pivot_i, Index j, double pivot_j) const {
    const auto compare_column = [&](Index column) {
      const double a = rows_(i, column) / pivot_i;
      const double b = rows_(j, column) / pivot_j;
      if (std::abs(a - b) <= kTieTolerance * std::max(std::abs(a), std::abs(b))) return 0;
      return a < b ? -1 : 1;
    };
    if (const int order = compare_column(right()); order != 0) return order;
    for (Index column = 0; column < n_; ++column) {
      if (const int order = compare_column(column); order != 0) return order;
    }
    return 0;
  }

  Index n_;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows_;
  std::vector<Index> basis_;
  double scale_;
};

// Solves H_αα z_α = r_α for the active indices α; nothing where H_αα is singular.
std::optional<Eigen::VectorXd> solve_active(const Eigen::MatrixXd& H,
                                            const std::vector<Index>& active,
                                            const Eigen::VectorXd& r) {
  Eigen::VectorXd z = Eigen::VectorXd::Zero(r.size());
  if (active.empty()) return z;
  const Eigen::FullPivLU<Eigen::MatrixXd> lu(H(active, active));
  if (!lu.isInvertible()) return std::nullopt;
  z(active) = lu.solve(r(active).eval());
  return z;
}

// The solution that belongs to the basis, from the data themselves.
LcpSolution solve_basis(const Eigen::MatrixXd& H, const Eigen::VectorXd& q, const Tableau& tableau,
                        int pivots) {
  const Index n = q.size();
  std::vector<Index> active;
  std::vector<bool> is_active(static_cast<std::size_t>(n), false);
  for (Index i = 0; i < n; ++i) {
    const Index variable = tableau.basic(i);
    if (variable >= n && variable < 2 * n) is_active[static_cast<std::size_t>(variable - n)] = true;
  }
  for (Index i = 0; i < n; ++i) {
    if (is_active[static_cast<std::size_t>(i)]) active.push_back(i);
  }
  LcpSolution solution{.z = Eigen::VectorXd::Zero(n),
                       .w = Eigen::VectorXd::Zero(n),
                       .outcome = LcpOutcome::kRay,
                       .pivots = pivots};
  const std::optional<Eigen::VectorXd> z = solve_active(H, active, -q);
  if (!z) return solution;  // a basis is regular; round-off alone can lead here
  solution.z = z->cwiseMax(0.0);
  solution.w = (H * solution.z + q).cwiseMax(0.0);
  for (const Index i : active) solution.w[i] = 0.0;
  solution.outcome = LcpOutcome::kSolved;
  return solution;
}

}  // namespace

LcpSolution solve_lcp(const Eigen::MatrixXd& H, const Eigen::VectorXd& q, int max_pivots) {
  assert(H.rows() == q.size() && H.cols() == q.size());
  const Index n = q.size();
  LcpSolution solution{.z = Eigen::VectorXd::Zero(n), .w = q};
  if (n == 0 || q.minCoeff() >= 0.0) {
    solution.outcome = LcpOutcome::kSolved;
    return solution;
  }
  const int limit = max_pivots > 0 ? max_pivots : 50 * (static_cast<int>(n) + 1);
  Tableau tableau(H, q);
  Index entering = tableau.cover();
  Index row = tableau.row_of_first_pivot();
  solution.w.setZero();
  for (int pivots = 1; pivots <= limit; ++pivots) {
    const Index leaving = tableau.exchange(row, entering);
    if (leaving == tableau.cover()) return solve_basis(H, q, tableau, pivots);
    entering = tableau.complement(leaving);
    row = tableau.blocking_row(entering);
    solution.pivots = pivots;
    if (row < 0) {
      solution.outcome = LcpOutcome::kRay;
      return solution;
    }
  }
  solution.outcome = LcpOutcome::kMaxPivots;
  return solution;
}

std::optional<Eigen::VectorXd> lcp_tangent(const Eigen::MatrixXd& H, const LcpSolution& solution,
                                           const Eigen::MatrixXd& H_dot,
                                           const Eigen::VectorXd& q_dot) {
  assert(solution.outcome == LcpOutcome::kSolved);
  std::vector<Index> active;
  for (Index i = 0; i < q_dot.size(); ++i) {
    if (solution.z[i] > solution.w[i]) active.push_back(i);
  }
  return solve_active(H, active, -(q_dot + H_dot * solution.z));
}

}  // namespace estimator
