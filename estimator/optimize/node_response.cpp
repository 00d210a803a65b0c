#include "estimator/optimize/node_response.hpp"

#include <cassert>

namespace estimator {

NodeResponse::NodeResponse(const ArrowMatrix& factor)
    : factor_(factor),
      first_(factor.layout().node_count),
      X_(Eigen::MatrixXd::Zero(factor.band_rows(), factor.layout().arrow_size)) {}

void NodeResponse::advance_to(int node) {
  assert(node >= 0);
  while (first_ > node) step_back();
}

// With L on the diagonal of a node, B below it, and X̃ of the later nodes: Lᵀ X = −Rᵀ − Bᵀ X̃.
void NodeResponse::step_back() {
  --first_;
  const int s = factor_.layout().node_size;
  const int below = factor_.band_rows() - s;
  const ConstPanel band = factor_.band(first_);
  const ConstPanel arrow = factor_.arrow(first_);
  using Map = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
  const Map panel(band.data, factor_.band_rows(), s, Eigen::OuterStride<>(band.stride));
  const Map R(arrow.data + 1, factor_.layout().arrow_size, s, Eigen::OuterStride<>(arrow.stride));
  const auto L = panel.topRows(s).triangularView<Eigen::Lower>();
  const auto B = panel.bottomRows(below);

  X_.bottomRows(below) = X_.topRows(below).eval();
  X_.topRows(s).noalias() = -R.transpose();
  X_.topRows(s).noalias() -= B.transpose() * X_.bottomRows(below);
  if (X_.cols() > 0) L.transpose().solveInPlace(X_.topRows(s));  // Eigen would read a first element
}

Eigen::Block<const Eigen::MatrixXd> NodeResponse::response(int first_node, int node_span) const {
  const int s = factor_.layout().node_size;
  const int offset = (first_node - first_) * s;
  assert(offset >= 0 && offset + node_span * s <= X_.rows());
  return X_.block(offset, 0, node_span * s, X_.cols());
}

}  // namespace estimator
