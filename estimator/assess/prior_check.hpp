#pragma once

#include <vector>

#include "estimator/assess/evidence.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// So many combined deviations between a prior and what all else says are a conflict.
inline constexpr double kConflictDeviations = 3.0;

/// What the residuals but the priors' say, linearised about the estimates.
struct DataAlone {
  Eigen::VectorXd values;               ///< of the parameters of the information
  Eigen::VectorXd standard_deviations;  ///< infinite where the data do not see it, 0 at a bound
};

/// Empty where nothing was known beforehand.
///
/// @param mechanism    at the estimates; what is free in it are the parameters of `information`
/// @param information  at the estimates; its last noise group is the priors'
/// @param variances    of the weighted residuals of each noise group
DataAlone without_priors(const Mechanism& mechanism, const ParameterInformation& information,
                         const Eigen::VectorXd& variances);

/// Priors, one by one, that lie kConflictDeviations or more from what the data and all other priors
/// say [Hau78]. A drawing is told by the parameter that lies farthest from it, with the estimate in
/// place of what all else says.
std::vector<PriorConflict> find_conflicts(const Mechanism& mechanism,
                                          const ParameterInformation& information,
                                          const Eigen::VectorXd& variances);

/// "the prior of B.m, 0.1 kg, lies 5.2 combined deviations from …"
std::string describe(const PriorConflict& conflict);

}  // namespace estimator
