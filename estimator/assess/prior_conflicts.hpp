#pragma once

#include <vector>

#include "estimator/assess/assessment_results.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Conflict threshold between a prior and the other information [combined standard deviations].
inline constexpr double kConflictDeviations = 3.0;

/// Estimates from the data without priors, linearised about the estimates.
struct PriorFreeEstimates {
  Eigen::VectorXd values;               ///< of the parameters of the information
  Eigen::VectorXd standard_deviations;  ///< infinite: not identifiable; 0 at a bound
};

/// Returns the estimates without priors. Empty if there are no priors.
///
/// @param mechanism    at the estimates; its free parameters are those of `information`
/// @param information  at the estimates; its last noise group is the priors'
/// @param variances    of the weighted residuals of each noise group
PriorFreeEstimates estimate_without_priors(const Mechanism& mechanism,
                                           const ParameterInformation& information,
                                           const Eigen::VectorXd& variances);

/// Finds the single priors that differ by kConflictDeviations or more from the data and all other
/// priors [Hau78]. A CAD prior is reported by its parameter with the largest deviation, with the
/// estimate in place of the value without the prior.
std::vector<PriorConflict> find_conflicts(const Mechanism& mechanism,
                                          const ParameterInformation& information,
                                          const Eigen::VectorXd& variances);

/// Describes a conflict: "the prior of B.m (0.1 kg) lies 5.2 combined standard deviations from …"
std::string describe(const PriorConflict& conflict);

}  // namespace estimator
