#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "estimator/math/small_dense.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Lower half of a symmetric block-banded matrix with an arrow and a right-hand side: one panel of
/// node_size columns per node, contiguous in memory.
///
/// Panel k stacks two strips. The arrow strip has one row for the right-hand side of node k, then
/// arrow_size rows of parameters against node k. The band strip has nodes k … k + bandwidth against
/// node k. With the right-hand side as an arrow row, forward substitution is part of the
/// factorization. Both strips are padded with zero rows as required by math/small_dense.hpp.
class ArrowMatrix {
 public:
  explicit ArrowMatrix(const ArrowLayout& layout);

  const ArrowLayout& layout() const { return layout_; }

  /// Rows of the arrow strip without padding: parameters and right-hand side.
  int arrow_rows() const { return layout_.arrow_size + 1; }
  /// Rows of the band strip without padding.
  int band_rows() const { return (layout_.bandwidth + 1) * layout_.node_size; }
  /// Rows of the arrow strip with padding; the band strip starts there.
  int band_offset() const { return band_offset_; }
  /// Rows of a panel with padding.
  int stride() const { return stride_; }
  /// The same for a band strip of `node_span` nodes only.
  int stride_for_span(int node_span) const;

  Panel arrow(int node) { return {panel(node), stride_}; }
  ConstPanel arrow(int node) const { return {panel(node), stride_}; }
  Panel band(int node) { return {panel(node) + band_offset_, stride_}; }
  ConstPanel band(int node) const { return {panel(node) + band_offset_, stride_}; }

 private:
  double* panel(int node) { return storage_.data() + panel_size_ * node; }
  const double* panel(int node) const { return storage_.data() + panel_size_ * node; }

  ArrowLayout layout_;
  int band_offset_;
  int stride_;
  std::ptrdiff_t panel_size_;
  Eigen::VectorXd storage_;
};

}  // namespace estimator
