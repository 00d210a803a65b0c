#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <vector>

// Rows of numbers with one number per SIMD lane, for integrators that advance many states at once.

namespace estimator {

using Rows = std::vector<double, Eigen::aligned_allocator<double>>;

template <int W>
Rows make_zero_rows(int count) {
  return Rows(static_cast<std::size_t>(count) * W, 0.0);
}

template <int W>
double* row_at(Rows& rows, int index) {
  return rows.data() + static_cast<std::ptrdiff_t>(index) * W;
}
template <int W>
const double* row_at(const Rows& rows, int index) {
  return rows.data() + static_cast<std::ptrdiff_t>(index) * W;
}

/// Sets out[lane] = f(lane) for every lane. Input and output rows are identical or do not overlap.
template <int W, typename F>
[[gnu::always_inline]] inline void for_lanes(double* out, const F& f) {
#ifdef __clang__
#pragma clang loop vectorize(assume_safety) unroll(disable)
#else
#pragma GCC ivdep
#endif
  for (int i = 0; i < W; ++i) out[i] = f(i);
}

/// Sets a row to zero and returns it.
template <int W>
[[gnu::always_inline]] inline double* cleared(double* row) {
  std::fill_n(row, W, 0.0);
  return row;
}

/// Computes sum += a b in every lane.
template <int W>
[[gnu::always_inline]] inline void add_product(double* sum, const double* a, const double* b) {
  for_lanes<W>(sum, [=](int i) { return sum[i] + a[i] * b[i]; });
}

/// Computes sum −= a b in every lane.
template <int W>
[[gnu::always_inline]] inline void subtract_product(double* sum, const double* a, const double* b) {
  for_lanes<W>(sum, [=](int i) { return sum[i] - a[i] * b[i]; });
}

/// Factors an n × n matrix in place into L U, without pivoting, in every lane. The matrix must be
/// positive definite up to a small perturbation.
///
/// @param inverse_pivot  n rows: reciprocals of the pivots
template <int W>
void factor_lu_in_lanes(int n, Rows& matrix, Rows& inverse_pivot) {
  for (int p = 0; p < n; ++p) {
    const double* pivot = row_at<W>(matrix, p * n + p);
    double* inverse = row_at<W>(inverse_pivot, p);
    for_lanes<W>(inverse, [=](int i) { return 1.0 / pivot[i]; });
    for (int j = p + 1; j < n; ++j) {
      double* share = row_at<W>(matrix, j * n + p);
      for_lanes<W>(share, [=](int i) { return share[i] * inverse[i]; });
      for (int k = p + 1; k < n; ++k) {
        subtract_product<W>(row_at<W>(matrix, j * n + k), share, row_at<W>(matrix, p * n + k));
      }
    }
  }
}

/// Solves L U x = right for n rows in every lane; x replaces `right`.
template <int W>
void solve_lu_in_lanes(int n, const Rows& factor, const Rows& inverse_pivot, double* right) {
  for (int j = 0; j < n; ++j) {
    double* x = right + j * W;
    for (int k = 0; k < j; ++k) {
      subtract_product<W>(x, row_at<W>(factor, j * n + k), right + k * W);
    }
  }
  for (int j = n; j-- > 0;) {
    double* x = right + j * W;
    for (int k = j + 1; k < n; ++k) {
      subtract_product<W>(x, row_at<W>(factor, j * n + k), right + k * W);
    }
    const double* inverse = row_at<W>(inverse_pivot, j);
    for_lanes<W>(x, [=](int i) { return x[i] * inverse[i]; });
  }
}

}  // namespace estimator
