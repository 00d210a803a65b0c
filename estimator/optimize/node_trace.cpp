#include "estimator/optimize/node_trace.hpp"

#include <cassert>

namespace estimator {

NodeTrace::NodeTrace(const ArrowMatrix& factor, int group_count)
    : factor_(factor),
      right_side_(Eigen::MatrixXd::Zero(factor.band_rows(), group_count * kProbes)),
      squares_(Eigen::VectorXd::Zero(group_count * kProbes)) {}

void NodeTrace::add(const ResidualBlock& block) {
  if (block.node_span == 0) return;
  const ArrowLayout& layout = factor_.layout();
  // Later blocks do not end earlier, so none starts more than bandwidth before this block's end.
  const int last = block.first_node + block.node_span - 1;
  while (first_ < last - layout.bandwidth) eliminate_first();

  signs_.resize(block.rows, kProbes);
  for (Eigen::Index row = 0; row < block.rows; ++row) {
    std::uint64_t bits = random_();
    for (int probe = 0; probe < kProbes; ++probe, bits >>= 1U) {
      signs_(row, probe) = (bits & 1U) != 0 ? 1.0 : -1.0;
    }
  }
  const int width = block.node_span * layout.node_size;
  const int offset = (block.first_node - first_) * layout.node_size;
  assert(offset >= 0);
  right_side_.block(offset, block.group * kProbes, width, kProbes).noalias() +=
      block.node_jacobian.topLeftCorner(block.rows, width).transpose() * signs_;
}

Eigen::VectorXd NodeTrace::finish() {
  while (first_ < factor_.layout().node_count) eliminate_first();
  const Eigen::Index groups = squares_.size() / kProbes;
  return squares_.reshaped(kProbes, groups).colwise().mean().transpose();
}

void NodeTrace::eliminate_first() {
  const int s = factor_.layout().node_size;
  const int below = factor_.band_rows() - s;
  const ConstPanel band = factor_.band(first_);
  const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> panel(
      band.data, factor_.band_rows(), s, Eigen::OuterStride<>(band.stride));
  auto y = right_side_.topRows(s);
  panel.topRows(s).triangularView<Eigen::Lower>().solveInPlace(y);
  squares_ += y.colwise().squaredNorm().transpose();
  right_side_.bottomRows(below).noalias() -= panel.bottomRows(below) * y;
  right_side_.topRows(below) = right_side_.bottomRows(below).eval();
  right_side_.bottomRows(s).setZero();
  ++first_;
}

}  // namespace estimator
