#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Widens the intervals of a Stribeck excess, and of the friction beside it, where the rate at
/// which it decays is known to no better than a quarter: exp(−ζ ω²) is not linear in ζ that far,
/// and other decays may explain the motion as well. Each goes on to where the cost, all else fitted
/// anew, has risen by as much as it would at the end of the interval if it were quadratic.
///
/// @param problem      at its optimum, with `segments` and `grid`
/// @param information  there, valid
/// @param half         half-widths of the intervals of its parameters, from linearisation
/// @return             a sentence for each that was widened
std::vector<std::string> widen_by_profile(const ShootingProblem& problem,
                                          const std::vector<Segment>& segments,
                                          const ShootingGrid& grid,
                                          const ParameterInformation& information,
                                          const CalibrationOptions& options,
                                          const CalibrationMonitor& monitor, Eigen::VectorXd& half);

}  // namespace estimator
