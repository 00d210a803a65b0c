#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Returns half-widths of the 95 % confidence intervals of all parameters, assuming that parameter
/// errors are linear in reading errors. For normally distributed reading errors, a half-width is
/// 1.96 standard deviations. The effect of quantization errors is not normally distributed. Then
/// the half-width is the 95 % quantile of the absolute error over random phases of the quantization
/// grid, one per sensor and segment.
/// @param information valid; `group_schur` of quantized sensors is their `scatter`
/// @param variances   variance of each noise group's weighted residuals; 1 for quantized sensors
/// @param counting    errors of the quantized sensors; if empty, all errors are normal
/// @return            one per parameter; 0 if fixed, infinite if not identifiable
Eigen::VectorXd compute_confidence_half_widths(const ParameterInformation& information,
                                               const Eigen::VectorXd& variances,
                                               const QuantizationErrors& counting);

/// Returns one note per parameter at a bound. The note describes whether the optimum lies beyond
/// the bound, how far inside the bound the true value may be, and which estimates would change with
/// this value.
/// @param estimated    parameters of `information`, in its order
/// @param information  evaluated at the estimates, with the parameters at bounds fixed
/// @param variances    variance of the weighted residuals of each noise group
std::vector<Message> describe_parameters_at_bounds(const Mechanism& mechanism,
                                                   const std::vector<int>& estimated,
                                                   const ParameterInformation& information,
                                                   const Eigen::VectorXd& variances);

/// Returns the width of the one-sided 95 % confidence interval of each parameter at a bound. 0 for
/// parameters that are not at a bound or whose optimum lies far beyond the bound; infinite if not
/// identifiable.
/// @param information  valid, as for describe_parameters_at_bounds
Eigen::VectorXd compute_interval_widths_at_bounds(const ParameterInformation& information,
                                                  const Eigen::VectorXd& variances);

/// Widens the confidence intervals of Stribeck friction parameters if the decay rate ζ of the
/// Stribeck excess has a relative uncertainty above a quarter. The friction exp(−ζ ω²) is then too
/// nonlinear in ζ for linearised intervals. Each interval end moves to where the cost, with all
/// other parameters re-optimised, has risen as much as a quadratic cost would at the end of the
/// linearised interval.
/// @param problem      at its optimum, with `segments` and `grid`
/// @param information  at the same optimum, valid
/// @param half         half-widths of the parameters' linearised intervals, widened here
/// @return             one note per widened interval
std::vector<Message> widen_intervals_by_profile_likelihood(
    const ShootingProblem& problem, const std::vector<Segment>& segments, const ShootingGrid& grid,
    const ParameterInformation& information, const CalibrationOptions& options,
    const CalibrationMonitor& monitor, Eigen::VectorXd& half);

}  // namespace estimator
