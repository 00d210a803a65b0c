#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Returns one note per parameter at a bound. It says whether the optimum lies beyond the
/// bound, how far inside the bound the parameter may be, and which other intervals assume that the
/// parameter is at the bound.
/// @param estimated    parameters of `information`, in its order
/// @param information  evaluated at the estimates, with the parameters at bounds fixed
/// @param variances    variance of the weighted residuals of each noise group
std::vector<Message> describe_bounds(const Mechanism& mechanism, const std::vector<int>& estimated,
                                     const ParameterInformation& information,
                                     const Eigen::VectorXd& variances);

/// Returns how far inside its bound each parameter at a bound may be (95 %, one-sided). Zero for
/// parameters that are not at a bound or whose optimum lies beyond the bound; infinite if not
/// identifiable.
/// @param information  valid, as for describe_bounds
Eigen::VectorXd bound_interval_widths(const ParameterInformation& information,
                                      const Eigen::VectorXd& variances);

}  // namespace estimator
