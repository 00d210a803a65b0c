#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/quantisation.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Half-widths of the 95 % intervals of all parameters, with their errors linear in those of the
/// readings: 1.96 standard deviations where these are normal. Errors of encoders are not: a sum of
/// them over a slow motion is the same function of one phase each time, flat-topped or with long
/// tails. There the half-width is the 95 % quantile of the error's magnitude over draws of the
/// phases, one a sensor and segment.
///
/// @param information valid; `group_schur` of sensors that count is their `scatter`
/// @param variances   of the weighted residuals of each noise group; 1 for sensors that count
/// @param counting    errors of the sensors that count; none: all errors are normal
/// @return            one a parameter; 0 where fixed, infinite where undetermined
Eigen::VectorXd half_intervals(const ParameterInformation& information,
                               const Eigen::VectorXd& variances, const QuantisedErrors& counting);

}  // namespace estimator
