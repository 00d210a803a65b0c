#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Widens the confidence intervals of Stribeck friction parameters if the decay rate ζ of the
/// Stribeck excess has a relative uncertainty above a quarter. The friction exp(−ζ ω²) is then too
/// nonlinear in ζ for linearised intervals. Each interval end moves to where the cost, with all
/// other parameters re-optimised, has risen as much as a quadratic cost would at the end of the
/// linearised interval.
/// @param problem      at its optimum, with `segments` and `grid`
/// @param information  at the same optimum, valid
/// @param half         half-widths of the parameters' linearised intervals, widened here
/// @return             one note per widened interval
std::vector<Message> widen_by_profile(const ShootingProblem& problem,
                                      const std::vector<Segment>& segments,
                                      const ShootingGrid& grid,
                                      const ParameterInformation& information,
                                      const CalibrationOptions& options,
                                      const CalibrationMonitor& monitor, Eigen::VectorXd& half);

}  // namespace estimator
