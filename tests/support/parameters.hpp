#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"

namespace test_support {

/// Returns the parameter of this name.
/// @throws std::out_of_range if there is none
inline estimator::Parameter& parameter_of(estimator::Mechanism& mechanism,
                                          const std::string& name) {
  return mechanism.parameters.at(static_cast<std::size_t>(mechanism.find_parameter(name)));
}
inline const estimator::Parameter& parameter_of(const estimator::Mechanism& mechanism,
                                                const std::string& name) {
  return mechanism.parameters.at(static_cast<std::size_t>(mechanism.find_parameter(name)));
}

}  // namespace test_support
