#pragma once

#include <array>

namespace estimator {

// Dense kernels for blocks of some 6 to 60 rows, where a general BLAS spends its time on packing.
//
// Matrices are column-major: element (i, j) lies at data[i + j·stride]. Row counts are rounded up
// to kLanes: a kernel reads and writes the rows up to padded_rows(m), so they must exist. Padding
// rows of an input must be zero; the padding rows of the output then keep their values, except in
// add_product_lower, whose rows above the diagonal are unspecified within a 4 x 4 tile.

/// Rows per SIMD vector.
inline constexpr int kLanes = 4;

/// Smallest multiple of kLanes that holds `rows`.
constexpr int padded_rows(int rows) { return (rows + kLanes - 1) / kLanes * kLanes; }

/// A matrix that someone else owns.
struct Panel {
  double* data = nullptr;
  int stride = 0;
};

struct ConstPanel {
  ConstPanel(const double* elements, int column_stride) : data(elements), stride(column_stride) {}
  ConstPanel(Panel panel) : data(panel.data), stride(panel.stride) {}
  const double* data;
  int stride;
};

/// C += A Bᵀ, with A m x k, B n x k, C m x n (gemm).
void add_product(int m, int n, int k, ConstPanel A, ConstPanel B, Panel C);

/// C += A Bᵀ on the lower trapezoid i ≥ j only, with B the first n rows of A, n ≤ m (syrk).
void add_product_lower(int m, int n, int k, ConstPanel A, Panel C);

/// B = Aᵀ, with A m x n, B n x m. No row of B beyond n is touched, no row of A beyond m read.
void transpose(int m, int n, ConstPanel A, Panel B);

/// One term C −= A Bᵀ of a left-looking factorisation, A `rows` x `depth`, B n x `depth`.
struct PanelTerm {
  const double* a = nullptr;
  const double* b = nullptr;
  int stride = 0;  ///< of A and of B
  int depth = 0;   ///< columns of A and of B
  int rows = 0;    ///< rows of the panel, from its first, that the term reaches
};

/// Terms of one panel, ordered by falling `rows`.
inline constexpr int kMaxPanelTerms = 8;
struct PanelTerms {
  std::array<PanelTerm, kMaxPanelTerms> term;
  int count = 0;
};

/// Cholesky factorisation of one block column: with the n x n matrix A on top and B below,
///
///   A ← L with L Lᵀ = A − Σ terms,     B ← (B − Σ terms) L⁻ᵀ.
///
/// @param m              rows of the panel, m ≥ n
/// @param n              columns of the panel
/// @param panel          m x n; of A only the lower triangle and the diagonal 4 x 4 tiles are read,
///                       and above the diagonal the result is unspecified
/// @param band_terms     terms of the panel; a term reaches its first `rows` rows
/// @param arrow_rows     rows of a second B, stored apart, without zero rows of its own
/// @param arrow          arrow_rows x n
/// @param arrow_terms    terms of `arrow`, with the same b, stride and depth as band_terms
/// @return false at a pivot that is not positive (or NaN): the panel is then unusable.
bool factor_panel(int m, int n, Panel panel, const PanelTerms& band_terms, int arrow_rows,
                  Panel arrow, const PanelTerms& arrow_terms);

/// Back substitution through one block column: with L (n x n) on top and B below,
///
///   x_top ← L⁻ᵀ (x_top − Bᵀ x_below).
///
/// @param x  x_top (n) followed by x_below (padded to padded_rows(m) in all, finite)
void solve_panel_transposed(int m, int n, ConstPanel panel, double* x);

/// y −= Aᵀ x, with A m x n; x padded to padded_rows(m), finite.
void subtract_transposed_product(int m, int n, ConstPanel A, const double* x, double* y);

}  // namespace estimator
