#pragma once

#include <limits>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/text/number_format.hpp"

namespace service {

/// Returns whether the user stopped a calibration, in its joint estimation or its simulation fit.
bool was_stopped_by_user(const estimator::Calibration& calibration);

/// Returns how a stage of a calibration ended, e.g. "cost tolerance after 7 iterations".
std::string describe_stage_ending(estimator::Termination termination, int iterations);

/// Returns how a calibration ended: "Converged", "Converged (the simulation fit; the joint
/// estimation before it ended by …)", "NOT CONVERGED" or "NO RESULT (…)".
std::string describe_calibration_ending(const estimator::Calibration& calibration);

/// Returns the reason why some 95 % confidence intervals are wider than ± 2 standard deviations;
/// empty if no interval is wider.
std::string explain_wide_intervals(const estimator::Calibration& calibration);

/// Returns a sentence on the fixed masses, lengths and constants that affect the estimates most:
/// the 95 % confidence intervals assume that they are exact. Empty without intervals or effects.
std::string explain_exact_values(const estimator::Calibration& calibration);

/// Returns warnings on joints whose measured motion the model does not reproduce.
std::vector<estimator::Message> describe_unexplained_joints(
    const estimator::Calibration& calibration);

/// Returns the number format of a parameter estimate for tables, reports and files.
inline QuantityFormat estimate_notation(const estimator::ParameterEstimate& estimate) {
  return {estimate.value, estimate.standard_deviation};
}

/// Gaussian prior of a parameter.
struct ParameterPrior {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double standard_deviation = std::numeric_limits<double>::infinity();  ///< infinite if none

  bool is_given() const { return standard_deviation < std::numeric_limits<double>::infinity(); }
};

/// Returns the prior of the parameter with this name. The standard deviation is infinite for an
/// unknown name and for a parameter without a prior.
inline ParameterPrior find_parameter_prior(const estimator::Mechanism& mechanism,
                                           const std::string& name) {
  const int index = mechanism.find_parameter(name);
  if (index < 0) return {};
  const auto& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
  if (parameter.prior_standard_deviation == std::numeric_limits<double>::infinity()) return {};
  return {parameter.prior_mean, parameter.prior_standard_deviation};
}

}  // namespace service
