#include "estimator/math/small_dense.hpp"

#include <algorithm>
#include <cassert>

#include "estimator/math/simd_tile.hpp"

namespace estimator {
namespace {

template <int V, int N>
RIG_INLINE void add_product_tile(int k, const double* a, long a_stride, const double* b,
                                 long b_stride, double* c, long c_stride) {
  RegisterTile<V, N> tile;
  load(tile, c, c_stride);
  accumulate_product<true>(tile, k, a, a_stride, b, b_stride);
  store(tile, c, c_stride);
}

RIG_INLINE void load_vector(Vector& v, const double* data) {
  v = *reinterpret_cast<const UnalignedVector*>(data);
}

RIG_INLINE void store_vector(double* data, const Vector& v) {
  *reinterpret_cast<UnalignedVector*>(data) = v;
}

// B = Aᵀ for a kLanes x kLanes tile.
RIG_INLINE void transpose_tile(const double* a, long a_stride, double* b, long b_stride) {
  Vector c[kLanes];
  for (int j = 0; j < kLanes; ++j) load_vector(c[j], a + j * a_stride);
#ifdef __AVX__
  const Vector t0 = __builtin_shufflevector(c[0], c[1], 0, 4, 2, 6);
  const Vector t1 = __builtin_shufflevector(c[0], c[1], 1, 5, 3, 7);
  const Vector t2 = __builtin_shufflevector(c[2], c[3], 0, 4, 2, 6);
  const Vector t3 = __builtin_shufflevector(c[2], c[3], 1, 5, 3, 7);
  store_vector(b, __builtin_shufflevector(t0, t2, 0, 1, 4, 5));
  store_vector(b + b_stride, __builtin_shufflevector(t1, t3, 0, 1, 4, 5));
  store_vector(b + 2 * b_stride, __builtin_shufflevector(t0, t2, 2, 3, 6, 7));
  store_vector(b + 3 * b_stride, __builtin_shufflevector(t1, t3, 2, 3, 6, 7));
#else
  store_vector(b, __builtin_shufflevector(c[0], c[1], 0, 2));
  store_vector(b + b_stride, __builtin_shufflevector(c[0], c[1], 1, 3));
#endif
}

// Dot products of N columns of A with x over rows begin … end; end − begin is divisible by kLanes.
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
  for (int j = 0; j < N; ++j) {
    dot[j] = 0.0;
    for (int lane = 0; lane < kLanes; ++lane) dot[j] += sum[j][lane];
  }
}

// Back substitution for columns first … first + N, given all elements of x below.
template <int N>
void solve_columns_transposed(int m, int first, ConstMatrixView panel, double* x) {
  const long stride = panel.stride;
  const double* columns = panel.data + first * stride;
  double inverse[N];
  for (int j = 0; j < N; ++j) inverse[j] = 1.0 / columns[first + j + j * stride];
  double dot[N];
  dot_columns<N>(first + kTileColumns, padded_row_count(m), columns, stride, x, dot);
  const int tile_end = std::min(first + kTileColumns, m);
  for (int j = N - 1; j >= 0; --j) {
    double value = x[first + j] - dot[j];
    for (int i = first + j + 1; i < tile_end; ++i) value -= columns[i + j * stride] * x[i];
    x[first + j] = value * inverse[j];
  }
}

}  // namespace

void add_product_lower(int m, int n, int k, ConstMatrixView A, MatrixView C) {
  assert(n <= m);
  for_each_column_group(n, [&](int j, auto columns) {
    for_each_row_tile(j, padded_row_count(m), [&](int i, auto vectors) {
      add_product_tile<vectors, columns>(k, A.data + i, A.stride, A.data + j, A.stride,
                                         C.data + i + j * static_cast<long>(C.stride), C.stride);
    });
  });
}

void transpose(int m, int n, ConstMatrixView A, MatrixView B) {
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

void back_substitute_block_column(int m, int n, ConstMatrixView panel, double* x) {
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

void subtract_transposed_product(int m, int n, ConstMatrixView A, const double* x, double* y) {
  for_each_column_group(n, [&](int j, auto columns) {
    double dot[columns];
    dot_columns<columns>(0, padded_row_count(m), A.data + j * static_cast<long>(A.stride), A.stride,
                         x, dot);
    for (int c = 0; c < columns; ++c) y[j + c] -= dot[c];
  });
}

}  // namespace estimator
