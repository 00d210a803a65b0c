#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// Shape of a least-squares problem whose unknowns form a chain of nodes plus shared parameters.
///
/// Unknowns: `node_count` nodes of `node_size` tangent dimensions each, then `arrow_size`
/// parameters. A residual block touches at most `bandwidth` + 1 consecutive nodes and any
/// parameter, so the normal matrix is block-banded (half-bandwidth `bandwidth` blocks) with an
/// arrow. Separate recordings follow one another in the chain without being coupled.
struct ArrowLayout {
  int node_count = 0;
  int node_size = 0;
  int bandwidth = 1;
  int arrow_size = 0;
};

/// One weighted residual block and its derivatives, in a caller-owned, reused buffer.
///
/// Rows are already multiplied by the square root of their weight, as the cost Σ‖residual‖² expects
/// (LeastSquaresProblem::cost). Matrices are column-major with at least the stated size.
struct ResidualBlock {
  int first_node = 0;             ///< first node touched
  int node_span = 0;              ///< consecutive nodes touched; 0: parameters only (a prior)
  int rows = 0;                   ///< number of residuals
  int group = 0;                  ///< noise group of all rows, see LeastSquaresProblem::group_count
  Eigen::VectorXd residual;       ///< rows
  Eigen::MatrixXd node_jacobian;  ///< rows × (node_span·node_size), nodes in order
  Eigen::MatrixXd arrow_jacobian;  ///< rows × arrow_size
};

/// Gives a block its shape. Matrices keep their storage where the size stays, so a reused buffer
/// makes linearising allocation-free.
inline void shape_block(ResidualBlock& block, int first_node, int node_span, int node_size,
                        int arrow_size, int rows, int group) {
  block.first_node = first_node;
  block.node_span = node_span;
  block.rows = rows;
  block.group = group;
  block.residual.resize(rows);
  block.node_jacobian.resize(rows, node_span * node_size);
  block.arrow_jacobian.resize(rows, arrow_size);
}

/// A nonlinear least-squares problem on a manifold: minimise Σ ‖residual‖² over nodes and
/// parameters. The problem owns the current point; the solver knows only tangent vectors.
///
/// Residual blocks are numbered 0 … block_count()−1 such that last nodes touched never decrease;
/// a solver may thus assemble and factorise in one sweep. Linearising is const and may be called
/// for different blocks from different threads.
class LeastSquaresProblem {
 public:
  virtual ~LeastSquaresProblem() = default;

  virtual ArrowLayout layout() const = 0;
  virtual int block_count() const = 0;

  /// Upper bound on rows over all blocks, for sizing buffers.
  virtual int max_block_rows() const = 0;

  /// Number of noise groups that blocks refer to (sensors, impulse residual, prior, …).
  virtual int group_count() const = 0;

  /// Threads, at least 1, that a solver may linearise on. Results must not depend on it.
  virtual int threads() const = 0;

  /// Residual and derivatives of block `index` at the current point. Resizes `out` only when it
  /// is too small, so a reused buffer makes this allocation-free.
  virtual void linearize(int index, ResidualBlock& out) const = 0;

  /// Σ ‖residual‖² at the current point.
  virtual double cost() const = 0;

  /// Moves a candidate to current ⊞ (node_step, arrow_step) and returns its cost (may be
  /// infinite or NaN where the model is undefined). The current point stays.
  virtual double evaluate_candidate(const Eigen::VectorXd& node_step,
                                    const Eigen::VectorXd& arrow_step) = 0;

  /// Makes the last candidate the current point.
  virtual void accept_candidate() = 0;

  /// Remembers the current point; `restore` returns to it. One point is remembered at a time.
  virtual void mark() = 0;
  virtual void restore() = 0;

  /// Current parameter values and their box; rows: arrow_size. Infinite where unbounded.
  virtual Eigen::VectorXd arrow() const = 0;
  virtual Eigen::VectorXd arrow_lower() const = 0;
  virtual Eigen::VectorXd arrow_upper() const = 0;

  /// Factors > 1 by which one step may change each positive parameter at most, up or down: farther
  /// off its linearisation says nothing. Infinite, or none at all: any.
  virtual Eigen::VectorXd arrow_growth() const { return {}; }
};

}  // namespace estimator
