#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/quantization.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Returns half-widths of the 95 % confidence intervals of all parameters, assuming that parameter
/// errors are linear in reading errors. For normally distributed reading errors, a half-width is
/// 1.96 standard deviations. The effect of quantization errors is not normally distributed: the
/// half-width is then the 95 % quantile of the absolute error. The quantization grid has a random
/// phase for each sensor and segment.
/// @param information valid; `group_schur` of quantized sensors is their `scatter`
/// @param variances   variance of each noise group's weighted residuals; 1 for quantized sensors
/// @param counting    errors of the quantized sensors; if empty, all errors are normal
/// @return            one per parameter; 0 if fixed, infinite if not identifiable
Eigen::VectorXd compute_confidence_half_widths(const ParameterInformation& information,
                                               const Eigen::VectorXd& variances,
                                               const QuantizationErrors& counting);

/// The predicted result of releasing one parameter from its bound.
struct ReleasedParameter {
  Eigen::Index position = 0;
  std::vector<Eigen::Index> free;     ///< all other parameters that are not at a bound
  double unconstrained_change = 0.0;  ///< change of the released parameter, positive inward
  /// Standard deviation of `unconstrained_change`; not positive if the parameter is not
  /// identifiable.
  double deviation = 0.0;
  /// Derivatives of the parameters in `free` with respect to the released parameter.
  Eigen::VectorXd slopes;
  Eigen::VectorXd deviations;  ///< standard deviations of `free` with the parameter fixed

  /// Returns how far inside its bound the parameter may be (95 %, one-sided).
  double reach() const { return unconstrained_change + 1.645 * deviation; }
  /// Returns whether another estimate changes noticeably if the released parameter moves by
  /// `reach`.
  bool changes_others() const;
};

/// Predicts the result of releasing the parameter at `position` from its bound.
/// @param information  valid, with the parameters at bounds fixed
/// @param variances    variance of the weighted residuals of each noise group
ReleasedParameter release_from_bound(const ParameterInformation& information,
                                     const Eigen::VectorXd& variances, Eigen::Index position);

/// Returns one note per parameter at a bound. The note describes whether the optimum lies beyond
/// the bound, how far inside the bound the true value may be, and which estimates would change with
/// this value.
/// @param estimated    parameters of `information`, in its order
/// @param information  evaluated at the estimates, with the parameters at bounds fixed
/// @param variances    variance of the weighted residuals of each noise group
/// @param profiled     positions of the parameters with a profile; the intervals of all other
///                     parameters include the fits of these profiles
std::vector<Message> describe_parameters_at_bounds(const Mechanism& mechanism,
                                                   const std::vector<int>& estimated,
                                                   const ParameterInformation& information,
                                                   const Eigen::VectorXd& variances,
                                                   const std::vector<int>& profiled);

/// Returns the width of the one-sided 95 % confidence interval of each parameter at a bound. 0 for
/// parameters that are not at a bound, or whose optimum lies far beyond it; infinite if not
/// identifiable.
/// @param information  valid, as for describe_parameters_at_bounds
Eigen::VectorXd compute_interval_widths_at_bounds(const ParameterInformation& information,
                                                  const Eigen::VectorXd& variances);

}  // namespace estimator
