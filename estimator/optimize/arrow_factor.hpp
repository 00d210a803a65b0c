#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "estimator/optimize/arrow_matrix.hpp"
#include "estimator/optimize/block_terms.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/optimize/node_elimination.hpp"

namespace estimator {

/// Damped normal equations of a LeastSquaresProblem, reduced to the parameters.
///
/// The unknowns are δ = (nodes x, parameters χ). With residuals r(x ⊞ δ) ≈ r + J δ, H = JᵀJ, g =
/// Jᵀr and D = diag(H), one pass over the residual blocks assembles and factorizes
///
///   Ĥ = H + α D,    Ĥ_xx = L Lᵀ,    R = Ĥ_χx L⁻ᵀ,    y = L⁻¹ g_x,
///   S = Ĥ_χχ − R Rᵀ,    s = g_χ − R y.
///
/// Then δ_χ minimizes the quadratic δᵀSδ + 2 sᵀδ, and L Lᵀ δ_x = −g_x − Ĥ_xχ δ_χ. A node is
/// eliminated as soon as no later block involves it, while its residual blocks are still in the
/// cache. H is never stored, only L, R and y. Work and memory per node are constant.
class ArrowFactor {
 public:
  /// @param max_block_rows  upper bound on the rows of a residual block
  ArrowFactor(const ArrowLayout& layout, int max_block_rows);

  /// Linearizes `problem` at its current point and eliminates the nodes. The problem's threads
  /// linearize blocks, some ahead of the elimination. Blocks are added in order, so results do not
  /// depend on the number of threads. Exceptions of the linearization are rethrown.
  ///
  /// @param damping  α ≥ 0
  /// @return false if a pivot was not positive or not finite. All results except the damping are
  /// then invalid; call again with a larger damping.
  bool factorize(const LeastSquaresProblem& problem, double damping);

  double damping() const { return damping_; }

  /// Return the diagonal D of H for the nodes (node_count·node_size) and for the parameters
  /// (arrow_size). An unknown without any residual has 1 instead of 0, so that damping keeps it
  /// constant.
  const Eigen::VectorXd& node_scale() const { return node_scale_; }
  const Eigen::VectorXd& arrow_scale() const { return arrow_scale_; }

  /// Returns the gradient g_χ by the parameters, arrow_size.
  const Eigen::VectorXd& arrow_gradient() const { return arrow_gradient_; }
  /// Returns the gradient g_x by the nodes, node_count·node_size.
  const Eigen::VectorXd& node_gradient() const { return node_gradient_; }

  /// Returns the Schur complement S of the parameters, arrow_size x arrow_size, both triangles.
  const Eigen::MatrixXd& schur() const { return schur_; }
  /// Returns the reduced gradient s of the parameters, arrow_size.
  const Eigen::VectorXd& schur_gradient() const { return schur_gradient_; }
  /// Returns yᵀy, the predicted decrease of δᵀĤδ + 2gᵀδ for δ_χ = 0.
  double node_decrease() const { return node_decrease_; }

  /// Computes the step δ_x of the nodes (node_count·node_size) for a given step δ_χ of the
  /// parameters.
  void solve_nodes(const Eigen::VectorXd& arrow_step, Eigen::VectorXd& node_step);

  /// Returns L, R and y of the factorization, for derived quantities.
  const ArrowMatrix& factor() const { return factor_; }

 private:
  /// Residual blocks [r J_χ J_x]ᵀ over the same nodes, kept until the last of these nodes is
  /// eliminated. Column i is residual i, in the row order of a panel of factor_.
  struct PendingBlock {
    int first_node = 0;
    int node_span = 0;
    int rows = 0;
    int stride = 0;
    Eigen::VectorXd columns;  // capacity of the largest block so far
  };

  void start(double damping);
  void linearize(const LeastSquaresProblem& problem, int first, int last);
  void add_rows(const BlockTerms& terms);
  void add_multiplied(const BlockTerms& terms);
  PendingBlock& pending(int index) {
    return ring_[(ring_begin_ + static_cast<std::size_t>(index)) % ring_.size()];
  }
  double* append_columns(int first_node, int node_span, int rows);
  bool eliminate_next();
  void finish();

  ArrowMatrix factor_;
  double damping_ = 0.0;
  int max_block_rows_;
  std::vector<BlockLinearizer> linearizers_;  // one per thread
  std::vector<BlockTerms> terms_;             // of the blocks that are linearized together
  int eliminated_ = 0;                        // number of nodes whose panel holds L and R
  /// Sums of tall residual blocks over a single node, as for `NodeElimination::start_arrow`. Ring
  /// buffer for the nodes from eliminated_ on.
  ArrowMatrix sums_;
  std::vector<bool> has_sums_;
  std::vector<PendingBlock> ring_;  // in the order of the blocks
  std::size_t ring_begin_ = 0;
  int pending_count_ = 0;
  NodeElimination elimination_;
  Eigen::MatrixXd corner_;             // lower: [r J_χ]ᵀ[r J_χ], padded
  Eigen::MatrixXd eliminated_corner_;  // lower: [yᵀ; R][yᵀ; R]ᵀ, padded
  Eigen::VectorXd node_scale_;
  Eigen::VectorXd node_gradient_;
  Eigen::VectorXd arrow_scale_;
  Eigen::VectorXd arrow_gradient_;
  Eigen::MatrixXd schur_;
  Eigen::VectorXd schur_gradient_;
  // Zero-padded copies: the kernels read whole panels past the last node and the last parameter.
  Eigen::VectorXd padded_node_step_;
  Eigen::VectorXd padded_arrow_step_;
  double node_decrease_ = 0.0;
};

}  // namespace estimator
