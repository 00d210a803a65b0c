#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/symbolic/expression.hpp"

namespace estimator {

/// Replaces the values of dependent parameters by expressions in the independent parameters.
inline void tie_values(const Mechanism& mechanism, std::vector<Expression>& values) {
  for (const ParameterDependency& tie : mechanism.dependencies) {
    Expression value(tie.constant);
    for (const DependencyTerm& term : tie.terms) {
      value += Expression(term.factor) * values[static_cast<std::size_t>(term.parameter)];
    }
    values[static_cast<std::size_t>(tie.parameter)] = value;
  }
}

}  // namespace estimator
