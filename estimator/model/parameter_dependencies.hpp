#pragma once

#include <vector>

namespace estimator {

struct Mechanism;

/// One term of a dependency: a parameter and its factor.
struct DependencyTerm {
  int parameter;  ///< index into Mechanism::parameters
  double factor;  ///< [unit of the dependent parameter / unit of this one]
};

/// A dependent parameter, an affine function of others,
///
///   value = constant + Σ factor · parameter,
///
/// such as the mass of one of two equal links, or a lever arm that is a length minus a distance.
struct ParameterDependency {
  int parameter;  ///< index into Mechanism::parameters
  double constant = 0.0;
  std::vector<DependencyTerm> terms = {};  ///< of independent parameters
};

/// Expresses every dependency by independent parameters.
/// @return −1, or a parameter that depends on itself
int resolve_dependencies(std::vector<ParameterDependency>& dependencies);

/// Sets dependent parameters to the values of their dependencies.
void apply_dependencies(Mechanism& mechanism);

/// The dependency of a parameter; nullptr if it is independent.
const ParameterDependency* find_dependency(const Mechanism& mechanism, int parameter);

/// Free parameters on which a parameter depends (itself if free), with its derivative by each.
std::vector<DependencyTerm> free_dependencies(const Mechanism& mechanism, int parameter);

/// Whether estimation changes the parameter: it is free, or depends on one that is.
bool changes_in_fit(const Mechanism& mechanism, int parameter);

/// Whether the parameter keeps its value: it is neither free nor dependent.
bool is_fixed(const Mechanism& mechanism, int parameter);

}  // namespace estimator
