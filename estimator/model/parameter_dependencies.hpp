#pragma once

#include <limits>
#include <string>
#include <vector>

namespace estimator {

/// One physical parameter of a mechanism in SI units: value, bounds and Gaussian prior.
///
/// A parameter with `free` set is estimated; any other keeps its value.
struct Parameter {
  std::string name;                                         ///< e.g. "A.J_zz"
  std::string unit;                                         ///< e.g. "kg·m²"
  double value = 0.0;                                       ///< current or initial value
  double lower = -std::numeric_limits<double>::infinity();  ///< lower bound, inclusive
  double upper = std::numeric_limits<double>::infinity();   ///< upper bound, inclusive
  bool free = false;                                        ///< whether the parameter is estimated
  double prior_mean = 0.0;                                  ///< mean of the Gaussian prior
  double prior_standard_deviation =
      std::numeric_limits<double>::infinity();  ///< standard deviation of the prior; infinite: no
                                                ///< prior
  /// Half-width of the 95 % confidence interval of a fixed parameter, relative to its value [-].
  double tolerance = 0.0;
};

/// All parameters of a mechanism, in the order that `Mechanism` defines.
using ParameterList = std::vector<Parameter>;

struct Mechanism;

/// A term of a parameter dependency: a parameter and its factor.
struct DependencyTerm {
  int parameter;  ///< index into Mechanism::parameters
  double factor;  ///< [unit of the dependent parameter / unit of this one]
};

/// A parameter that is an affine function of other parameters,
///
///   value = constant + Σ factor · parameter,
///
/// such as the mass of one of two equal links, or a lever arm that is a length minus a distance.
struct ParameterDependency {
  int parameter;  ///< index into Mechanism::parameters
  double constant = 0.0;
  std::vector<DependencyTerm> terms = {};  ///< terms in independent parameters
};

/// Rewrites every dependency so that its terms are independent parameters.
/// @return −1, or the index of a parameter that depends on itself
int resolve_dependencies(std::vector<ParameterDependency>& dependencies);

/// Sets dependent parameters to the values of their dependencies.
void apply_dependencies(Mechanism& mechanism);

/// Returns the dependency of a parameter; nullptr if the parameter is independent.
const ParameterDependency* find_dependency(const Mechanism& mechanism, int parameter);

/// Returns the free parameters on which a parameter depends, and the derivatives with respect to
/// them. A free parameter depends on itself.
std::vector<DependencyTerm> free_dependencies(const Mechanism& mechanism, int parameter);

/// Returns whether estimation changes a parameter: it is free or depends on a free parameter.
bool is_changed_by_fit(const Mechanism& mechanism, int parameter);

/// Returns whether a parameter keeps its value: it is neither free nor dependent.
bool is_fixed_parameter(const Mechanism& mechanism, int parameter);

}  // namespace estimator
