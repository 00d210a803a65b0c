#include "estimator/optimize/node_elimination.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "estimator/math/simd_tile.hpp"

namespace estimator {
namespace {

// Returns an element of a tile; only tiles with at least N rows are on the diagonal.
template <int i, int j, int V, int N>
RIG_INLINE double element(const RegisterTile<V, N>& tile) {
  return tile.c[j][std::min(i / kLanes, V - 1)][i % kLanes];
}

// Cholesky factor of the N x N tile on the diagonal of a column group.
template <int N>
struct DiagonalTile {
  double l[N][N] = {};     // strictly lower part of L
  double inverse[N] = {};  // 1 / L_jj

  // Factorizes the top rows of a tile.
  template <int V>
  RIG_INLINE bool factor(const RegisterTile<V, N>& tile) {
    bool positive = true;
    unroll_loop<N>([&](auto j) RIG_INLINE_LAMBDA {
      double pivot = element<j, j>(tile);
      unroll_loop<j>([&](auto p) RIG_INLINE_LAMBDA { pivot -= l[j][p] * l[j][p]; });
      positive = positive && pivot > 0.0;  // false for NaN too
      inverse[j] = 1.0 / std::sqrt(pivot);
      unroll_loop<N - 1 - j>([&](auto below) RIG_INLINE_LAMBDA {
        constexpr int i = j + 1 + below;
        double value = element<i, j>(tile);
        unroll_loop<j>([&](auto p) RIG_INLINE_LAMBDA { value -= l[i][p] * l[j][p]; });
        l[i][j] = value * inverse[j];
      });
    });
    return positive;
  }

  // Loads a stored tile.
  RIG_INLINE void load(const double* L, long stride) {
    unroll_loop<N>([&](auto j) RIG_INLINE_LAMBDA {
      inverse[j] = 1.0 / L[j + j * stride];
      unroll_loop<N - 1 - j>([&](auto below) RIG_INLINE_LAMBDA {
        constexpr int i = j + 1 + below;
        l[i][j] = L[i + j * stride];
      });
    });
  }

  // tile ← tile L⁻ᵀ. On the rows of the diagonal tile itself this yields L.
  template <int V>
  RIG_INLINE void solve(RegisterTile<V, N>& tile) const {
    unroll_loop<N>([&](auto j) RIG_INLINE_LAMBDA {
      unroll_loop<j>([&](auto p) RIG_INLINE_LAMBDA {
        unroll_loop<V>([&](auto v) RIG_INLINE_LAMBDA { tile.c[j][v] -= tile.c[p][v] * l[j][p]; });
      });
      unroll_loop<V>([&](auto v) RIG_INLINE_LAMBDA { tile.c[j][v] *= inverse[j]; });
    });
  }
};

enum class Strip { kArrow, kBand };

// Adds or subtracts all terms, for the tile at `row` of a strip and column `first`.
template <bool kAdd, Strip strip, int V, int N>
RIG_INLINE void accumulate_terms(RegisterTile<V, N>& tile,
                                 const std::vector<EliminationTerm>& terms, int rows, int row,
                                 int first) {
  for (const EliminationTerm& term : terms) {
    if (strip == Strip::kBand && term.rows < rows) break;
    const double* a = (strip == Strip::kBand ? term.band : term.arrow) + row;
    accumulate_product<kAdd>(tile, term.depth, a, term.stride, term.band + first, term.stride);
  }
}

// Sets the initial value of the tile at `row` of a strip and column `first`.
template <int V, int N>
RIG_INLINE void begin_tile(RegisterTile<V, N>& tile, ConstMatrixView start, int row, int first) {
  if (start.data == nullptr) {
    set_zero(tile);
  } else {
    load(tile, start.data + row + first * static_cast<long>(start.stride), start.stride);
  }
}

// Computes column group `first` … `first` + N of A: the diagonal tile and the rows of A below it.
template <int N>
bool factor_diagonal_columns(const NodeElimination& node, int first) {
  const long stride = node.band.stride;
  double* const band = node.band.data;
  DiagonalTile<N> diagonal;
  bool positive = true;
  for_each_row_tile(first, padded_row_count(node.node_size), [&](int row, auto vectors) {
    RegisterTile<vectors, N> tile;
    begin_tile(tile, node.start_band, row, first);
    accumulate_terms<true, Strip::kBand>(tile, node.added, node.node_size, row, first);
    const bool on_diagonal = row == first;
    if (on_diagonal) {
      unroll_loop<N>([&](auto j) RIG_INLINE_LAMBDA {
        const double h = element<j, j>(tile);
        node.scale[first + j] = h == 0.0 ? 1.0 : h;
        tile.c[j][std::min(j / kLanes, vectors - 1)][j % kLanes] =
            h + node.damping * node.scale[first + j];
      });
    }
    accumulate_terms<false, Strip::kBand>(tile, node.subtracted, node.node_size, row, first);
    accumulate_product<false>(tile, first, band + row, stride, band + first, stride);
    if (on_diagonal) positive = diagonal.factor(tile);
    diagonal.solve(tile);
    store(tile, band + row + first * stride, stride);
  });
  return positive;
}

// Computes rows begin … end of a strip below A, for terms that affect at least `rows` rows. Tiles
// are processed from left to right, so the rows of A that all tiles need stay in the first-level
// cache.
template <Strip strip>
void solve_rows(const NodeElimination& node, int begin, int end, int rows) {
  const MatrixView out = strip == Strip::kBand ? node.band : node.arrow;
  const long stride = out.stride;
  const long band_stride = node.band.stride;
  for_each_row_tile(begin, end, [&](int row, auto vectors) {
    for_each_column_group(node.node_size, [&](int first, auto columns) {
      RegisterTile<vectors, columns> tile;
      begin_tile(tile, strip == Strip::kArrow ? node.start_arrow : ConstMatrixView{nullptr, 0}, row,
                 first);
      accumulate_terms<true, strip>(tile, node.added, rows, row, first);
      if (strip == Strip::kArrow && row == 0) {
        unroll_loop<columns>([&](auto j)
                                 RIG_INLINE_LAMBDA { node.gradient[first + j] = tile.c[j][0][0]; });
      }
      accumulate_terms<false, strip>(tile, node.subtracted, rows, row, first);
      const double* const L = node.band.data + first;
      accumulate_product<false>(tile, first, out.data + row, stride, L, band_stride);
      DiagonalTile<columns> diagonal;
      diagonal.load(L + first * band_stride, band_stride);
      diagonal.solve(tile);
      store(tile, out.data + row + first * stride, stride);
    });
  });
}

}  // namespace

bool eliminate_node(const NodeElimination& node) {
  assert(node.band_row_count % node.node_size == 0);
  const int s = node.node_size;
  bool positive = true;
  for_each_column_group(s, [&](int first, auto columns) {
    positive = positive && factor_diagonal_columns<columns>(node, first);
  });
  if (!positive) return false;
  // A tile must not extend past the last row of a term, since there are no further rows to read.
  for (int rows = 2 * s; rows <= node.band_row_count; rows += s) {
    solve_rows<Strip::kBand>(node, padded_row_count(rows - s), padded_row_count(rows), rows);
  }
  // All terms have all rows of the arrow strip; padding of the band strip stays zero.
  solve_rows<Strip::kArrow>(node, 0, padded_row_count(node.arrow_row_count), 0);
  return true;
}

}  // namespace estimator
