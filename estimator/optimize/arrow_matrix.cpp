#include "estimator/optimize/arrow_matrix.hpp"

#include <cassert>

namespace estimator {

ArrowMatrix::ArrowMatrix(const ArrowLayout& layout)
    : layout_(layout),
      band_offset_(padded_rows(layout.arrow_size + 1)),
      stride_(stride_for_span(layout.bandwidth + 1)),
      panel_size_(static_cast<std::ptrdiff_t>(stride_) * layout.node_size),
      storage_(Eigen::VectorXd::Zero(panel_size_ * layout.node_count)) {
  assert(layout.node_count >= 0 && layout.node_size >= 1);
  assert(layout.bandwidth >= 0 && layout.arrow_size >= 0);
}

// A strip is also read from the start of each of its node blocks, in rows rounded up to kLanes. So
// it needs up to kLanes − 1 more zero rows if a block does not start at a multiple of kLanes.
int ArrowMatrix::stride_for_span(int node_span) const {
  const int rows = node_span * layout_.node_size;
  return band_offset_ + padded_rows(layout_.node_size % kLanes == 0 ? rows : rows + kLanes - 1);
}

}  // namespace estimator
