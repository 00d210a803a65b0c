#pragma once

#include <Eigen/Core>
#include <random>
#include <vector>

#include "estimator/optimize/arrow_factor.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Estimates how many node unknowns each noise group of residuals determines: the trace
/// tr(J_g H_xx⁻¹ J_gᵀ) for the Jacobian J_g of group g. The estimate is the mean of ‖L⁻¹ J_gᵀ z‖²,
/// with random signs z [Hut90] and the Cholesky factor L of H_xx.
///
/// The exact trace needs selected entries of H_xx⁻¹. Their recursion backward in time is unstable
/// for dissipative motions; forward substitution is stable. Since J H⁻¹ Jᵀ is a projection, the
/// standard error of the trace, and of rows − trace, is at most √(2 min(trace, rows −
/// trace)/probes). With 16 probes, this is a quarter of the scatter of the group's sum of squares.
class NodeTraceEstimator {
 public:
  static constexpr int kProbes = 16;

  NodeTraceEstimator(const ArrowheadMatrix& factor, int noise_group_count);

  /// Adds a residual block. Callers must add all blocks of the problem, in order.
  void add(const ResidualBlock& block);

  /// Returns the estimated trace of each noise group. Must be called after the last block.
  Eigen::VectorXd compute_traces();

 private:
  void eliminate_first_node();

  const ArrowheadMatrix& factor_;
  std::mt19937_64 random_{20240229};  // any fixed seed: the same data give the same result
  int first_ = 0;                     // first node of the window
  Eigen::MatrixXd right_side_;        // window × (groups · kProbes): Jᵀ z, forward substituted
  Eigen::MatrixXd signs_;             // block rows × kProbes
  Eigen::VectorXd squares_;           // groups · kProbes
};

/// Residual statistics of a noise group in a fit. They give the group's variance
/// σ² = cost / (rows − effective_parameters).
struct NoiseGroupStatistics {
  double rows = 0.0;  ///< number of residuals with noise (ResidualBlock::noiseless_rows)
  double cost = 0.0;  ///< Σ‖r‖² of the group
  /// Effective number of unknowns that the group determines: the trace of its part of the hat
  /// matrix J H⁻¹ Jᵀ (NodeTraceEstimator). The sum over all groups is the number of determined
  /// unknowns.
  double effective_parameters = 0.0;
};

/// Information of the residuals about the parameters χ, after elimination of the node states x.
///
/// The derivative of the residuals with respect to the parameters, with re-optimized nodes, is T =
/// J_χ + J_x X with X = −H_xx⁻¹ H_xχ. S = TᵀT is the Schur complement of the parameters. A sum of
/// squares preserves its small eigenvalues, which cancellation destroys in H_χχ − H_χx H_xx⁻¹ H_xχ.
struct ParameterInformation {
  /// Whether the residuals determine the states at all nodes. If not, all other members are unset.
  bool valid = false;
  Eigen::MatrixXd schur;                     ///< Schur complement S
  Eigen::VectorXd scale;                     ///< diagonal of J_χᵀJ_χ
  double null_eigenvalue = 0.0;              ///< value of InformationOptions::null_eigenvalue
  std::vector<Eigen::MatrixXd> group_schur;  ///< TᵀT of each group; their sum is S
  std::vector<Eigen::VectorXd> group_score;  ///< −Tᵀr of each group; the sum is 0 at an optimum
  std::vector<NoiseGroupStatistics> groups;
  /// −1 or +1 for a parameter at its lower or upper bound, which is treated as fixed; 0 if free.
  Eigen::VectorXi at_bound;
  /// Inverse of the Schur complement for the free, identifiable parameters; zero for all others.
  Eigen::MatrixXd inverse;
  /// Basis of the unidentifiable directions of the free parameters: parameters x directions, in the
  /// units of the parameters. The basis is reduced: each direction has a 1 at a parameter where all
  /// other directions have 0.
  Eigen::MatrixXd null_directions;
  /// Whether each parameter is part of an unidentifiable direction.
  std::vector<bool> undetermined;
};

struct InformationOptions {
  /// Eigenvalue of S, scaled to unit diagonal, below which a direction counts as unidentifiable. At
  /// 1e-12, its standard deviation is a million times the value with all other parameters known.
  double null_eigenvalue = 1e-12;
  /// Whether to compute NoiseGroupStatistics::effective_parameters. This takes most of the
  /// computing time.
  bool effective_parameters = true;
};

/// Computes the information about the parameters at the current point of `problem`. Damping is
/// 1e-14 of the diagonal of H, raised only if round-off requires it.
ParameterInformation compute_information(const LeastSquaresProblem& problem,
                                         const InformationOptions& options = {});

/// Recomputes the Schur complement S and all members that depend on S after a change of
/// `group_schur`.
void recompute_information(ParameterInformation& information);

/// Returns the score −Tᵀr (half the negative gradient of the cost), summed over all groups.
///
/// @param information  valid
Eigen::VectorXd compute_total_score(const ParameterInformation& information);

/// Returns the covariance Σ_g variance_g T_gᵀT_g of the total score, if the weighted residuals of
/// group g have the variance group_variance[g].
///
/// @param information     valid
/// @param group_variance  noise_group_count, ≥ 0
Eigen::MatrixXd compute_score_covariance(const ParameterInformation& information,
                                         const Eigen::VectorXd& group_variance);

struct ParameterCovariance {
  Eigen::MatrixXd covariance;          ///< zero in fixed and undetermined directions
  Eigen::MatrixXd correlation;         ///< unit diagonal
  Eigen::VectorXd standard_deviation;  ///< 0 if fixed, infinite if undetermined
};

/// Returns the covariance of the estimate if the weighted residuals of group g have the variance
/// group_variance[g] (1 if the weights of the fit are right):
///
///   Cov = S⁻¹ (Σ_g variance_g T_gᵀT_g) S⁻¹.
///
/// This is the sandwich estimator of [Mar, eqs. 3.26–3.32], but with weights W (the paper prints
/// W⁻¹) and with the weighted projection. If all variances are 1, it equals S⁻¹.
///
/// @param information     valid
/// @param group_variance  noise_group_count, ≥ 0
ParameterCovariance compute_covariance(const ParameterInformation& information,
                                       const Eigen::VectorXd& group_variance);

}  // namespace estimator
