#pragma once

namespace estimator {

// Dense kernels for blocks of about 6 to 60 rows, for which packing dominates in a general BLAS.
//
// Matrices are column-major: element (i, j) is at data[i + j·stride]. Row counts are rounded up to
// kLanes: kernels read and write all rows up to padded_row_count(m), which must be allocated.
// Padding rows of inputs must be zero; those of outputs then keep their values. Exception:
// add_product_lower leaves rows above the diagonal unspecified within a 4 x 4 tile.

/// Number of matrix rows in a SIMD vector. A vector has 32 bytes with AVX, and 16 without AVX,
/// where g++ splits wider vectors.
#ifdef __AVX__
inline constexpr int kLanes = 4;
#else
inline constexpr int kLanes = 2;
#endif

/// Returns the smallest multiple of kLanes that is at least `rows`.
constexpr int padded_row_count(int rows) { return (rows + kLanes - 1) / kLanes * kLanes; }

/// A non-owning view of a matrix.
struct MatrixView {
  double* data = nullptr;
  int stride = 0;
};

struct ConstMatrixView {
  ConstMatrixView(const double* elements, int column_stride)
      : data(elements), stride(column_stride) {}
  ConstMatrixView(MatrixView panel) : data(panel.data), stride(panel.stride) {}
  const double* data;
  int stride;
};

/// Prefetches memory, which hides most of the access time of matrix factors that are larger than
/// the caches.
template <bool kForWriting>
inline void prefetch(const double* data, int count) {
  constexpr int kLineDoubles = 8;
  constexpr int kSecondLevelCache = 2;
  for (int i = 0; i < count; i += kLineDoubles) {
    __builtin_prefetch(data + i, kForWriting ? 1 : 0, kSecondLevelCache);
  }
}

/// Adds A Bᵀ to C on and below the diagonal (BLAS: syrk). A is m × k, and B is the first n ≤ m rows
/// of A.
void add_product_lower(int m, int n, int k, ConstMatrixView A, MatrixView C);

/// Writes the transpose of A to B. A is m × n, and B is n × m. Rows of B beyond n are not changed,
/// and rows of A beyond m are not read.
void transpose(int m, int n, ConstMatrixView A, MatrixView B);

/// Computes the step of a back substitution for one block column, with L (n × n) on top and B
/// below:
///
///   x_top ← L⁻ᵀ (x_top − Bᵀ x_below).
///
/// @param x  x_top (n) followed by x_below (padded to padded_row_count(m) in all, finite)
void back_substitute_block_column(int m, int n, ConstMatrixView panel, double* x);

/// Subtracts Aᵀ x from y. A is m × n; x is padded to padded_row_count(m) and finite.
void subtract_transposed_product(int m, int n, ConstMatrixView A, const double* x, double* y);

}  // namespace estimator
