#pragma once

#include <Eigen/Core>
#include <random>

#include "estimator/optimize/arrow_matrix.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Estimates the trace tr(J_g H_xx⁻¹ J_gᵀ) for the node Jacobian J_g of each noise group g as the
/// mean of ‖L⁻¹ J_gᵀ z‖², with random signs z [Hut90] and the Cholesky factor L of H_xx.
///
/// The exact trace needs selected entries of H_xx⁻¹. Their recursion backward in time is unstable
/// for dissipative motions; forward substitution is stable. Since J H⁻¹ Jᵀ is a projection, the
/// standard error of the trace, and of rows − trace, is at most √(2 min(trace, rows −
/// trace)/probes). With 16 probes this is a quarter of the scatter of the group's sum of squares.
class NodeTrace {
 public:
  static constexpr int kProbes = 16;

  NodeTrace(const ArrowMatrix& factor, int group_count);

  /// Adds a residual block. All blocks of the problem must be added in order.
  void add(const ResidualBlock& block);

  /// Returns the trace of each group, after the last block was added.
  Eigen::VectorXd finish();

 private:
  void eliminate_first();

  const ArrowMatrix& factor_;
  std::mt19937_64 random_{20240229};  // any fixed seed: the same data give the same result
  int first_ = 0;                     // first node of the window
  Eigen::MatrixXd right_side_;        // window × (groups · kProbes): Jᵀ z, forward substituted
  Eigen::MatrixXd signs_;             // block rows × kProbes
  Eigen::VectorXd squares_;           // groups · kProbes
};

}  // namespace estimator
