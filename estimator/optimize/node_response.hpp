#pragma once

#include <Eigen/Core>

#include "estimator/optimize/arrow_matrix.hpp"

namespace estimator {

/// Back substitution with many right-hand sides through a factor L, R of arrow_factor.hpp, from the
/// last node to the first, holding a window of bandwidth + 1 nodes:
///
/// - X = −H_xx⁻¹ H_xχ, how the nodes follow the parameters;
/// - Z = H_xx⁻¹ within the window, by the recursion of Takahashi for selected inverses.
class NodeResponse {
 public:
  /// Starts past the last node.
  NodeResponse(const ArrowMatrix& factor, bool with_inverse);

  /// Moves the window back until it starts at `node`, which must not lie behind its start.
  void advance_to(int node);

  /// Rows of X for `node_span` nodes from `first_node`, all in the window.
  Eigen::Block<const Eigen::MatrixXd> response(int first_node, int node_span) const;
  /// Z between the same nodes; only if asked for at construction.
  Eigen::Block<const Eigen::MatrixXd> inverse(int first_node, int node_span) const;

 private:
  void step_back();

  const ArrowMatrix& factor_;
  bool with_inverse_;
  int first_;              // first node of the window
  Eigen::MatrixXd X_;      // window x arrow_size
  Eigen::MatrixXd Z_;      // window x window
  Eigen::MatrixXd below_;  // L_below L⁻¹ of one node
};

}  // namespace estimator
