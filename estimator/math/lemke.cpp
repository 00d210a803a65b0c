#include "estimator/math/lemke.hpp"

#include <Eigen/LU>
#include <cassert>
#include <cmath>
#include <optional>
#include <vector>

namespace estimator {
namespace {

using Eigen::Index;

// Elements of the equilibrated tableau below this are round-off and not used as pivots.
constexpr double kPivotTolerance = 1e-11;
// Admissible violation of the conditions, relative to the largest element of z or w.
constexpr double kViolationTolerance = 1e-9;
// Relative difference below which ratios are equal for the lexicographic rule.
constexpr double kTieTolerance = 1e-12;

// Diagonal D that scales the largest elements of the rows and columns of D H D to about one. Powers
// of two avoid round-off.
Eigen::VectorXd equilibrate(const Eigen::MatrixXd& H) {
  Eigen::VectorXd D = Eigen::VectorXd::Ones(H.rows());
  for (int round = 0; round < 4; ++round) {
    const Eigen::MatrixXd scaled = (D.asDiagonal() * H * D.asDiagonal()).cwiseAbs();
    for (Index i = 0; i < D.size(); ++i) {
      const double largest = std::max(scaled.row(i).maxCoeff(), scaled.col(i).maxCoeff());
      if (largest > 0.0) D[i] *= std::exp2(-std::round(0.5 * std::log2(largest)));
    }
  }
  return D;
}

// Tableau of  w − H z − d z₀ = q, d = ones: columns 0 … n−1 are w (they hold the inverse of the
// basis), n … 2n−1 are z, 2n is z₀, 2n+1 the right-hand side.
class Tableau {
 public:
  Tableau(const Eigen::MatrixXd& H, const Eigen::VectorXd& q)
      : n_(q.size()), data_(n_, 2 * n_ + 2), basis_(static_cast<std::size_t>(n_)) {
    data_.leftCols(n_).setIdentity();
    data_.middleCols(n_, n_) = -H;
    data_.col(cover()).setConstant(-1.0);
    data_.col(right()) = q;
    rows_ = data_;
    for (Index i = 0; i < n_; ++i) basis_[i] = i;
  }

  Index cover() const { return 2 * n_; }
  Index right() const { return 2 * n_ + 1; }
  Index complement(Index variable) const { return variable < n_ ? variable + n_ : variable - n_; }
  Index basic(Index row) const { return basis_[row]; }

  // First pivot: z₀ enters so that every right-hand side becomes lexicographically positive.
  Index row_of_first_pivot() const {
    Index best = 0;
    for (Index i = 1; i < n_; ++i) {
      if (lexicographic_compare(i, 1.0, best, 1.0) < 0) best = i;
    }
    return best;
  }

  // Row that limits the entering column, or −1 on a ray. z₀ leaves whenever its ratio is minimal.
  Index blocking_row(Index entering) const {
    Index best = -1;
    for (Index i = 0; i < n_; ++i) {
      const double pivot = rows_(i, entering);
      if (pivot <= kPivotTolerance) continue;
      if (best < 0 || lexicographic_compare(i, pivot, best, rows_(best, entering)) < 0) best = i;
    }
    if (best < 0) return best;
    const double ratio = rows_(best, right()) / rows_(best, entering);
    for (Index i = 0; i < n_; ++i) {
      const double pivot = rows_(i, entering);
      if (basic(i) == cover() && pivot > kPivotTolerance &&
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
    basis_[row] = entering;
    return leaving;
  }

  // Recomputes the rows from the data, which removes the accumulated error of the pivots.
  void refresh() {
    Eigen::MatrixXd basis(n_, n_);
    for (Index i = 0; i < n_; ++i) basis.col(i) = data_.col(basic(i));
    rows_ = basis.partialPivLu().solve(data_);
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

  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Index n_;
  RowMajor data_;  // as given
  RowMajor rows_;  // with respect to the basis
  std::vector<Index> basis_;
};

// Solves H_αα z_α = r_α for the active indices α; nothing if H_αα is singular.
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

// Solution for the final basis, computed from the original data.
ComplementaritySolution solve_basis(const Eigen::MatrixXd& H, const Eigen::VectorXd& q,
                                    const Tableau& tableau, int pivots) {
  const Index n = q.size();
  std::vector<bool> is_active(static_cast<std::size_t>(n), false);
  for (Index i = 0; i < n; ++i) {
    const Index variable = tableau.basic(i);
    if (variable >= n && variable < 2 * n) is_active[variable - n] = true;
  }
  std::vector<Index> active;
  for (Index i = 0; i < n; ++i) {
    if (is_active[i]) active.push_back(i);
  }
  ComplementaritySolution solution{.z = Eigen::VectorXd::Zero(n),
                                   .w = Eigen::VectorXd::Zero(n),
                                   .outcome = ComplementarityOutcome::kRoundOff,
                                   .pivots = pivots};
  const std::optional<Eigen::VectorXd> z = solve_active(H, active, -q);
  if (!z) return solution;
  Eigen::VectorXd w = H * *z + q;
  for (const Index i : active) w[i] = 0.0;
  const double z_size = z->cwiseAbs().maxCoeff(), w_size = q.cwiseAbs().maxCoeff();
  if (z->minCoeff() < -kViolationTolerance * z_size ||
      w.minCoeff() < -kViolationTolerance * w_size) {
    return solution;
  }
  solution.z = z->cwiseMax(0.0);
  solution.w = w.cwiseMax(0.0);
  solution.outcome = ComplementarityOutcome::kSolved;
  return solution;
}

ComplementaritySolution run_lemke(const Eigen::MatrixXd& H, const Eigen::VectorXd& q, int limit,
                                  bool refresh_always) {
  Tableau tableau(H, q);
  Index entering = tableau.cover();
  Index row = tableau.row_of_first_pivot();
  ComplementaritySolution solution{.z = Eigen::VectorXd::Zero(q.size()),
                                   .w = Eigen::VectorXd::Zero(q.size())};
  for (solution.pivots = 1; solution.pivots <= limit; ++solution.pivots) {
    const Index leaving = tableau.exchange(row, entering);
    if (leaving == tableau.cover()) return solve_basis(H, q, tableau, solution.pivots);
    if (refresh_always) tableau.refresh();
    entering = tableau.complement(leaving);
    row = tableau.blocking_row(entering);
    if (row < 0) {
      solution.outcome = ComplementarityOutcome::kRay;
      return solution;
    }
  }
  solution.outcome = ComplementarityOutcome::kMaxPivots;
  return solution;
}

}  // namespace

ComplementaritySolution solve_linear_complementarity(const Eigen::MatrixXd& H,
                                                     const Eigen::VectorXd& q, int max_pivots) {
  assert(H.rows() == q.size() && H.cols() == q.size());
  const Index n = q.size();
  if (n == 0 || q.minCoeff() >= 0.0) {
    return {.z = Eigen::VectorXd::Zero(n), .w = q, .outcome = ComplementarityOutcome::kSolved};
  }
  const int limit = max_pivots > 0 ? max_pivots : 50 * (static_cast<int>(n) + 1);
  // z = size D z', w = size D⁻¹ w'.
  const Eigen::VectorXd D = equilibrate(H);
  const double size = (D.asDiagonal() * q).cwiseAbs().maxCoeff();
  const Eigen::MatrixXd H_scaled = D.asDiagonal() * H * D.asDiagonal();
  const Eigen::VectorXd q_scaled = D.cwiseProduct(q) / size;
  ComplementaritySolution solution = run_lemke(H_scaled, q_scaled, limit, /*refresh_always=*/false);
  if (solution.outcome == ComplementarityOutcome::kRoundOff) {
    solution = run_lemke(H_scaled, q_scaled, limit, /*refresh_always=*/true);
  }
  solution.z = size * D.cwiseProduct(solution.z);
  solution.w = size * solution.w.cwiseQuotient(D);
  return solution;
}

}  // namespace estimator
