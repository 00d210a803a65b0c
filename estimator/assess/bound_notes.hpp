#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Returns one sentence per parameter at a bound: whether the optimum lies beyond the bound, how
/// far inside the parameter may be, and which other intervals assume that it is at the bound.
///
/// @param estimated    parameters of `information`, in its order
/// @param information  at the estimates, with the parameters at bounds fixed
/// @param variances    of the weighted residuals of each noise group
std::vector<std::string> describe_bounds(const Mechanism& mechanism,
                                         const std::vector<int>& estimated,
                                         const ParameterInformation& information,
                                         const Eigen::VectorXd& variances);

/// Returns the interval width of each parameter at a bound: how far inside it may be (95 %,
/// one-sided). Zero for other parameters, and if the optimum lies beyond the bound; infinite if it
/// is not identifiable.
///
/// @param information  valid, as above
Eigen::VectorXd bound_interval_widths(const ParameterInformation& information,
                                      const Eigen::VectorXd& variances);

}  // namespace estimator
