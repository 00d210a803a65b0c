#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Difference between a prior and the other information above which they are reported as a conflict
/// [combined standard deviations].
inline constexpr double kConflictDeviations = 3.0;

/// The estimates from the data without priors, linearised about the estimates with priors.
struct PriorFreeEstimates {
  Eigen::VectorXd values;               ///< one per parameter of the information matrix
  Eigen::VectorXd standard_deviations;  ///< infinite if not identifiable; 0 at a bound
};

/// Returns the estimates from the data without priors. Empty if the rig file has no priors.
/// @param mechanism    at the estimates; its free parameters are those of `information`
/// @param information  at the estimates; its last noise group is the priors'
/// @param variances    of the weighted residuals of each noise group
PriorFreeEstimates estimate_without_priors(const Mechanism& mechanism,
                                           const ParameterInformation& information,
                                           const Eigen::VectorXd& variances);

/// Finds each prior that differs by kConflictDeviations or more from the estimate from the data and
/// all other priors [Hau78]. For a CAD prior, the result names the parameter with the largest
/// deviation. The estimate with this prior then replaces the value without it.
std::vector<PriorConflict> find_conflicts(const Mechanism& mechanism,
                                          const ParameterInformation& information,
                                          const Eigen::VectorXd& variances);

/// Returns a note about a conflict.
Message conflict_note(const PriorConflict& conflict);

}  // namespace estimator
