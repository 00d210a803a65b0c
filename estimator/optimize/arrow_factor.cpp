#include "estimator/optimize/arrow_factor.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>

#include "estimator/math/parallel_jobs.hpp"

namespace estimator {
namespace {

double* room_for(Eigen::Index size, Eigen::VectorXd& buffer) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

// Size of the terms of blocks that each thread linearizes ahead of the elimination: half of a
// second-level cache. With half of this size, threads start so often that two gain 3 % less.
constexpr std::ptrdiff_t kWindowBytes = 512 << 10;
constexpr int kLeastBlocks = 32;  // per thread; starting a thread takes as long as ten blocks

// A diagonal entry is zero only for an unknown without any residual.
Eigen::VectorXd without_zeros(const Eigen::VectorXd& diagonal) {
  return (diagonal.array() == 0.0).select(1.0, diagonal);
}

Eigen::MatrixXd zero_corner(int arrow_row_count) {
  const int rows = padded_row_count(arrow_row_count);
  return Eigen::MatrixXd::Zero(rows, rows);
}

void add_lower_product(int rows, int depth, ConstMatrixView A, Eigen::MatrixXd& C) {
  add_product_lower(rows, rows, depth, A, {C.data(), static_cast<int>(C.outerStride())});
}

// Returns the number of blocks that each thread linearizes ahead, for the largest possible block.
int window_of(const ArrowheadMatrix& panels) {
  const ProblemShape& shape = panels.shape();
  const std::ptrdiff_t rows = static_cast<std::ptrdiff_t>(panels.panel_stride()) * shape.node_size;
  const std::ptrdiff_t side = padded_row_count(shape.node_size + panels.arrow_row_count());
  const auto bytes = static_cast<std::ptrdiff_t>(sizeof(double)) * std::max(rows, side * side);
  return static_cast<int>(std::max<std::ptrdiff_t>(kWindowBytes / bytes, 1));
}

// Returns the shape of the nodes that blocks can involve before the first of them is eliminated.
ProblemShape open_nodes(ProblemShape shape) {
  shape.node_count = shape.bandwidth + 1;
  return shape;
}

}  // namespace

ArrowheadMatrix::ArrowheadMatrix(const ProblemShape& shape)
    : shape_(shape),
      band_start_row_(padded_row_count(shape.parameter_count + 1)),
      stride_(panel_stride_for_span(shape.bandwidth + 1)),
      panel_size_(static_cast<std::ptrdiff_t>(stride_) * shape.node_size),
      storage_(Eigen::VectorXd::Zero(panel_size_ * shape.node_count)) {
  assert(shape.node_count >= 0 && shape.node_size >= 1);
  assert(shape.bandwidth >= 0 && shape.parameter_count >= 0);
}

// Allocates for the largest block, so that linearizing does not allocate.
BlockLinearizer::BlockLinearizer(const ArrowheadMatrix& panels, int max_block_rows) {
  const ProblemShape& shape = panels.shape();
  block_.residual.resize(max_block_rows);
  block_.node_jacobian.resize(max_block_rows, panels.band_row_count());
  block_.parameter_jacobian.resize(max_block_rows, shape.parameter_count);
  const int columns = shape.node_size + panels.arrow_row_count();
  tall_.resize(static_cast<Eigen::Index>(padded_row_count(columns)) * max_block_rows);
}

void BlockLinearizer::linearize(const LeastSquaresProblem& problem, int index,
                                const ArrowheadMatrix& panels, NormalEquationTerms& out) {
  problem.linearize(index, block_);
  const ProblemShape& shape = panels.shape();
  const int m = block_.rows;
  assert(block_.node_span <= shape.bandwidth + 1);
  assert(block_.node_span == 0 || block_.first_node + block_.node_span <= shape.node_count);
  out.first_node = block_.first_node;
  out.node_span = block_.node_span;
  out.rows = m;
  out.square = block_.residual.head(m).squaredNorm();
  out.parameters.clear();
  for (int i = 0; i < shape.parameter_count; ++i) {
    if (!block_.parameter_jacobian.col(i).head(m).isZero(0.0)) out.parameters.push_back(i);
  }
  out.is_product = block_.node_span == 1 && m > shape.node_size;
  if (out.is_product) {
    multiply_block(shape.node_size, out);
  } else {
    transpose_rows(panels, out);
  }
}

void BlockLinearizer::multiply_block(int node_size, NormalEquationTerms& out) {
  const int m = block_.rows, s = node_size;
  const int columns = s + 1 + static_cast<int>(out.parameters.size()),
            stride = padded_row_count(columns);
  const auto put = [&](int at, const double* values) {
    for (int i = 0; i < m; ++i) tall_[at + static_cast<Eigen::Index>(i) * stride] = values[i];
  };
  for (int j = 0; j < s; ++j) put(j, block_.node_jacobian.col(j).data());
  put(s, block_.residual.data());
  for (int k = 0; k < columns - s - 1; ++k) {
    put(s + 1 + k, block_.parameter_jacobian.col(out.parameters[k]).data());
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

void BlockLinearizer::transpose_rows(const ArrowheadMatrix& panels,
                                     NormalEquationTerms& out) const {
  const ProblemShape& shape = panels.shape();
  const int m = block_.rows, node_columns = block_.node_span * shape.node_size;
  const int stride = panels.panel_stride_for_span(block_.node_span),
            offset = panels.band_start_row();
  double* const columns = room_for(static_cast<Eigen::Index>(m) * stride, out.columns);
  for (int i = 0; i < m; ++i) {
    double* const column = columns + i * stride;
    column[0] = block_.residual[i];
    std::fill(column + panels.arrow_row_count(), column + offset, 0.0);
    std::fill(column + offset + node_columns, column + stride, 0.0);
  }
  transpose(
      m, shape.parameter_count,
      {block_.parameter_jacobian.data(), static_cast<int>(block_.parameter_jacobian.outerStride())},
      {columns + 1, stride});
  transpose(m, node_columns,
            {block_.node_jacobian.data(), static_cast<int>(block_.node_jacobian.outerStride())},
            {columns + offset, stride});
  out.stride = stride;
}

ArrowheadFactorization::ArrowheadFactorization(const ProblemShape& shape, int max_block_rows)
    : factor_(shape),
      max_block_rows_(max_block_rows),
      sums_(open_nodes(shape)),
      has_sums_(static_cast<std::size_t>(shape.bandwidth) + 1),
      ring_(1),
      corner_(zero_corner(factor_.arrow_row_count())),
      eliminated_corner_(zero_corner(factor_.arrow_row_count())),
      node_diagonal_(shape.node_count * static_cast<Eigen::Index>(shape.node_size)),
      node_gradient_(node_diagonal_.size()),
      parameter_diagonal_(shape.parameter_count),
      parameter_gradient_(shape.parameter_count),
      schur_(shape.parameter_count, shape.parameter_count),
      reduced_gradient_(shape.parameter_count),
      padded_node_step_(node_diagonal_.size() + factor_.panel_stride()),
      padded_parameter_step_(Eigen::VectorXd::Zero(factor_.band_start_row())) {
  elimination_.node_size = shape.node_size;
  elimination_.arrow_row_count = factor_.arrow_row_count();
  elimination_.band_row_count = factor_.band_row_count();
}

bool ArrowheadFactorization::factorize(const LeastSquaresProblem& problem, double damping,
                                       bool keep) {
  start_elimination(damping);
  start_assembly(keep);
  const ProblemShape& shape = factor_.shape();
  const int block_count = problem.block_count();
  const int window = window_of(factor_) * problem.thread_count();
  for (int first = 0; first < block_count; first += window) {
    linearize(problem, first, std::min(first + window, block_count));
    for (int index = first; index < std::min(first + window, block_count); ++index) {
      const NormalEquationTerms& terms = terms_[index - first];
      assert(terms.node_span == 0 || terms.first_node >= eliminated_);
      // No later block ends before this one, so none starts more than bandwidth before its end.
      while (eliminated_ < terms.first_node + terms.node_span - 1 - shape.bandwidth) {
        if (!eliminate_next_node()) return false;
      }
      if (terms.is_product) {
        add_product_rows(terms);
      } else {
        add_residual_rows(terms);
      }
    }
  }
  while (eliminated_ < shape.node_count) {
    if (!eliminate_next_node()) return false;
  }
  if (keep) kept_block_count_ = ring_begin_ + static_cast<std::size_t>(pending_count_);
  return finish();
}

bool ArrowheadFactorization::factorize_again(double damping) {
  assert(kept_block_count_ > 0);
  start_elimination(damping);
  while (eliminated_ < factor_.shape().node_count) {
    // Blocks are in the order of their last nodes.
    const auto is_next = [&](std::size_t block) {
      return block < kept_block_count_ && ring_[block].first_node + ring_[block].node_span - 1 <=
                                              eliminated_ + factor_.shape().bandwidth;
    };
    while (is_next(ring_begin_ + static_cast<std::size_t>(pending_count_))) ++pending_count_;
    if (!eliminate_next_node()) return false;
  }
  return finish();
}

bool ArrowheadFactorization::finish() {
  reduce_to_parameters();
  return std::isfinite(predicted_node_decrease_) && schur_.allFinite() &&
         reduced_gradient_.allFinite();
}

// Linearizes blocks [first, last) on as many threads as are useful. Their terms are added in order,
// so results are bitwise independent of the number of threads.
void ArrowheadFactorization::linearize(const LeastSquaresProblem& problem, int first, int last) {
  const int count = last - first;
  const int threads = std::clamp(count / kLeastBlocks, 1, problem.thread_count());
  while (std::ssize(linearizers_) < threads) linearizers_.emplace_back(factor_, max_block_rows_);
  if (std::ssize(terms_) < count) terms_.resize(static_cast<std::size_t>(count));
  std::atomic<int> next = first;
  run_parallel_jobs(threads, static_cast<std::size_t>(threads), [&](std::size_t own) {
    for (int index = next++; index < last; index = next++) {
      linearizers_[own].linearize(problem, index, factor_, terms_[index - first]);
    }
  });
}

void ArrowheadFactorization::start_elimination(double damping) {
  assert(damping >= 0.0);
  damping_ = damping;
  eliminated_ = 0;
  ring_begin_ = 0;
  pending_count_ = 0;
  eliminated_corner_.setZero();
}

void ArrowheadFactorization::start_assembly(bool keep) {
  if (keep && sums_.shape().node_count < factor_.shape().node_count) {
    sums_ = ArrowheadMatrix(factor_.shape());
    has_sums_.resize(static_cast<std::size_t>(factor_.shape().node_count));
  }
  if (keep_ && !keep) ring_.resize(1);  // no larger than the cache
  keep_ = keep;
  kept_block_count_ = 0;
  corner_.setZero();
  has_sums_.assign(has_sums_.size(), false);
}

// Returns storage for more columns over the given nodes: in the last pending block if its nodes are
// the same, in a new one otherwise.
double* ArrowheadFactorization::append_pending_columns(int first_node, int node_span, int rows) {
  const bool extends_last = pending_count_ > 0 &&
                            pending_block(pending_count_ - 1).first_node == first_node &&
                            pending_block(pending_count_ - 1).node_span == node_span;
  if (!extends_last) {
    const auto pending = static_cast<std::size_t>(pending_count_);
    if ((keep_ ? ring_begin_ + pending : pending) == ring_.size()) {
      if (!keep_) {
        std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(ring_begin_),
                    ring_.end());
        ring_begin_ = 0;
      }
      ring_.resize(2 * ring_.size());
    }
    PendingBlock& added = pending_block(pending_count_++);
    added.first_node = first_node;
    added.node_span = node_span;
    added.rows = 0;
    added.stride = factor_.panel_stride_for_span(node_span);
  }
  PendingBlock& last = pending_block(pending_count_ - 1);
  const Eigen::Index used = static_cast<Eigen::Index>(last.rows) * last.stride;
  const Eigen::Index size = used + static_cast<Eigen::Index>(rows) * last.stride;
  if (last.columns.size() < size) last.columns.conservativeResize(2 * size);
  last.rows += rows;
  return last.columns.data() + used;
}

// Stores [r J_χ J_x]ᵀ of a block, and adds the parameter part of its product.
void ArrowheadFactorization::add_residual_rows(const NormalEquationTerms& terms) {
  if (terms.rows == 0) return;
  double* const columns = append_pending_columns(terms.first_node, terms.node_span, terms.rows);
  std::copy_n(terms.columns.data(), static_cast<std::ptrdiff_t>(terms.rows) * terms.stride,
              columns);
  if (terms.parameters.empty()) {  // most observations
    corner_(0, 0) += terms.square;
  } else {
    add_lower_product(factor_.arrow_row_count(), terms.rows, {columns, terms.stride}, corner_);
  }
}

// Adds the product of a block over one node.
void ArrowheadFactorization::add_product_rows(const NormalEquationTerms& terms) {
  const int s = factor_.shape().node_size;
  const int columns = s + 1 + static_cast<int>(terms.parameters.size());
  const int slot = terms.first_node % sums_.shape().node_count;
  const MatrixView arrow = sums_.arrow(slot), band = sums_.band(slot);
  if (!has_sums_[slot]) {
    std::fill_n(arrow.data, static_cast<std::ptrdiff_t>(arrow.stride) * s, 0.0);
    has_sums_[slot] = true;
  }
  // Rows of the arrow strip and of the corner: row 0 is the residual's.
  const auto row_of = [&](int column) {
    return column == s ? 0 : 1 + terms.parameters[column - s - 1];
  };
  const double* product = terms.columns.data();
  for (int j = 0; j < s; ++j, product += terms.stride) {
    double* const band_column = band.data + static_cast<std::ptrdiff_t>(band.stride) * j;
    double* const arrow_column = arrow.data + static_cast<std::ptrdiff_t>(arrow.stride) * j;
    for (int i = j; i < s; ++i) band_column[i] += product[i];
    for (int i = s; i < columns; ++i) arrow_column[row_of(i)] += product[i];
  }
  for (int j = s; j < columns; ++j, product += terms.stride) {
    for (int i = j; i < columns; ++i) corner_(row_of(i), row_of(j)) += product[i];
  }
}

bool ArrowheadFactorization::eliminate_next_node() {
  const ProblemShape& shape = factor_.shape();
  const int s = shape.node_size;
  const int node = eliminated_++;

  const int slot = node % sums_.shape().node_count;
  const ConstMatrixView none{nullptr, 0};
  elimination_.start_arrow = has_sums_[slot] ? ConstMatrixView(sums_.arrow(slot)) : none;
  elimination_.start_band = has_sums_[slot] ? ConstMatrixView(sums_.band(slot)) : none;
  if (!keep_) has_sums_[slot] = false;
  elimination_.added.clear();
  for (int reach = shape.bandwidth + 1; reach > 0; --reach) {
    for (int index = 0; index < pending_count_; ++index) {
      const PendingBlock& block = pending_block(index);
      const int position = node - block.first_node;
      if (position < 0 || block.node_span - position != reach) continue;
      const double* const arrow = block.columns.data();
      const double* const band = arrow + factor_.band_start_row() + position * s;
      elimination_.added.push_back({arrow, band, block.stride, block.rows, reach * s});
    }
  }
  elimination_.subtracted.clear();
  for (int back = 1; back <= std::min(shape.bandwidth, node); ++back) {
    const ConstMatrixView band = factor_.band(node - back);
    elimination_.subtracted.push_back({factor_.arrow(node - back).data, band.data + back * s,
                                       band.stride, s, factor_.band_row_count() - back * s});
  }
  const int ahead = std::min(node + 1, shape.node_count - 1);
  prefetch<true>(factor_.arrow(ahead).data, factor_.panel_stride() * s);
  elimination_.damping = damping_;
  elimination_.arrow = factor_.arrow(node);
  elimination_.band = factor_.band(node);
  elimination_.scale = node_diagonal_.data() + static_cast<Eigen::Index>(node) * s;
  elimination_.gradient = node_gradient_.data() + static_cast<Eigen::Index>(node) * s;
  if (!eliminate_node(elimination_)) return false;

  add_lower_product(factor_.arrow_row_count(), s, factor_.arrow(node), eliminated_corner_);
  while (pending_count_ > 0 &&
         pending_block(0).first_node + pending_block(0).node_span <= node + 1) {
    ++ring_begin_;
    if (!keep_ && ring_begin_ == ring_.size()) ring_begin_ = 0;
    --pending_count_;
  }
  return true;
}

void ArrowheadFactorization::reduce_to_parameters() {
  const int a = factor_.shape().parameter_count;
  parameter_gradient_ = corner_.col(0).segment(1, a);
  parameter_diagonal_ = without_zeros(corner_.diagonal().segment(1, a));
  reduced_gradient_ = parameter_gradient_ - eliminated_corner_.col(0).segment(1, a);
  predicted_node_decrease_ = eliminated_corner_(0, 0);
  schur_ = (corner_ - eliminated_corner_).block(1, 1, a, a).selfadjointView<Eigen::Lower>();
  schur_.diagonal() += damping_ * parameter_diagonal_;
}

void ArrowheadFactorization::compute_node_step(const Eigen::VectorXd& parameter_step,
                                               Eigen::VectorXd& node_step) {
  const ProblemShape& shape = factor_.shape();
  const int s = shape.node_size;
  assert(parameter_step.size() == shape.parameter_count);
  padded_node_step_.setZero();
  padded_parameter_step_[0] = 1.0;  // against y
  padded_parameter_step_.segment(1, shape.parameter_count) = parameter_step;
  for (int node = shape.node_count - 1; node >= 0; --node) {
    const int ahead = std::max(0, node - 2);
    prefetch<false>(factor_.arrow(ahead).data, factor_.panel_stride() * s);
    double* const x = padded_node_step_.data() + static_cast<Eigen::Index>(node) * s;
    subtract_transposed_product(factor_.arrow_row_count(), s, factor_.arrow(node),
                                padded_parameter_step_.data(), x);
    back_substitute_block_column(factor_.band_row_count(), s, factor_.band(node), x);
  }
  node_step = padded_node_step_.head(node_diagonal_.size());
}

}  // namespace estimator
