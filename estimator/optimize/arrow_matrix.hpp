#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "estimator/math/small_dense.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Lower half of a symmetric block-banded matrix with an arrow and a right-hand side. Each node has
/// a panel of node_size columns, contiguous in memory.
///
/// Panel k stacks two strips. The arrow strip has a row for the right-hand side of node k, then
/// arrow_size rows of parameters against node k. The band strip has nodes k … k + bandwidth against
/// node k. As the right-hand side is an arrow row, the factorization includes forward substitution.
/// Zero rows pad the strips as required by math/small_dense.hpp.
class ArrowMatrix {
 public:
  explicit ArrowMatrix(const ArrowLayout& layout);

  const ArrowLayout& layout() const { return layout_; }

  /// Returns the rows of the arrow strip without padding: parameters and right-hand side.
  int arrow_rows() const { return layout_.arrow_size + 1; }
  /// Returns the rows of the band strip without padding.
  int band_rows() const { return (layout_.bandwidth + 1) * layout_.node_size; }
  /// Returns the padded rows of the arrow strip, after which the band strip starts.
  int band_offset() const { return band_offset_; }
  /// Returns the padded rows of a panel.
  int stride() const { return stride_; }
  /// Returns the padded rows of a panel whose band strip has only `node_span` nodes.
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
