#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "estimator/model/mechanism.hpp"

namespace test_support {

/// Returns the parameter of this name.
/// @throws std::invalid_argument if there is none
inline const estimator::Parameter& parameter_of(const estimator::Mechanism& mechanism,
                                                const std::string& name) {
  const int index = mechanism.find_parameter(name);
  if (index < 0) throw std::invalid_argument("no parameter " + name);
  return mechanism.parameters[static_cast<std::size_t>(index)];
}
inline estimator::Parameter& parameter_of(estimator::Mechanism& mechanism,
                                          const std::string& name) {
  return const_cast<estimator::Parameter&>(parameter_of(std::as_const(mechanism), name));
}

}  // namespace test_support
