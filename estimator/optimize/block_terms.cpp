#include "estimator/optimize/block_terms.hpp"

#include <algorithm>
#include <cassert>

namespace estimator {
namespace {

double* room_for(Eigen::Index size, Eigen::VectorXd& buffer) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

}  // namespace

// Allocates for the largest block, so that linearizing does not allocate.
BlockLinearizer::BlockLinearizer(const ArrowMatrix& panels, int max_block_rows) {
  const ArrowLayout& layout = panels.layout();
  block_.residual.resize(max_block_rows);
  block_.node_jacobian.resize(max_block_rows, panels.band_rows());
  block_.arrow_jacobian.resize(max_block_rows, layout.arrow_size);
  const int columns = layout.node_size + panels.arrow_rows();
  tall_.resize(static_cast<Eigen::Index>(padded_rows(columns)) * max_block_rows);
}

void BlockLinearizer::linearize(const LeastSquaresProblem& problem, int index,
                                const ArrowMatrix& panels, BlockTerms& out) {
  problem.linearize(index, block_);
  const ArrowLayout& layout = panels.layout();
  const int m = block_.rows;
  assert(block_.node_span <= layout.bandwidth + 1);
  assert(block_.node_span == 0 || block_.first_node + block_.node_span <= layout.node_count);
  out.first_node = block_.first_node;
  out.node_span = block_.node_span;
  out.rows = m;
  out.square = block_.residual.head(m).squaredNorm();
  out.parameters.clear();
  for (int i = 0; i < layout.arrow_size; ++i) {
    if (!block_.arrow_jacobian.col(i).head(m).isZero(0.0)) out.parameters.push_back(i);
  }
  out.is_product = block_.node_span == 1 && m > layout.node_size;
  if (out.is_product) {
    multiply(layout.node_size, out);
  } else {
    transpose_rows(panels, out);
  }
}

void BlockLinearizer::multiply(int node_size, BlockTerms& out) {
  const int m = block_.rows, s = node_size;
  const int columns = s + 1 + static_cast<int>(out.parameters.size()),
            stride = padded_rows(columns);
  const auto put = [&](int at, const double* values) {
    for (int i = 0; i < m; ++i) tall_[at + static_cast<Eigen::Index>(i) * stride] = values[i];
  };
  for (int j = 0; j < s; ++j) put(j, block_.node_jacobian.col(j).data());
  put(s, block_.residual.data());
  for (int k = 0; k < columns - s - 1; ++k) {
    put(s + 1 + k, block_.arrow_jacobian.col(out.parameters[static_cast<std::size_t>(k)]).data());
  }
  for (int i = columns; i < stride; ++i) {
    for (int row = 0; row < m; ++row) tall_[i + static_cast<Eigen::Index>(row) * stride] = 0.0;
  }
  const Eigen::Index size = static_cast<Eigen::Index>(stride) * stride;
  double* const product = room_for(size, out.columns);
  std::fill_n(product, size, 0.0);
  add_product_lower(columns, columns, m, {tall_.data(), stride}, {product, stride});
  out.stride = stride;
}

void BlockLinearizer::transpose_rows(const ArrowMatrix& panels, BlockTerms& out) const {
  const ArrowLayout& layout = panels.layout();
  const int m = block_.rows, node_columns = block_.node_span * layout.node_size;
  const int stride = panels.stride_for_span(block_.node_span), offset = panels.band_offset();
  double* const columns = room_for(static_cast<Eigen::Index>(m) * stride, out.columns);
  for (int i = 0; i < m; ++i) {
    double* const column = columns + i * stride;
    column[0] = block_.residual[i];
    std::fill(column + panels.arrow_rows(), column + offset, 0.0);
    std::fill(column + offset + node_columns, column + stride, 0.0);
  }
  transpose(m, layout.arrow_size,
            {block_.arrow_jacobian.data(), static_cast<int>(block_.arrow_jacobian.outerStride())},
            {columns + 1, stride});
  transpose(m, node_columns,
            {block_.node_jacobian.data(), static_cast<int>(block_.node_jacobian.outerStride())},
            {columns + offset, stride});
  out.stride = stride;
}

}  // namespace estimator
