#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Statistics of a noise group in a fit, for estimating its variance σ² = cost / (rows −
/// effective_parameters).
struct GroupStatistics {
  int rows = 0;
  double cost = 0.0;  ///< Σ‖r‖² of the group
  /// Trace of the group's part of the hat matrix J H⁻¹ Jᵀ: the number of unknowns that the group
  /// determines. The sum over all groups is the number of determined unknowns. See NodeTrace.
  double effective_parameters = 0.0;
};

/// Information of the residuals about the parameters, after elimination of the nodes.
///
/// T = J_χ + J_x X with X = −H_xx⁻¹ H_xχ is the response of the residuals to the parameters if the
/// nodes are adjusted. S = TᵀT is the Schur complement of the parameters. Computed as a sum of
/// squares it keeps its small eigenvalues, which cancellation destroys in H_χχ − H_χx H_xx⁻¹ H_xχ.
struct ParameterInformation {
  /// False if the nodes are not determined; all other members are then unset.
  bool valid = false;
  Eigen::MatrixXd schur;                     ///< S, arrow_size x arrow_size
  Eigen::VectorXd scale;                     ///< diagonal of J_χᵀJ_χ, for fixed nodes
  double null_eigenvalue = 0.0;              ///< as in InformationOptions
  std::vector<Eigen::MatrixXd> group_schur;  ///< TᵀT of each group; their sum is S
  std::vector<Eigen::VectorXd> group_score;  ///< −Tᵀr of each group; the sum is 0 at an optimum
  std::vector<GroupStatistics> groups;
  /// −1 or +1: at its lower or upper bound and treated as fixed; 0: free.
  Eigen::VectorXi at_bound;
  /// Inverse of S over the free and determined parameters, zero elsewhere.
  Eigen::MatrixXd inverse;
  /// Null space of the free parameters: arrow_size x count, in the units of the parameters, reduced
  /// so that each direction has a 1 where the others have 0.
  Eigen::MatrixXd null_directions;
  /// Whether a parameter is part of a null direction.
  std::vector<bool> undetermined;
};

struct InformationOptions {
  /// A direction is null if its eigenvalue in S, scaled to unit diagonal, is below this. Its
  /// standard deviation then exceeds the one with all other parameters known a millionfold.
  double null_eigenvalue = 1e-12;
  /// Whether to compute GroupStatistics::effective_parameters, the larger part of the work.
  bool effective_parameters = true;
};

/// Linearizes `problem` at its current point. Damping is 1e-14 of the diagonal of H, raised only if
/// round-off requires it.
ParameterInformation compute_information(const LeastSquaresProblem& problem,
                                         const InformationOptions& options = {});

/// Recomputes the sum of the groups' parts, and all derived members, after a change of the parts.
void recompute_information(ParameterInformation& information);

/// The score −Tᵀr of all groups together.
///
/// @param information  valid
Eigen::VectorXd total_score(const ParameterInformation& information);

/// Covariance Σ_g variance_g T_gᵀT_g of the total score if the weighted residuals of group g have
/// the variance group_variance[g]: arrow_size x arrow_size.
///
/// @param information     valid
/// @param group_variance  group_count, ≥ 0
Eigen::MatrixXd score_covariance(const ParameterInformation& information,
                                 const Eigen::VectorXd& group_variance);

struct ParameterCovariance {
  Eigen::MatrixXd covariance;          ///< zero for fixed and undetermined directions
  Eigen::MatrixXd correlation;         ///< unit diagonal
  Eigen::VectorXd standard_deviation;  ///< 0 if fixed, infinite if undetermined
};

/// Covariance of the estimate if the weighted residuals of group g have the variance
/// group_variance[g] (1 if the weights of the fit are right):
///
///   Cov = S⁻¹ (Σ_g variance_g T_gᵀT_g) S⁻¹,
///
/// the sandwich estimator of [Mar, eqs. 3.26–3.32] with the weights W where the paper prints W⁻¹,
/// and with the weighted projection. If all variances are 1 it equals S⁻¹.
///
/// @param information     valid
/// @param group_variance  group_count, ≥ 0
ParameterCovariance compute_covariance(const ParameterInformation& information,
                                       const Eigen::VectorXd& group_variance);

}  // namespace estimator
