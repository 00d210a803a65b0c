#pragma once

#include <Eigen/Core>
#include <cassert>
#include <cstddef>
#include <vector>

#include "estimator/math/small_dense.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/optimize/node_elimination.hpp"

namespace estimator {

/// Stores the lower half of a symmetric block-arrowhead matrix and a right-hand side. Node unknowns
/// form its band, parameters its last rows (the arrow).
///
/// Each node has a panel of node_size columns, contiguous in memory. Panel k stacks two strips. The
/// arrow strip has a row for the right-hand side of node k, then the rows of all parameters. The
/// band strip has the rows of nodes k … k + bandwidth. Since the right-hand side is a row,
/// factorization includes forward substitution. Zero rows pad the strips as required by
/// math/small_dense.hpp.
class ArrowheadMatrix {
 public:
  explicit ArrowheadMatrix(const ProblemShape& shape);

  const ProblemShape& shape() const { return shape_; }

  /// Returns the number of rows of the arrow strip without padding: parameters, right-hand side.
  int arrow_row_count() const { return shape_.parameter_count + 1; }
  /// Returns the number of rows of the band strip without padding.
  int band_row_count() const { return (shape_.bandwidth + 1) * shape_.node_size; }
  /// Returns the row at which the band strip starts: the padded number of rows of the arrow strip.
  int band_start_row() const { return band_start_row_; }
  /// Returns the number of rows of a panel, including padding.
  int panel_stride() const { return stride_; }
  /// Returns the padded number of rows of a panel whose band strip has only `node_span` nodes.
  int panel_stride_for_span(int node_span) const {
    // A strip is also read from the start of each of its node blocks, in rows rounded up to kLanes.
    // So it needs up to kLanes − 1 more zero rows if a block does not start at a multiple of
    // kLanes.
    const int rows = node_span * shape_.node_size;
    return band_start_row_ +
           padded_row_count(shape_.node_size % kLanes == 0 ? rows : rows + kLanes - 1);
  }

  MatrixView arrow(int node) { return {panel(node), stride_}; }
  ConstMatrixView arrow(int node) const { return {panel(node), stride_}; }
  MatrixView band(int node) { return {panel(node) + band_start_row_, stride_}; }
  ConstMatrixView band(int node) const { return {panel(node) + band_start_row_, stride_}; }

 private:
  double* panel(int node) { return storage_.data() + panel_size_ * node; }
  const double* panel(int node) const { return storage_.data() + panel_size_ * node; }

  ProblemShape shape_;
  int band_start_row_;
  int stride_;
  std::ptrdiff_t panel_size_;
  Eigen::VectorXd storage_;
};

/// Holds the contribution of a residual block to the normal equations, in a reused buffer.
///
/// If a block has a single node and more rows than the node has unknowns, the product JᵀJ of its
/// Jacobian is stored. The product is smaller, since most readings depend on few parameters. Other
/// blocks are stored as [r J_χ J_x]ᵀ: column i is residual i, in the row order of a panel of an
/// ArrowheadMatrix.
struct NormalEquationTerms {
  int first_node = 0;
  int node_span = 0;
  int rows = 0;                 ///< rows of the residual block
  bool is_product = false;      ///< whether `columns` are [J_x r J_seen]ᵀ [J_x r J_seen], lower
  std::vector<int> parameters;  ///< parameters with nonzero derivatives in the block
  double square = 0.0;          ///< rᵀr of the residuals r
  int stride = 0;
  Eigen::VectorXd columns;  ///< padded; capacity of the largest block so far
};

/// Linearizes residual blocks of a least-squares problem, one block at a time. Several linearizers
/// may share a problem.
class BlockLinearizer {
 public:
  /// @param max_block_rows  upper bound on the rows of a residual block
  BlockLinearizer(const ArrowheadMatrix& panels, int max_block_rows);

  /// Linearizes the residual block `index`.
  /// @param panels  as in the constructor
  void linearize(const LeastSquaresProblem& problem, int index, const ArrowheadMatrix& panels,
                 NormalEquationTerms& out);

 private:
  void multiply_block(int node_size, NormalEquationTerms& out);
  void transpose_rows(const ArrowheadMatrix& panels, NormalEquationTerms& out) const;

  ResidualBlock block_;
  Eigen::VectorXd tall_;  // [J_x r J_seen]ᵀ, padded
};

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
/// cache. Only L, R and y are stored, not H. On request the blocks are also stored, to factorize
/// them again. Work and memory per node are constant.
class ArrowheadFactorization {
 public:
  /// @param max_block_rows  upper bound on the rows of a residual block
  ArrowheadFactorization(const ProblemShape& shape, int max_block_rows);

  /// Linearizes `problem` at its current point and eliminates the nodes. Several threads linearize
  /// blocks ahead of the elimination. Blocks are added in order, so results do not depend on the
  /// number of threads. Exceptions of the linearization are rethrown.
  ///
  /// @param damping  α ≥ 0
  /// @param keep     whether to store the linearized blocks for `factorize_again`
  /// @return false if a pivot was not positive or not finite. All results except the damping are
  /// then invalid; call again with a larger damping.
  bool factorize(const LeastSquaresProblem& problem, double damping, bool keep = false);

  /// Factorizes again the linearized blocks that the last call of `factorize` has kept, with
  /// another damping. The result is the same as from a new call of `factorize`.
  /// @return as `factorize`
  bool factorize_again(double damping);

  /// Returns whether `factorize_again` may be called.
  bool has_kept_blocks() const { return kept_block_count_ > 0; }

  double damping() const { return damping_; }

  /// Return the diagonal D of H = JᵀJ for all node unknowns and for all parameters. An unknown
  /// without any residual has 1 instead of 0, so that damping keeps it constant.
  const Eigen::VectorXd& node_diagonal() const { return node_diagonal_; }
  const Eigen::VectorXd& parameter_diagonal() const { return parameter_diagonal_; }

  /// Returns the gradient Jᵀr with respect to the parameters.
  const Eigen::VectorXd& parameter_gradient() const { return parameter_gradient_; }
  /// Returns the gradient Jᵀr with respect to all node unknowns.
  const Eigen::VectorXd& node_gradient() const { return node_gradient_; }

  /// Returns the Schur complement S of the parameters, both triangles.
  const Eigen::MatrixXd& schur() const { return schur_; }
  /// Returns the gradient s of the cost with respect to the parameters, after elimination of nodes.
  const Eigen::VectorXd& reduced_gradient() const { return reduced_gradient_; }
  /// Returns the predicted decrease of the damped cost if only the nodes change: yᵀy.
  double predicted_node_decrease() const { return predicted_node_decrease_; }

  /// Computes the step of all node unknowns for a given step of the parameters.
  void compute_node_step(const Eigen::VectorXd& parameter_step, Eigen::VectorXd& node_step);

  /// Returns the factors L and R of the normal equations, with y as the right-hand side.
  const ArrowheadMatrix& factor() const { return factor_; }

 private:
  /// Holds residual blocks [r J_χ J_x]ᵀ over the same nodes until the last of these nodes is
  /// eliminated. Column i is residual i, in the row order of a panel of factor_.
  struct PendingBlock {
    int first_node = 0;
    int node_span = 0;
    int rows = 0;
    int stride = 0;
    Eigen::VectorXd columns;  // capacity of the largest block so far
  };

  void start_elimination(double damping);
  void start_assembly(bool keep);
  void linearize(const LeastSquaresProblem& problem, int first, int last);
  void add_residual_rows(const NormalEquationTerms& terms);
  void add_product_rows(const NormalEquationTerms& terms);
  PendingBlock& pending_block(int index) {
    return ring_[(ring_begin_ + static_cast<std::size_t>(index)) % ring_.size()];
  }
  double* append_pending_columns(int first_node, int node_span, int rows);
  bool eliminate_next_node();
  bool finish();
  void reduce_to_parameters();

  ArrowheadMatrix factor_;
  double damping_ = 0.0;
  int max_block_rows_;
  std::vector<BlockLinearizer> linearizers_;  // one per thread
  std::vector<NormalEquationTerms> terms_;    // of the blocks that are linearized together
  int eliminated_ = 0;                        // number of nodes whose panel holds L and R
  /// Products JᵀJ, summed over the residual blocks of each node (see
  /// `NodeElimination::start_arrow`), with one panel per node. If blocks are kept, there is a panel
  /// for every node; otherwise the panels are a ring buffer for the nodes that have not been
  /// eliminated.
  ArrowheadMatrix sums_;
  std::vector<bool> has_sums_;
  /// Residual blocks that wait for the elimination of their nodes, as a ring buffer in the order of
  /// the blocks. If blocks are kept, it is a list of all blocks.
  std::vector<PendingBlock> ring_;
  std::size_t ring_begin_ = 0;
  int pending_count_ = 0;
  bool keep_ = false;                 // whether blocks of eliminated nodes are kept
  std::size_t kept_block_count_ = 0;  // 0: not all blocks are kept
  NodeElimination elimination_;
  Eigen::MatrixXd corner_;             // lower: [r J_χ]ᵀ[r J_χ], padded
  Eigen::MatrixXd eliminated_corner_;  // lower: [yᵀ; R][yᵀ; R]ᵀ, padded
  Eigen::VectorXd node_diagonal_;
  Eigen::VectorXd node_gradient_;
  Eigen::VectorXd parameter_diagonal_;
  Eigen::VectorXd parameter_gradient_;
  Eigen::MatrixXd schur_;
  Eigen::VectorXd reduced_gradient_;
  // Zero-padded copies: the kernels read whole panels past the last node and the last parameter.
  Eigen::VectorXd padded_node_step_;
  Eigen::VectorXd padded_parameter_step_;
  double predicted_node_decrease_ = 0.0;
};

}  // namespace estimator
