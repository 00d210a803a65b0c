#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Widens the intervals of a Stribeck excess, and of the friction beside it, if its decay rate has
/// a relative uncertainty above a quarter: exp(−ζ ω²) is then too nonlinear in ζ. Each end moves to
/// where the cost, with all other parameters re-optimised, has risen as much as a quadratic cost
/// would at the end of the linearised interval.
///
/// @param problem      at its optimum, with `segments` and `grid`
/// @param information  there, valid
/// @param half         half-widths of its parameters' intervals, from linearisation
/// @return             one sentence per widened interval
std::vector<std::string> widen_by_profile(const ShootingProblem& problem,
                                          const std::vector<Segment>& segments,
                                          const ShootingGrid& grid,
                                          const ParameterInformation& information,
                                          const CalibrationOptions& options,
                                          const CalibrationMonitor& monitor, Eigen::VectorXd& half);

}  // namespace estimator
