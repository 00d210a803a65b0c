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

}  // namespace estimator
