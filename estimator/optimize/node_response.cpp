#include "estimator/optimize/node_response.hpp"

#include <cassert>

namespace estimator {

NodeResponse::NodeResponse(const ArrowMatrix& factor, bool with_inverse)
    : factor_(factor),
      with_inverse_(with_inverse),
      first_(factor.layout().node_count),
      X_(Eigen::MatrixXd::Zero(factor.band_rows(), factor.layout().arrow_size)),
      Z_(Eigen::MatrixXd::Zero(with_inverse ? factor.band_rows() : 0,
                               with_inverse ? factor.band_rows() : 0)) {}

void NodeResponse::advance_to(int node) {
  assert(node >= 0);
  while (first_ > node) step_back();
}

// With L on the diagonal of a node and B below it, for X̃ and Z̃ of the nodes behind:
//   Lᵀ X = −Rᵀ − Bᵀ X̃,   Z_below = −Z̃ B L⁻¹,   Z = L⁻ᵀ L⁻¹ − (B L⁻¹)ᵀ Z_below.
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
  if (X_.cols() > 0) L.transpose().solveInPlace(X_.topRows(s));  // Eigen reads a first element
  if (!with_inverse_) return;

  Z_.bottomRightCorner(below, below) = Z_.topLeftCorner(below, below).eval();
  const Eigen::MatrixXd inverse_L = L.solve(Eigen::MatrixXd::Identity(s, s));
  below_.noalias() = B * inverse_L;
  Z_.bottomLeftCorner(below, s).noalias() = -Z_.bottomRightCorner(below, below) * below_;
  Z_.topRightCorner(s, below) = Z_.bottomLeftCorner(below, s).transpose();
  Z_.topLeftCorner(s, s).noalias() = inverse_L.transpose() * inverse_L;
  Z_.topLeftCorner(s, s).noalias() -= below_.transpose() * Z_.bottomLeftCorner(below, s);
}

Eigen::Block<const Eigen::MatrixXd> NodeResponse::response(int first_node, int node_span) const {
  const int s = factor_.layout().node_size;
  const int offset = (first_node - first_) * s;
  assert(offset >= 0 && offset + node_span * s <= X_.rows());
  return X_.block(offset, 0, node_span * s, X_.cols());
}

Eigen::Block<const Eigen::MatrixXd> NodeResponse::inverse(int first_node, int node_span) const {
  const int s = factor_.layout().node_size;
  const int offset = (first_node - first_) * s;
  assert(with_inverse_ && offset >= 0 && offset + node_span * s <= Z_.rows());
  return Z_.block(offset, offset, node_span * s, node_span * s);
}

}  // namespace estimator
