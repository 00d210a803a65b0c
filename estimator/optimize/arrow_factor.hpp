#pragma once

#include <Eigen/Core>

#include "estimator/optimize/arrow_matrix.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Damped normal equations of a LeastSquaresProblem, eliminated down to the parameters.
///
/// With r(x ⊞ δ) ≈ r + J δ, H = JᵀJ, g = Jᵀr and D = diag(H), one sweep over the residual blocks
/// assembles and factorises, of the unknowns δ = (nodes x, parameters χ),
///
///   Ĥ = H + α D,    Ĥ_xx = L Lᵀ,    R = Ĥ_χx L⁻ᵀ,    y = L⁻¹ g_x,
///   S = Ĥ_χχ − R Rᵀ,    s = g_χ − R y,
///
/// after which δ_χ minimises the quadratic δᵀSδ + 2 sᵀδ and L Lᵀ δ_x = −g_x − Ĥ_xχ δ_χ. A node is
/// eliminated as soon as no later block can touch it, while its panel is in cache; only L, R and y
/// are stored. Work and memory per node do not depend on the number of nodes.
class ArrowFactor {
 public:
  /// @param max_block_rows  upper bound on the rows of a residual block
  ArrowFactor(const ArrowLayout& layout, int max_block_rows);

  /// Linearises `problem` at its current point and eliminates the nodes.
  ///
  /// @param damping  α ≥ 0
  /// @return false if a pivot was not positive or not finite. Nothing but the damping may then be
  ///         used; call again with a larger one.
  bool factorize(const LeastSquaresProblem& problem, double damping);

  double damping() const { return damping_; }

  /// D of the nodes, node_count·node_size, and of the parameters, arrow_size. Entries below
  /// kScaleFloor times the largest (of the node, or of the parameters) are raised to that, and
  /// all-zero ones are 1: such directions stay put instead of dividing by zero.
  const Eigen::VectorXd& node_scale() const { return node_scale_; }
  const Eigen::VectorXd& arrow_scale() const { return arrow_scale_; }
  static constexpr double kScaleFloor = 1e-20;

  /// g_χ, arrow_size.
  const Eigen::VectorXd& arrow_gradient() const { return arrow_gradient_; }
  /// max |g_x| / √D over the nodes.
  double node_gradient_norm() const { return node_gradient_norm_; }

  /// S, arrow_size x arrow_size, both triangles.
  const Eigen::MatrixXd& schur() const { return schur_; }
  /// s, arrow_size.
  const Eigen::VectorXd& schur_gradient() const { return schur_gradient_; }
  /// yᵀy: predicted decrease of δᵀĤδ + 2gᵀδ for δ_χ = 0.
  double node_decrease() const { return node_decrease_; }

  /// δ_x for a given δ_χ: node_count·node_size.
  void solve_nodes(const Eigen::VectorXd& arrow_step, Eigen::VectorXd& node_step);

  /// L, R and y, for what else is derived from them.
  const ArrowMatrix& factor() const { return factor_; }

 private:
  void start(double damping);
  void add_block(const ResidualBlock& block);
  bool eliminate(int node);
  void damp(int node);
  void finish();

  ArrowMatrix factor_;
  double damping_ = 0.0;
  int opened_ = 0;      // nodes whose panel holds part of H
  int eliminated_ = 0;  // nodes whose panel holds L and R
  ResidualBlock block_;
  Eigen::MatrixXd jacobian_transposed_;  // laid out as a panel of factor_, one column per residual
  Eigen::MatrixXd corner_;               // lower: [J_χ r]ᵀ[J_χ r], padded
  Eigen::MatrixXd eliminated_corner_;    // lower: [R; yᵀ][R; yᵀ]ᵀ, padded
  Eigen::VectorXd node_scale_;
  Eigen::VectorXd arrow_scale_;
  Eigen::VectorXd arrow_gradient_;
  Eigen::MatrixXd schur_;
  Eigen::VectorXd schur_gradient_;
  // The kernels read whole panels: past the last node, and past the parameters, lie zeros.
  Eigen::VectorXd padded_node_step_;
  Eigen::VectorXd padded_arrow_step_;
  double node_gradient_norm_ = 0.0;
  double node_decrease_ = 0.0;
};

}  // namespace estimator
