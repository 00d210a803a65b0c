#pragma once

#include <limits>
#include <string>

#include "estimator/model/mechanism.hpp"

namespace service {

/// Gaussian prior of a parameter.
struct ParameterPrior {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double standard_deviation = std::numeric_limits<double>::infinity();  ///< infinite if none

  bool exists() const { return standard_deviation < std::numeric_limits<double>::infinity(); }
};

/// Returns the prior of the parameter with this name. For an unknown name, or a parameter without a
/// prior, the standard deviation is infinite.
inline ParameterPrior find_prior(const estimator::Mechanism& mechanism, const std::string& name) {
  const int index = mechanism.find_parameter(name);
  if (index < 0) return {};
  const auto& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
  if (parameter.prior_standard_deviation == std::numeric_limits<double>::infinity()) return {};
  return {parameter.prior_mean, parameter.prior_standard_deviation};
}

}  // namespace service
