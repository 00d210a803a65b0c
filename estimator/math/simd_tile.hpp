#pragma once

#include <type_traits>
#include <utility>

#include "estimator/math/small_dense.hpp"

// Register tiles for the kernels of small_dense and for kernels that fuse several of their steps.
// Included by kernel sources only.

namespace estimator {

// GCC and Clang vectors. They are never passed by value: without AVX that would change the ABI.
typedef double Vector __attribute__((vector_size(kLanes * sizeof(double))));
typedef double UnalignedVector
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));

#define RIG_INLINE [[gnu::always_inline]] inline
#define RIG_INLINE_LAMBDA __attribute__((always_inline))

template <int I>
using Constant = std::integral_constant<int, I>;

/// Calls f(Constant<0>) … f(Constant<N − 1>). Unlike a loop variable, the arguments are
/// compile-time constants. g++ keeps a tile in registers only if all its indices are constants.
template <int N, typename F>
RIG_INLINE void unroll_loop(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) RIG_INLINE_LAMBDA { (f(Constant<I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

/// Size of the largest register tile, in vectors per column and in columns. Its 3 × 4 vectors,
/// three vectors of matrix A and one of matrix B fill the 16 registers of AVX2, and keep both
/// multiply-add units busy.
inline constexpr int kTileVectors = 3;
inline constexpr int kTileColumns = 4;

template <int V, int N>
struct RegisterTile {
  Vector c[N][V];
};

/// Calls f(j, v) for every column j of a tile and every SIMD vector v in this column.
template <int V, int N, typename F>
RIG_INLINE void for_each_tile_vector(F&& f) {
  unroll_loop<N>([&](auto j) RIG_INLINE_LAMBDA {
    unroll_loop<V>([&](auto v) RIG_INLINE_LAMBDA { f(j, v); });
  });
}

template <int V, int N>
RIG_INLINE void set_zero(RegisterTile<V, N>& tile) {
  for_each_tile_vector<V, N>([&](auto j, auto v) RIG_INLINE_LAMBDA { tile.c[j][v] = Vector{}; });
}

template <int V, int N>
RIG_INLINE void load(RegisterTile<V, N>& tile, const double* data, long stride) {
  for_each_tile_vector<V, N>([&](auto j, auto v) RIG_INLINE_LAMBDA {
    tile.c[j][v] = *reinterpret_cast<const UnalignedVector*>(data + j * stride + v * kLanes);
  });
}

template <int V, int N>
RIG_INLINE void store(const RegisterTile<V, N>& tile, double* data, long stride) {
  for_each_tile_vector<V, N>([&](auto j, auto v) RIG_INLINE_LAMBDA {
    *reinterpret_cast<UnalignedVector*>(data + j * stride + v * kLanes) = tile.c[j][v];
  });
}

/// Adds the outer product a bᵀ to a tile, or subtracts it. a is a column of A, and b a column of B.
template <bool kAdd, int V, int N>
RIG_INLINE void accumulate_outer_product(RegisterTile<V, N>& tile, const double* a,
                                         const double* b) {
  Vector column[V];
  unroll_loop<V>([&](auto v) RIG_INLINE_LAMBDA {
    column[v] = *reinterpret_cast<const UnalignedVector*>(a + v * kLanes);
  });
  for_each_tile_vector<V, N>([&](auto j, auto v) RIG_INLINE_LAMBDA {
    if constexpr (kAdd) {
      tile.c[j][v] += column[v] * b[j];
    } else {
      tile.c[j][v] -= column[v] * b[j];
    }
  });
}

/// Adds A Bᵀ to a tile, or subtracts it. A is V·kLanes × depth, and B is N × depth.
template <bool kAdd, int V, int N>
RIG_INLINE void accumulate_product(RegisterTile<V, N>& tile, int depth, const double* a,
                                   long a_stride, const double* b, long b_stride) {
  // Two multiply-adds a cycle with a latency of four need eight sums in flight.
  constexpr bool kTwoTiles = V * N < 8;
  RegisterTile<V, N> odd;
  if constexpr (kTwoTiles) set_zero(odd);
  int p = 0;
  for (; p + 2 <= depth; p += 2) {
    accumulate_outer_product<kAdd>(tile, a, b);
    accumulate_outer_product<kAdd>(kTwoTiles ? odd : tile, a + a_stride, b + b_stride);
    a += 2 * a_stride;
    b += 2 * b_stride;
  }
  if (p < depth) accumulate_outer_product<kAdd>(tile, a, b);
  if constexpr (kTwoTiles) {
    for_each_tile_vector<V, N>([&](auto j, auto v)
                                   RIG_INLINE_LAMBDA { tile.c[j][v] += odd.c[j][v]; });
  }
}

/// Calls f(first_row, Constant<vectors>) for tiles that cover the rows from begin to end, which are
/// multiples of kLanes. Four remaining vectors are split into two and two, because a single vector
/// would leave the multiply-add units idle.
template <typename F>
RIG_INLINE void for_each_row_tile(int begin, int end, F&& f) {
  int vectors = (end - begin) / kLanes;
  int row = begin;
  while (vectors > 4 || vectors == 3) {
    f(row, Constant<kTileVectors>{});
    row += kTileVectors * kLanes;
    vectors -= kTileVectors;
  }
  while (vectors >= 2) {
    f(row, Constant<2>{});
    row += 2 * kLanes;
    vectors -= 2;
  }
  if (vectors == 1) f(row, Constant<1>{});
}

/// Calls f(first_column, Constant<columns>) for each group of four columns, and for the remaining
/// columns.
template <typename F>
RIG_INLINE void for_each_column_group(int n, F&& f) {
  int j = 0;
  for (; j + kTileColumns <= n; j += kTileColumns) f(j, Constant<kTileColumns>{});
  switch (n - j) {
    case 1:
      return f(j, Constant<1>{});
    case 2:
      return f(j, Constant<2>{});
    case 3:
      return f(j, Constant<3>{});
    default:
      return;
  }
}

}  // namespace estimator
