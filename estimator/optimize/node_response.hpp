#pragma once

#include <Eigen/Core>

#include "estimator/optimize/arrow_matrix.hpp"

namespace estimator {

/// Computes the derivative X = −H_xx⁻¹ H_xχ of the optimal nodes by the parameters. Back
/// substitution with a factor L, R of ArrowFactor runs from the last node to the first and keeps
/// only a window of bandwidth + 1 nodes.
class NodeResponse {
 public:
  /// Starts with the window after the last node.
  explicit NodeResponse(const ArrowMatrix& factor);

  /// Moves the window back until it starts at `node`, which must not be after its present start.
  void advance_to(int node);

  /// Returns the rows of X for `node_span` nodes from `first_node` on, all in the window.
  Eigen::Block<const Eigen::MatrixXd> response(int first_node, int node_span) const;

 private:
  void step_back();

  const ArrowMatrix& factor_;
  int first_;          // first node of the window
  Eigen::MatrixXd X_;  // window x arrow_size
};

}  // namespace estimator
