#include "estimator/optimize/arrow_factor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace estimator {
namespace {

// Raises entries far below the largest, and replaces an all-zero diagonal by ones.
void apply_scale_floor(Eigen::Ref<Eigen::VectorXd> scale) {
  const double largest = scale.size() > 0 ? scale.maxCoeff() : 0.0;
  if (largest > 0.0) {
    scale = scale.cwiseMax(ArrowFactor::kScaleFloor * largest);
  } else {
    scale.setOnes();
  }
}

Eigen::MatrixXd zero_corner(int arrow_rows) {
  const int rows = padded_rows(arrow_rows);
  return Eigen::MatrixXd::Zero(rows, rows);
}

}  // namespace

ArrowFactor::ArrowFactor(const ArrowLayout& layout, int max_block_rows)
    : factor_(layout),
      jacobian_transposed_(Eigen::MatrixXd::Zero(factor_.stride(), std::max(1, max_block_rows))),
      corner_(zero_corner(factor_.arrow_rows())),
      eliminated_corner_(zero_corner(factor_.arrow_rows())),
      node_scale_(layout.node_count * static_cast<Eigen::Index>(layout.node_size)),
      arrow_scale_(layout.arrow_size),
      arrow_gradient_(layout.arrow_size),
      schur_(layout.arrow_size, layout.arrow_size),
      schur_gradient_(layout.arrow_size),
      padded_node_step_(node_scale_.size() + factor_.stride()),
      padded_arrow_step_(Eigen::VectorXd::Zero(factor_.band_offset())) {
  // Room for the largest block, so that no problem needs to allocate while it linearises.
  block_.residual.resize(max_block_rows);
  block_.node_jacobian.resize(max_block_rows, factor_.band_rows());
  block_.arrow_jacobian.resize(max_block_rows, layout.arrow_size);
}

bool ArrowFactor::factorize(const LeastSquaresProblem& problem, double damping) {
  start(damping);
  const ArrowLayout& layout = factor_.layout();
  const int block_count = problem.block_count();
  for (int index = 0; index < block_count; ++index) {
    problem.linearize(index, block_);
    if (block_.node_span > 0) {
      const int last = block_.first_node + block_.node_span - 1;
      assert(block_.first_node >= eliminated_ && last < layout.node_count);
      for (; opened_ <= last; ++opened_) factor_.set_zero(opened_);
      while (eliminated_ < last - layout.bandwidth) {
        if (!eliminate(eliminated_++)) return false;
      }
    }
    add_block(block_);
  }
  for (; opened_ < layout.node_count; ++opened_) factor_.set_zero(opened_);
  while (eliminated_ < layout.node_count) {
    if (!eliminate(eliminated_++)) return false;
  }
  finish();
  return std::isfinite(node_decrease_) && schur_.allFinite() && schur_gradient_.allFinite();
}

void ArrowFactor::start(double damping) {
  assert(damping >= 0.0);
  damping_ = damping;
  opened_ = 0;
  eliminated_ = 0;
  corner_.setZero();
  eliminated_corner_.setZero();
  node_gradient_norm_ = 0.0;
}

// H += JᵀJ and g += Jᵀr of one block, on the lower half.
void ArrowFactor::add_block(const ResidualBlock& block) {
  const ArrowLayout& layout = factor_.layout();
  const int s = layout.node_size;
  const int m = block.rows;
  const int span = block.node_span;
  assert(span <= layout.bandwidth + 1 && m <= jacobian_transposed_.cols());
  assert(block.node_jacobian.rows() >= m || span == 0);

  // [J_χ r | J_x]ᵀ
  const int stride = factor_.stride();
  const int offset = factor_.band_offset();
  double* const Jt = jacobian_transposed_.data();
  transpose(m, layout.arrow_size,
            {block.arrow_jacobian.data(), static_cast<int>(block.arrow_jacobian.outerStride())},
            {Jt, stride});
  for (int i = 0; i < m; ++i) Jt[layout.arrow_size + i * stride] = block.residual[i];
  transpose(m, span * s,
            {block.node_jacobian.data(), static_cast<int>(block.node_jacobian.outerStride())},
            {Jt + offset, stride});
  if (s % kLanes != 0) {  // a wider block may have left rows where this one needs padding
    jacobian_transposed_.block(offset + span * s, 0, kLanes - 1, m).setZero();
  }

  for (int i = 0; i < span; ++i) {
    const int node = block.first_node + i;
    const ConstPanel node_rows{Jt + offset + i * s, stride};
    add_product(factor_.arrow_rows(), s, m, {Jt, stride}, node_rows, factor_.arrow(node));
    add_product_lower((span - i) * s, s, m, node_rows, factor_.band(node));
  }
  add_product_lower(factor_.arrow_rows(), factor_.arrow_rows(), m, {Jt, stride},
                    {corner_.data(), static_cast<int>(corner_.outerStride())});
}

// Takes D and the scaled gradient from the assembled panel, and adds α D.
void ArrowFactor::damp(int node) {
  const int s = factor_.layout().node_size;
  const Panel band = factor_.band(node);
  const ConstPanel arrow = factor_.arrow(node);
  auto scale = node_scale_.segment(static_cast<Eigen::Index>(node) * s, s);
  for (int c = 0; c < s; ++c) scale[c] = band.data[c + c * band.stride];
  apply_scale_floor(scale);
  for (int c = 0; c < s; ++c) {
    const double g = arrow.data[factor_.layout().arrow_size + c * arrow.stride];
    node_gradient_norm_ = std::max(node_gradient_norm_, std::abs(g) / std::sqrt(scale[c]));
    band.data[c + c * band.stride] += damping_ * scale[c];
  }
}

bool ArrowFactor::eliminate(int node) {
  damp(node);
  const ArrowLayout& layout = factor_.layout();
  const int s = layout.node_size;
  PanelTerms band_terms;
  PanelTerms arrow_terms;
  const int terms = std::min(layout.bandwidth, node);
  band_terms.count = terms;
  arrow_terms.count = terms;
  for (int j = 1; j <= terms; ++j) {
    const ConstPanel band = factor_.band(node - j);
    const double* b = band.data + j * s;
    const auto t = static_cast<std::size_t>(j - 1);
    band_terms.term[t] = {b, b, band.stride, s, factor_.band_rows() - j * s};
    arrow_terms.term[t] = {factor_.arrow(node - j).data, b, band.stride, s, factor_.arrow_rows()};
  }
  if (!factor_panel(factor_.band_rows(), s, factor_.band(node), band_terms, factor_.arrow_rows(),
                    factor_.arrow(node), arrow_terms)) {
    return false;
  }
  const Panel arrow = factor_.arrow(node);
  add_product_lower(
      factor_.arrow_rows(), factor_.arrow_rows(), s, {arrow.data, arrow.stride},
      {eliminated_corner_.data(), static_cast<int>(eliminated_corner_.outerStride())});
  return true;
}

void ArrowFactor::finish() {
  const int a = factor_.layout().arrow_size;
  arrow_gradient_ = corner_.row(a).head(a).transpose();
  arrow_scale_ = corner_.diagonal().head(a);
  apply_scale_floor(arrow_scale_);
  schur_gradient_ = arrow_gradient_ - eliminated_corner_.row(a).head(a).transpose();
  node_decrease_ = eliminated_corner_(a, a);
  schur_ = (corner_ - eliminated_corner_).topLeftCorner(a, a).selfadjointView<Eigen::Lower>();
  schur_.diagonal() += damping_ * arrow_scale_;
}

void ArrowFactor::solve_nodes(const Eigen::VectorXd& arrow_step, Eigen::VectorXd& node_step) {
  const ArrowLayout& layout = factor_.layout();
  const int s = layout.node_size;
  assert(arrow_step.size() == layout.arrow_size);
  padded_node_step_.setZero();
  padded_arrow_step_.head(layout.arrow_size) = arrow_step;
  padded_arrow_step_[layout.arrow_size] = 1.0;  // against y
  for (int node = layout.node_count - 1; node >= 0; --node) {
    double* const x = padded_node_step_.data() + static_cast<Eigen::Index>(node) * s;
    subtract_transposed_product(factor_.arrow_rows(), s, factor_.arrow(node),
                                padded_arrow_step_.data(), x);
    solve_panel_transposed(factor_.band_rows(), s, factor_.band(node), x);
  }
  node_step = padded_node_step_.head(node_scale_.size());
}

}  // namespace estimator
