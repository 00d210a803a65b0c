#include "estimator/optimize/arrow_matrix.hpp"

#include <algorithm>
#include <cassert>

namespace estimator {
namespace {

// The strip is also read from the start of each of its node blocks, in rows rounded up to kLanes:
// hence up to kLanes − 1 more zero rows where a block does not start on a multiple of kLanes.
int padded_band_rows(const ArrowLayout& layout) {
  const int rows = (layout.bandwidth + 1) * layout.node_size;
  return padded_rows(layout.node_size % kLanes == 0 ? rows : rows + kLanes - 1);
}

}  // namespace

ArrowMatrix::ArrowMatrix(const ArrowLayout& layout)
    : layout_(layout),
      band_offset_(padded_rows(layout.arrow_size + 1)),
      stride_(band_offset_ + padded_band_rows(layout)),
      panel_size_(static_cast<std::ptrdiff_t>(stride_) * layout.node_size),
      storage_(panel_size_ * layout.node_count) {
  assert(layout.node_count >= 0 && layout.node_size >= 1);
  assert(layout.bandwidth >= 0 && layout.bandwidth <= kMaxPanelTerms);
  assert(layout.arrow_size >= 0);
}

void ArrowMatrix::set_zero(int node) { std::fill_n(panel(node), panel_size_, 0.0); }

}  // namespace estimator
