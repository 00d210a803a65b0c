#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/quantization.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Returns half-widths of the 95 % confidence intervals of all parameters, assuming that parameter
/// errors are linear in reading errors. For normal reading errors they are 1.96 standard
/// deviations. Quantization errors are not normal: their weighted sum over a slow motion is a fixed
/// function of one phase, flat-topped or with long tails. The half-width is then the 95 % quantile
/// of the absolute error over random phases, one per sensor and segment.
/// @param information valid; `group_schur` of quantized sensors is their `scatter`
/// @param variances   variance of each noise group's weighted residuals; 1 for quantized sensors
/// @param counting    errors of the quantized sensors; if empty, all errors are normal
/// @return            one per parameter; 0 if fixed, infinite if not identifiable
Eigen::VectorXd half_intervals(const ParameterInformation& information,
                               const Eigen::VectorXd& variances,
                               const QuantizationErrors& counting);

}  // namespace estimator
