#pragma once

#include <vector>

#include "estimator/math/small_dense.hpp"

namespace estimator {

/// The contribution A Bᵀ of a matrix A to the panel of a node. B consists of the first node_size
/// rows of A's band strip. The strips of A are padded as required by math/small_dense.hpp.
struct EliminationTerm {
  const double* arrow = nullptr;  ///< arrow_row_count x depth
  const double* band = nullptr;   ///< rows x depth
  int stride = 0;                 ///< stride of `arrow` and `band`
  int depth = 0;
  int rows = 0;  ///< rows of the panel's band strip that the term affects
};

/// The operands of the elimination of a node of a block-arrowhead matrix. The node's panel is
/// assembled, damped and factorized without storing intermediate results:
///
///   [A; B] = start + Σ added − Σ subtracted,  A += α D,  A = L Lᵀ,  B ← B L⁻ᵀ
///
/// A is the node_size x node_size block at the top of the band strip. B is the arrow strip and the
/// rows below A. `start` and `added` are the residual blocks that involve the node, `subtracted`
/// the factors of earlier nodes. D is the diagonal of start + Σ added, with 1 in place of 0.
struct NodeElimination {
  int node_size = 0;
  int arrow_row_count = 0;
  int band_row_count = 0;  ///< whole node blocks
  double damping = 0.0;
  ConstMatrixView start_arrow{nullptr, 0};  ///< arrow_row_count x node_size; null: zero
  ConstMatrixView start_band{nullptr, 0};   ///< A alone, lower; used if start_arrow is not null
  std::vector<EliminationTerm> added;       ///< by descending rows
  std::vector<EliminationTerm> subtracted;  ///< by descending rows

  MatrixView arrow;            ///< out: R, arrow_row_count x node_size
  MatrixView band;             ///< out: L and the rows below; unspecified above the diagonal
  double* scale = nullptr;     ///< out: D, node_size
  double* gradient = nullptr;  ///< out: row 0 of the arrow strip of start + Σ added, node_size
};

/// Eliminates a node from a block-arrowhead matrix.
/// @return false if a pivot is not positive (or NaN); the outputs are then invalid.
bool eliminate_node(const NodeElimination& node);

}  // namespace estimator
