#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns the root-mean-square simulation error of each encoder at the current point of a problem.
std::vector<OpenLoopError> measure_simulation_errors(const ShootingProblem& problem);

/// Returns half-widths of 95 % confidence intervals, assuming that the parameters depend linearly
/// on the readings, with the one-sided intervals of parameters at bounds.
Eigen::VectorXd compute_linear_half_widths(const ParameterInformation& information,
                                           const Eigen::VectorXd& variances,
                                           const QuantizationErrors& counting);

/// Accounts for correlated reading errors of a simulation at its optimum. If quantization explains
/// the errors of an encoder, uses the covariance of quantization errors. For all other sensors,
/// uses the observed autocorrelation of residuals.
/// @param problem  problem with a single shooting node per segment
/// @return the errors of the quantized encoders
QuantizationErrors account_for_correlation(const ShootingProblem& problem,
                                           const std::vector<Segment>& segments,
                                           ParameterInformation& information,
                                           Eigen::VectorXd& variances, std::vector<Message>& notes);

}  // namespace estimator
