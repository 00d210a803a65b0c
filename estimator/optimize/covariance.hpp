#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// What a noise group contributes to a fit, for estimating its variance
/// σ² = cost / (rows − effective_parameters).
struct GroupStatistics {
  int rows = 0;
  double cost = 0.0;  ///< Σ‖r‖² of the group
  /// Trace of the group's part of the hat matrix J H⁻¹ Jᵀ: how many unknowns the group pays for.
  /// The sum over all groups is the number of determined unknowns. Estimated, see NodeTrace.
  double effective_parameters = 0.0;
};

/// What the residuals say about the parameters once the nodes are eliminated.
///
/// With T = J_χ + J_x X and X = −H_xx⁻¹ H_xχ, the response of the residuals to the parameters when
/// the nodes follow, S = TᵀT is the Schur complement of the parameters. As a sum of squares it
/// keeps its small eigenvalues, which the difference H_χχ − H_χx H_xx⁻¹ H_xχ loses to cancellation.
struct ParameterInformation {
  /// False if the nodes are not determined: all else is then unset.
  bool valid = false;
  Eigen::MatrixXd schur;                     ///< S, arrow_size x arrow_size
  Eigen::VectorXd scale;                     ///< diagonal of J_χᵀJ_χ, the nodes being fixed
  double null_eigenvalue = 0.0;              ///< as InformationOptions has it
  std::vector<Eigen::MatrixXd> group_schur;  ///< TᵀT of each group; their sum is S
  std::vector<Eigen::VectorXd> group_score;  ///< −Tᵀr of each group: 0 in sum at an optimum
  std::vector<GroupStatistics> groups;
  /// −1 or +1: at its lower or upper bound and taken as fixed; 0: free.
  Eigen::VectorXi at_bound;
  /// Inverse of S over what is free and determined, zero elsewhere.
  Eigen::MatrixXd inverse;
  /// Directions of the free parameters that no residual sees: arrow_size x count, in the units of
  /// the parameters, reduced so that each has a 1 where the others have 0.
  Eigen::MatrixXd null_directions;
  /// True where a parameter takes part in a null direction.
  std::vector<bool> undetermined;
};

struct InformationOptions {
  /// A direction is null if its eigenvalue in S, scaled to unit diagonal, is below this: the
  /// standard deviation then exceeds that with all other parameters known a millionfold.
  double null_eigenvalue = 1e-12;
  /// Whether to fill GroupStatistics::effective_parameters, the larger part of the work.
  bool effective_parameters = true;
};

/// Linearises `problem` at its current point, without damping but for 1e-14 of the diagonal of H,
/// raised as far as rounding makes it necessary.
ParameterInformation compute_information(const LeastSquaresProblem& problem,
                                         const InformationOptions& options = {});

/// Sums the groups' parts anew and finds what they determine, after some of them were changed.
void analyse_again(ParameterInformation& information);

/// The score −Tᵀr of all groups together.
///
/// @param information  valid
Eigen::VectorXd total_score(const ParameterInformation& information);

/// Covariance Σ_g variance_g T_gᵀT_g of the summed score when the weighted residuals of group g
/// have variance group_variance[g]: arrow_size x arrow_size.
///
/// @param information     valid
/// @param group_variance  group_count, ≥ 0
Eigen::MatrixXd score_covariance(const ParameterInformation& information,
                                 const Eigen::VectorXd& group_variance);

struct ParameterCovariance {
  Eigen::MatrixXd covariance;          ///< zero for fixed and undetermined directions
  Eigen::MatrixXd correlation;         ///< unit diagonal
  Eigen::VectorXd standard_deviation;  ///< 0 where fixed, infinite where undetermined
};

/// Covariance of the estimate when the weighted residuals of group g have variance
/// group_variance[g] (1 if the weights of the fit are right):
///
///   Cov = S⁻¹ (Σ_g variance_g T_gᵀT_g) S⁻¹,
///
/// the sandwich of [Mar, eqs. 3.26–3.32] with the weights W where the paper prints W⁻¹ and with the
/// weighted projection. If all variances are 1 it is S⁻¹.
///
/// @param information     valid
/// @param group_variance  group_count, ≥ 0
ParameterCovariance compute_covariance(const ParameterInformation& information,
                                       const Eigen::VectorXd& group_variance);

}  // namespace estimator
