#include "estimator/math/small_dense.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace estimator {
namespace {

// GCC and Clang vectors. Never passed by value: without AVX that would change the ABI.
typedef double Vector __attribute__((vector_size(kLanes * sizeof(double))));
typedef double UnalignedVector
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));

#define RIG_INLINE [[gnu::always_inline]] inline

// A register tile of V·kLanes rows and N columns. 3 x 4 vectors, with three of A and one of B,
// fill the 16 registers of AVX2 and keep both multiply-add units busy.
inline constexpr int kTileVectors = 3;
inline constexpr int kTileColumns = 4;

template <int V, int N>
struct Tile {
  Vector c[N][V];
};

template <int V, int N>
RIG_INLINE void load(Tile<V, N>& tile, const double* data, long stride) {
  for (int j = 0; j < N; ++j) {
    for (int v = 0; v < V; ++v) {
      tile.c[j][v] = *reinterpret_cast<const UnalignedVector*>(data + j * stride + v * kLanes);
    }
  }
}

template <int V, int N>
RIG_INLINE void store(const Tile<V, N>& tile, double* data, long stride) {
  for (int j = 0; j < N; ++j) {
    for (int v = 0; v < V; ++v) {
      *reinterpret_cast<UnalignedVector*>(data + j * stride + v * kLanes) = tile.c[j][v];
    }
  }
}

// tile ± A Bᵀ, with A V·kLanes x depth and B N x depth.
template <bool kAdd, int V, int N>
RIG_INLINE void accumulate(Tile<V, N>& tile, int depth, const double* a, long a_stride,
                           const double* b, long b_stride) {
  for (int p = 0; p < depth; ++p) {
    Vector column[V];
    for (int v = 0; v < V; ++v) {
      column[v] = *reinterpret_cast<const UnalignedVector*>(a + v * kLanes);
    }
    for (int j = 0; j < N; ++j) {
      for (int v = 0; v < V; ++v) {
        if constexpr (kAdd) {
          tile.c[j][v] += column[v] * b[j];
        } else {
          tile.c[j][v] -= column[v] * b[j];
        }
      }
    }
    a += a_stride;
    b += b_stride;
  }
}

template <int V>
using VectorCount = std::integral_constant<int, V>;
template <int N>
using ColumnCount = std::integral_constant<int, N>;

// Calls f(first_row, VectorCount) for tiles that cover rows begin … end, both multiples of kLanes.
// Four vectors are taken as two and two: a lone vector would leave the multiply-add units idle.
template <typename F>
RIG_INLINE void for_each_row_tile(int begin, int end, F&& f) {
  int vectors = (end - begin) / kLanes;
  int row = begin;
  while (vectors > 4 || vectors == 3) {
    f(row, VectorCount<kTileVectors>{});
    row += kTileVectors * kLanes;
    vectors -= kTileVectors;
  }
  while (vectors >= 2) {
    f(row, VectorCount<2>{});
    row += 2 * kLanes;
    vectors -= 2;
  }
  if (vectors == 1) f(row, VectorCount<1>{});
}

// Calls f(first_column, ColumnCount) for groups of four columns and the remainder.
template <typename F>
RIG_INLINE void for_each_column_group(int n, F&& f) {
  int j = 0;
  for (; j + kTileColumns <= n; j += kTileColumns) f(j, ColumnCount<kTileColumns>{});
  switch (n - j) {
    case 1:
      f(j, ColumnCount<1>{});
      break;
    case 2:
      f(j, ColumnCount<2>{});
      break;
    case 3:
      f(j, ColumnCount<3>{});
      break;
    default:
      break;
  }
}

template <int V, int N>
RIG_INLINE void add_product_tile(int k, const double* a, long a_stride, const double* b,
                                 long b_stride, double* c, long c_stride) {
  Tile<V, N> tile;
  load(tile, c, c_stride);
  accumulate<true>(tile, k, a, a_stride, b, b_stride);
  store(tile, c, c_stride);
}

// Cholesky factor of the N x N tile at the top of a column group.
template <int N>
struct DiagonalTile {
  double l[N][N] = {};     // strictly lower part of L
  double inverse[N] = {};  // 1 / L_jj

  template <int V>
  RIG_INLINE bool factor(const Tile<V, N>& tile) {
    bool positive = true;
    for (int j = 0; j < N; ++j) {
      double pivot = tile.c[j][0][j];
      for (int p = 0; p < j; ++p) pivot -= l[j][p] * l[j][p];
      positive = positive && pivot > 0.0;  // false for NaN too
      inverse[j] = 1.0 / std::sqrt(pivot);
      for (int i = j + 1; i < N; ++i) {
        double value = tile.c[j][0][i];
        for (int p = 0; p < j; ++p) value -= l[i][p] * l[j][p];
        l[i][j] = value * inverse[j];
      }
    }
    return positive;
  }

  // tile ← tile L⁻ᵀ. On the rows of the diagonal tile itself this yields L.
  template <int V>
  RIG_INLINE void solve(Tile<V, N>& tile) const {
    for (int j = 0; j < N; ++j) {
      for (int v = 0; v < V; ++v) {
        for (int p = 0; p < j; ++p) tile.c[j][v] -= tile.c[p][v] * l[j][p];
        tile.c[j][v] *= inverse[j];
      }
    }
  }
};

// Columns `first` … `first` + N of a panel being factorised: subtracts the terms and what the
// panel's own earlier columns contribute.
template <int V, int N>
RIG_INLINE void subtract_terms(Tile<V, N>& tile, int row, int first, const PanelTerms& terms,
                               int term_count, const double* panel, long stride,
                               const double* own_b, long own_b_stride) {
  for (int t = 0; t < term_count; ++t) {
    const PanelTerm& term = terms.term[static_cast<std::size_t>(t)];
    accumulate<false>(tile, term.depth, term.a + row, term.stride, term.b + first, term.stride);
  }
  accumulate<false>(tile, first, panel + row, stride, own_b, own_b_stride);
}

template <int N>
bool factor_columns(int m, int first, Panel panel, const PanelTerms& band_terms, int arrow_rows,
                    Panel arrow, const PanelTerms& arrow_terms) {
  const long stride = panel.stride;
  const double* own_b = panel.data + first;
  double* columns = panel.data + first * stride;
  DiagonalTile<N> diagonal;
  bool positive = true;

  // A tile must not cross the last row of a term, beyond which the term has no rows to read.
  int begin = first;
  for (int t = band_terms.count; t >= 0; --t) {
    const int end = t == 0 ? padded_rows(m)
                           : padded_rows(band_terms.term[static_cast<std::size_t>(t - 1)].rows);
    for_each_row_tile(begin, end, [&](int row, auto vectors) {
      Tile<vectors, N> tile;
      load(tile, columns + row, stride);
      subtract_terms(tile, row, first, band_terms, t, panel.data, stride, own_b, stride);
      if (row == first) positive = diagonal.factor(tile);
      diagonal.solve(tile);
      store(tile, columns + row, stride);
    });
    begin = std::max(begin, end);
  }

  double* arrow_columns = arrow.data + first * static_cast<long>(arrow.stride);
  for_each_row_tile(0, padded_rows(arrow_rows), [&](int row, auto vectors) {
    Tile<vectors, N> tile;
    load(tile, arrow_columns + row, arrow.stride);
    subtract_terms(tile, row, first, arrow_terms, arrow_terms.count, arrow.data, arrow.stride,
                   own_b, stride);
    diagonal.solve(tile);
    store(tile, arrow_columns + row, arrow.stride);
  });
  return positive;
}

// B = Aᵀ for a 4 x 4 tile.
RIG_INLINE void transpose_tile(const double* a, long a_stride, double* b, long b_stride) {
  const Vector a0 = *reinterpret_cast<const UnalignedVector*>(a);
  const Vector a1 = *reinterpret_cast<const UnalignedVector*>(a + a_stride);
  const Vector a2 = *reinterpret_cast<const UnalignedVector*>(a + 2 * a_stride);
  const Vector a3 = *reinterpret_cast<const UnalignedVector*>(a + 3 * a_stride);
  const Vector t0 = __builtin_shufflevector(a0, a1, 0, 4, 2, 6);
  const Vector t1 = __builtin_shufflevector(a0, a1, 1, 5, 3, 7);
  const Vector t2 = __builtin_shufflevector(a2, a3, 0, 4, 2, 6);
  const Vector t3 = __builtin_shufflevector(a2, a3, 1, 5, 3, 7);
  *reinterpret_cast<UnalignedVector*>(b) = __builtin_shufflevector(t0, t2, 0, 1, 4, 5);
  *reinterpret_cast<UnalignedVector*>(b + b_stride) = __builtin_shufflevector(t1, t3, 0, 1, 4, 5);
  *reinterpret_cast<UnalignedVector*>(b + 2 * b_stride) =
      __builtin_shufflevector(t0, t2, 2, 3, 6, 7);
  *reinterpret_cast<UnalignedVector*>(b + 3 * b_stride) =
      __builtin_shufflevector(t1, t3, 2, 3, 6, 7);
}

// Dot products of N columns of A with x over rows begin … end, a multiple of kLanes apart.
template <int N>
RIG_INLINE void dot_columns(int begin, int end, const double* a, long stride, const double* x,
                            double (&dot)[N]) {
  Vector sum[N] = {};
  for (int i = begin; i < end; i += kLanes) {
    const Vector xi = *reinterpret_cast<const UnalignedVector*>(x + i);
    for (int j = 0; j < N; ++j) {
      sum[j] += *reinterpret_cast<const UnalignedVector*>(a + i + j * stride) * xi;
    }
  }
  for (int j = 0; j < N; ++j) dot[j] = (sum[j][0] + sum[j][1]) + (sum[j][2] + sum[j][3]);
}

// Back substitution for columns first … first + N, where everything below is known.
template <int N>
void solve_columns_transposed(int m, int first, ConstPanel panel, double* x) {
  const long stride = panel.stride;
  const double* columns = panel.data + first * stride;
  double inverse[N];
  for (int j = 0; j < N; ++j) inverse[j] = 1.0 / columns[first + j + j * stride];
  double dot[N];
  dot_columns<N>(first + kLanes, padded_rows(m), columns, stride, x, dot);
  const int tile_end = std::min(first + kLanes, m);
  for (int j = N - 1; j >= 0; --j) {
    double value = x[first + j] - dot[j];
    for (int i = first + j + 1; i < tile_end; ++i) value -= columns[i + j * stride] * x[i];
    x[first + j] = value * inverse[j];
  }
}

}  // namespace

void add_product(int m, int n, int k, ConstPanel A, ConstPanel B, Panel C) {
  for_each_column_group(n, [&](int j, auto columns) {
    for_each_row_tile(0, padded_rows(m), [&](int i, auto vectors) {
      add_product_tile<vectors, columns>(k, A.data + i, A.stride, B.data + j, B.stride,
                                         C.data + i + j * static_cast<long>(C.stride), C.stride);
    });
  });
}

void add_product_lower(int m, int n, int k, ConstPanel A, Panel C) {
  assert(n <= m);
  for_each_column_group(n, [&](int j, auto columns) {
    for_each_row_tile(j, padded_rows(m), [&](int i, auto vectors) {
      add_product_tile<vectors, columns>(k, A.data + i, A.stride, A.data + j, A.stride,
                                         C.data + i + j * static_cast<long>(C.stride), C.stride);
    });
  });
}

void transpose(int m, int n, ConstPanel A, Panel B) {
  const long a_stride = A.stride;
  const long b_stride = B.stride;
  const int m_full = m / kLanes * kLanes;
  const int n_full = n / kLanes * kLanes;
  for (int j = 0; j < n_full; j += kLanes) {
    for (int i = 0; i < m_full; i += kLanes) {
      transpose_tile(A.data + i + j * a_stride, a_stride, B.data + j + i * b_stride, b_stride);
    }
    for (int i = m_full; i < m; ++i) {
      for (int c = j; c < j + kLanes; ++c) B.data[c + i * b_stride] = A.data[i + c * a_stride];
    }
  }
  for (int j = n_full; j < n; ++j) {
    for (int i = 0; i < m; ++i) B.data[j + i * b_stride] = A.data[i + j * a_stride];
  }
}

bool factor_panel(int m, int n, Panel panel, const PanelTerms& band_terms, int arrow_rows,
                  Panel arrow, const PanelTerms& arrow_terms) {
  assert(n <= m);
  bool positive = true;
  for_each_column_group(n, [&](int j, auto columns) {
    positive = positive &&
               factor_columns<columns>(m, j, panel, band_terms, arrow_rows, arrow, arrow_terms);
  });
  return positive;
}

void solve_panel_transposed(int m, int n, ConstPanel panel, double* x) {
  const int full = n / kTileColumns * kTileColumns;
  switch (n - full) {
    case 1:
      solve_columns_transposed<1>(m, full, panel, x);
      break;
    case 2:
      solve_columns_transposed<2>(m, full, panel, x);
      break;
    case 3:
      solve_columns_transposed<3>(m, full, panel, x);
      break;
    default:
      break;
  }
  for (int j = full - kTileColumns; j >= 0; j -= kTileColumns) {
    solve_columns_transposed<kTileColumns>(m, j, panel, x);
  }
}

void subtract_transposed_product(int m, int n, ConstPanel A, const double* x, double* y) {
  for_each_column_group(n, [&](int j, auto columns) {
    double dot[columns];
    dot_columns<columns>(0, padded_rows(m), A.data + j * static_cast<long>(A.stride), A.stride, x,
                         dot);
    for (int c = 0; c < columns; ++c) y[j + c] -= dot[c];
  });
}

}  // namespace estimator
