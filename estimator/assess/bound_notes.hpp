#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// A sentence for each parameter at a bound: whether the data ask for values beyond it, how far off
/// it they would allow, and which other intervals hold only if it is there.
///
/// @param estimated    parameters of `information`, in its order
/// @param information  at the estimates, with what is at a bound fixed
/// @param variances    of the weighted residuals of each noise group
std::vector<std::string> describe_bounds(const Mechanism& mechanism,
                                         const std::vector<int>& estimated,
                                         const ParameterInformation& information,
                                         const Eigen::VectorXd& variances);

/// How far off its bound the data would let each parameter be that is at one (95 %, one-sided): the
/// width of its interval. Zero elsewhere, and where the data ask for values beyond the bound;
/// infinite where they do not see it there.
///
/// @param information  valid, as above
Eigen::VectorXd reaches_off_bounds(const ParameterInformation& information,
                                   const Eigen::VectorXd& variances);

}  // namespace estimator
