#pragma once

#include <Eigen/Core>

namespace estimator {

/// The numbers of unknowns of a least-squares problem: states at a chain of nodes, and parameters.
///
/// There are `node_count` nodes of `node_size` tangent dimensions each, then `parameter_count`
/// parameters. A residual block involves at most `bandwidth` + 1 consecutive nodes and any
/// parameter. The normal matrix therefore has block-arrowhead form with a half-bandwidth of
/// `bandwidth` blocks. Separate recordings are consecutive in the chain, without coupling.
struct ProblemShape {
  int node_count = 0;
  int node_size = 0;
  int bandwidth = 1;
  int parameter_count = 0;
};

/// A block of weighted residuals and its derivatives, in a reused buffer of the caller.
///
/// Rows are already multiplied by the square root of their weight, so the cost is Σ‖residual‖²
/// (LeastSquaresProblem::cost). Matrices are column-major and have at least the given size.
struct ResidualBlock {
  int first_node = 0;  ///< first node that the block involves
  int node_span = 0;   ///< number of consecutive nodes; 0: parameters only (a prior)
  int rows = 0;        ///< number of residuals
  int group = 0;       ///< noise group of all rows, see LeastSquaresProblem::noise_group_count
  /// Effective number of rows without noise. A constraint of the readings, such as the norm of a
  /// quaternion, removes a share of the variance of each row; this number is the sum of these
  /// shares.
  double noiseless_rows = 0.0;
  Eigen::VectorXd residual;            ///< weighted residuals
  Eigen::MatrixXd node_jacobian;       ///< ∂residual/∂nodes: rows × (node_span·node_size)
  Eigen::MatrixXd parameter_jacobian;  ///< ∂residual/∂parameters: rows × parameter_count
};

/// Sets the shape of a residual block. Matrices of unchanged size keep their storage, so reusing a
/// buffer does not allocate memory.
inline void resize_block(ResidualBlock& block, int first_node, int node_span, int node_size,
                         int parameter_count, int rows, int group) {
  block.first_node = first_node;
  block.node_span = node_span;
  block.rows = rows;
  block.noiseless_rows = 0.0;
  block.group = group;
  block.residual.resize(rows);
  block.node_jacobian.resize(rows, node_span * node_size);
  block.parameter_jacobian.resize(rows, parameter_count);
}

/// A nonlinear least-squares problem on a manifold: minimize Σ ‖residual‖² over states at nodes and
/// parameters. The problem stores the current point; the solver uses only tangent vectors.
///
/// Residual blocks are numbered 0 … block_count()−1 in the order of their last nodes, so a solver
/// can assemble and factorize in one pass. Different threads may linearize different blocks.
class LeastSquaresProblem {
 public:
  virtual ~LeastSquaresProblem() = default;

  virtual ProblemShape shape() const = 0;
  virtual int block_count() const = 0;

  /// Returns an upper bound on the rows of a residual block, for sizing buffers.
  virtual int max_block_rows() const = 0;

  /// Returns the number of noise groups: sets of residuals with a common variance, such as the
  /// readings of one sensor.
  virtual int noise_group_count() const = 0;

  /// Returns the number of threads for linearizing, at least 1. Results must not depend on this
  /// number.
  virtual int thread_count() const = 0;

  /// Computes the residual and derivatives of block `index` at the current point. Resizes `out`
  /// only if it is too small, so a reused buffer does not allocate.
  virtual void linearize(int index, ResidualBlock& out) const = 0;

  /// Returns the cost Σ ‖residual‖² at the current point.
  virtual double cost() const = 0;

  /// Applies a step to a copy of the current point, the candidate, and returns its cost. The cost
  /// is infinite or NaN if the model is undefined there.
  virtual double evaluate_trial_step(const Eigen::VectorXd& node_step,
                                     const Eigen::VectorXd& parameter_step) = 0;

  /// Replaces the current point by the last candidate.
  virtual void accept_trial_step() = 0;

  /// Save the current point, and restore the saved point. Saving a point overwrites the point saved
  /// before.
  virtual void save_point() = 0;
  virtual void restore_point() = 0;

  /// Return the current parameter values, and their bounds (infinite if unbounded), as vectors with
  /// parameter_count elements.
  virtual Eigen::VectorXd parameter_values() const = 0;
  virtual Eigen::VectorXd lower_bounds() const = 0;
  virtual Eigen::VectorXd upper_bounds() const = 0;

  /// Returns the largest factors (> 1) by which one step may increase or decrease each positive
  /// parameter, because the linearization is invalid beyond them. Infinite, or an empty vector,
  /// without limits.
  virtual Eigen::VectorXd step_factor_limits() const { return {}; }
};

}  // namespace estimator
