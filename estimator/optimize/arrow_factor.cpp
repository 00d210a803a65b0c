#include "estimator/optimize/arrow_factor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace estimator {
namespace {

// A diagonal entry is zero only for an unknown that no residual sees.
Eigen::VectorXd without_zeros(const Eigen::VectorXd& diagonal) {
  return (diagonal.array() == 0.0).select(1.0, diagonal);
}

Eigen::MatrixXd zero_corner(int arrow_rows) {
  const int rows = padded_rows(arrow_rows);
  return Eigen::MatrixXd::Zero(rows, rows);
}

void add_lower_product(int rows, int depth, ConstPanel A, Eigen::MatrixXd& C) {
  add_product_lower(rows, rows, depth, A, {C.data(), static_cast<int>(C.outerStride())});
}

// Nodes that blocks may be over while none of them is eliminated.
ArrowLayout open_nodes(ArrowLayout layout) {
  layout.node_count = layout.bandwidth + 1;
  return layout;
}

}  // namespace

ArrowFactor::ArrowFactor(const ArrowLayout& layout, int max_block_rows)
    : factor_(layout),
      sums_(open_nodes(layout)),
      has_sums_(static_cast<std::size_t>(layout.bandwidth) + 1),
      ring_(1),
      corner_(zero_corner(factor_.arrow_rows())),
      eliminated_corner_(zero_corner(factor_.arrow_rows())),
      node_scale_(layout.node_count * static_cast<Eigen::Index>(layout.node_size)),
      node_gradient_(node_scale_.size()),
      arrow_scale_(layout.arrow_size),
      arrow_gradient_(layout.arrow_size),
      schur_(layout.arrow_size, layout.arrow_size),
      schur_gradient_(layout.arrow_size),
      padded_node_step_(node_scale_.size() + factor_.stride()),
      padded_arrow_step_(Eigen::VectorXd::Zero(factor_.band_offset())) {
  elimination_.node_size = layout.node_size;
  elimination_.arrow_rows = factor_.arrow_rows();
  elimination_.band_rows = factor_.band_rows();
  // Room for the largest block, so that no problem needs to allocate while it linearises.
  block_.residual.resize(max_block_rows);
  block_.node_jacobian.resize(max_block_rows, factor_.band_rows());
  block_.arrow_jacobian.resize(max_block_rows, layout.arrow_size);
  const int columns = layout.node_size + factor_.arrow_rows();
  seen_.reserve(static_cast<std::size_t>(layout.arrow_size));
  tall_.resize(static_cast<Eigen::Index>(padded_rows(columns)) * max_block_rows);
  tall_product_ = zero_corner(columns);
}

bool ArrowFactor::factorize(const LeastSquaresProblem& problem, double damping) {
  start(damping);
  const ArrowLayout& layout = factor_.layout();
  const int block_count = problem.block_count();
  for (int index = 0; index < block_count; ++index) {
    problem.linearize(index, block_);
    const int last = block_.first_node + block_.node_span - 1;
    assert(block_.node_span == 0 || block_.first_node >= eliminated_);
    assert(last < std::max(1, layout.node_count));
    // No later block ends before this one, so none reaches further back than bandwidth from here.
    while (eliminated_ < last - layout.bandwidth) {
      if (!eliminate_next()) return false;
    }
    add_block(block_);
  }
  while (eliminated_ < layout.node_count) {
    if (!eliminate_next()) return false;
  }
  finish();
  return std::isfinite(node_decrease_) && schur_.allFinite() && schur_gradient_.allFinite();
}

void ArrowFactor::start(double damping) {
  assert(damping >= 0.0);
  damping_ = damping;
  eliminated_ = 0;
  pending_count_ = 0;
  corner_.setZero();
  eliminated_corner_.setZero();
  has_sums_.assign(has_sums_.size(), false);
}

// Room for more columns over the given nodes: in the last pending block if it is over the same
// nodes, in a new one otherwise. Returns the first of the new columns.
double* ArrowFactor::append_columns(int first_node, int node_span, int rows) {
  const bool extends_last = pending_count_ > 0 &&
                            pending(pending_count_ - 1).first_node == first_node &&
                            pending(pending_count_ - 1).node_span == node_span;
  if (!extends_last) {
    if (pending_count_ == static_cast<int>(ring_.size())) {
      std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(ring_begin_),
                  ring_.end());
      ring_begin_ = 0;
      ring_.resize(2 * ring_.size());
    }
    PendingBlock& added = pending(pending_count_++);
    added.first_node = first_node;
    added.node_span = node_span;
    added.rows = 0;
    added.stride = factor_.stride_for_span(node_span);
  }
  PendingBlock& last = pending(pending_count_ - 1);
  const Eigen::Index used = static_cast<Eigen::Index>(last.rows) * last.stride;
  const Eigen::Index size = used + static_cast<Eigen::Index>(rows) * last.stride;
  if (last.columns.size() < size) last.columns.conservativeResize(2 * size);
  last.rows += rows;
  return last.columns.data() + used;
}

// Keeps [r J_χ J_x]ᵀ of one block, and adds its part in the parameters alone.
void ArrowFactor::add_block(const ResidualBlock& block) {
  const ArrowLayout& layout = factor_.layout();
  const int m = block.rows;
  const int node_columns = block.node_span * layout.node_size;
  assert(block.node_span <= layout.bandwidth + 1);
  if (m == 0) return;
  if (block.node_span == 1 && m > layout.node_size) {
    add_sums(block);
    return;
  }

  double* const columns = append_columns(block.first_node, block.node_span, m);
  const int stride = factor_.stride_for_span(block.node_span);
  const int offset = factor_.band_offset();
  for (int i = 0; i < m; ++i) {
    double* const column = columns + i * stride;
    column[0] = block.residual[i];
    std::fill(column + factor_.arrow_rows(), column + offset, 0.0);
    std::fill(column + offset + node_columns, column + stride, 0.0);
  }
  transpose(m, layout.arrow_size,
            {block.arrow_jacobian.data(), static_cast<int>(block.arrow_jacobian.outerStride())},
            {columns + 1, stride});
  transpose(m, node_columns,
            {block.node_jacobian.data(), static_cast<int>(block.node_jacobian.outerStride())},
            {columns + offset, stride});
  if (block.arrow_jacobian.topRows(m).isZero(0.0)) {  // most observations
    corner_(0, 0) += block.residual.head(m).squaredNorm();
  } else {
    add_lower_product(factor_.arrow_rows(), m, {columns, stride}, corner_);
  }
}

// Adds [J_x r J_χ]ᵀ [J_x r J_χ] of a block over one node, which is smaller than the block. Most
// readings tell of few parameters: the others' part is zero.
void ArrowFactor::add_sums(const ResidualBlock& block) {
  const int m = block.rows, s = factor_.layout().node_size;
  seen_.clear();
  for (int i = 0; i < factor_.layout().arrow_size; ++i) {
    if (!block.arrow_jacobian.col(i).head(m).isZero(0.0)) seen_.push_back(i);
  }
  const int columns = s + 1 + static_cast<int>(seen_.size()), stride = padded_rows(columns);
  const auto put = [&](int at, const double* values) {
    for (int i = 0; i < m; ++i) tall_[at + static_cast<Eigen::Index>(i) * stride] = values[i];
  };
  for (int j = 0; j < s; ++j) put(j, block.node_jacobian.col(j).data());
  put(s, block.residual.data());
  for (int k = 0; k < columns - s - 1; ++k) {
    put(s + 1 + k, block.arrow_jacobian.col(seen_[static_cast<std::size_t>(k)]).data());
  }
  for (int i = columns; i < stride; ++i) {
    for (int row = 0; row < m; ++row) tall_[i + static_cast<Eigen::Index>(row) * stride] = 0.0;
  }
  tall_product_.topLeftCorner(stride, stride).setZero();
  add_lower_product(columns, m, {tall_.data(), stride}, tall_product_);

  const int slot = block.first_node % sums_.layout().node_count;
  const Panel arrow = sums_.arrow(slot), band = sums_.band(slot);
  if (!has_sums_[static_cast<std::size_t>(slot)]) {
    std::fill_n(arrow.data, static_cast<std::ptrdiff_t>(arrow.stride) * s, 0.0);
    has_sums_[static_cast<std::size_t>(slot)] = true;
  }
  // Rows of the arrow strip and of the corner: 0 is the residual's.
  const auto row_of = [&](int column) {
    return column == s ? 0 : 1 + seen_[static_cast<std::size_t>(column - s - 1)];
  };
  for (int j = 0; j < s; ++j) {
    const double* product = tall_product_.col(j).data();
    double* const band_column = band.data + static_cast<std::ptrdiff_t>(band.stride) * j;
    double* const arrow_column = arrow.data + static_cast<std::ptrdiff_t>(arrow.stride) * j;
    for (int i = j; i < s; ++i) band_column[i] += product[i];
    for (int i = s; i < columns; ++i) arrow_column[row_of(i)] += product[i];
  }
  for (int j = s; j < columns; ++j) {
    const double* product = tall_product_.col(j).data();
    for (int i = j; i < columns; ++i) corner_(row_of(i), row_of(j)) += product[i];
  }
}

bool ArrowFactor::eliminate_next() {
  const ArrowLayout& layout = factor_.layout();
  const int s = layout.node_size;
  const int node = eliminated_++;

  const int slot = node % sums_.layout().node_count;
  const auto own = static_cast<std::size_t>(slot);
  const ConstPanel none{nullptr, 0};
  elimination_.start_arrow = has_sums_[own] ? ConstPanel(sums_.arrow(slot)) : none;
  elimination_.start_band = has_sums_[own] ? ConstPanel(sums_.band(slot)) : none;
  has_sums_[own] = false;
  elimination_.added.clear();
  for (int reach = layout.bandwidth + 1; reach > 0; --reach) {
    for (int index = 0; index < pending_count_; ++index) {
      const PendingBlock& block = pending(index);
      const int position = node - block.first_node;
      if (position < 0 || block.node_span - position != reach) continue;
      const double* const arrow = block.columns.data();
      const double* const band = arrow + factor_.band_offset() + position * s;
      elimination_.added.push_back({arrow, band, block.stride, block.rows, reach * s});
    }
  }
  elimination_.subtracted.clear();
  for (int back = 1; back <= std::min(layout.bandwidth, node); ++back) {
    const ConstPanel band = factor_.band(node - back);
    elimination_.subtracted.push_back({factor_.arrow(node - back).data, band.data + back * s,
                                       band.stride, s, factor_.band_rows() - back * s});
  }
  const int ahead = std::min(node + 1, layout.node_count - 1);
  prefetch<true>(factor_.arrow(ahead).data, factor_.stride() * s);
  elimination_.damping = damping_;
  elimination_.arrow = factor_.arrow(node);
  elimination_.band = factor_.band(node);
  elimination_.scale = node_scale_.data() + static_cast<Eigen::Index>(node) * s;
  elimination_.gradient = node_gradient_.data() + static_cast<Eigen::Index>(node) * s;
  if (!eliminate(elimination_)) return false;

  add_lower_product(factor_.arrow_rows(), s, factor_.arrow(node), eliminated_corner_);
  while (pending_count_ > 0 && pending(0).first_node + pending(0).node_span <= node + 1) {
    ring_begin_ = (ring_begin_ + 1) % ring_.size();
    --pending_count_;
  }
  return true;
}

void ArrowFactor::finish() {
  const int a = factor_.layout().arrow_size;
  arrow_gradient_ = corner_.col(0).segment(1, a);
  arrow_scale_ = without_zeros(corner_.diagonal().segment(1, a));
  schur_gradient_ = arrow_gradient_ - eliminated_corner_.col(0).segment(1, a);
  node_decrease_ = eliminated_corner_(0, 0);
  schur_ = (corner_ - eliminated_corner_).block(1, 1, a, a).selfadjointView<Eigen::Lower>();
  schur_.diagonal() += damping_ * arrow_scale_;
}

void ArrowFactor::solve_nodes(const Eigen::VectorXd& arrow_step, Eigen::VectorXd& node_step) {
  const ArrowLayout& layout = factor_.layout();
  const int s = layout.node_size;
  assert(arrow_step.size() == layout.arrow_size);
  padded_node_step_.setZero();
  padded_arrow_step_[0] = 1.0;  // against y
  padded_arrow_step_.segment(1, layout.arrow_size) = arrow_step;
  for (int node = layout.node_count - 1; node >= 0; --node) {
    const int ahead = std::max(0, node - 2);
    prefetch<false>(factor_.arrow(ahead).data, factor_.stride() * s);
    double* const x = padded_node_step_.data() + static_cast<Eigen::Index>(node) * s;
    subtract_transposed_product(factor_.arrow_rows(), s, factor_.arrow(node),
                                padded_arrow_step_.data(), x);
    solve_panel_transposed(factor_.band_rows(), s, factor_.band(node), x);
  }
  node_step = padded_node_step_.head(node_scale_.size());
}

}  // namespace estimator
