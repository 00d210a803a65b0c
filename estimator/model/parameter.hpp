#pragma once

#include <limits>
#include <string>
#include <vector>

namespace estimator {

/// One physical parameter of a mechanism: value, bounds and prior, in SI units.
///
/// A parameter with `free` set is estimated; any other keeps `value`.
struct Parameter {
  std::string name;                                         ///< e.g. "A.J_zz"
  std::string unit;                                         ///< e.g. "kg·m²"
  double value = 0.0;                                       ///< current or initial value
  double lower = -std::numeric_limits<double>::infinity();  ///< box constraint, inclusive
  double upper = std::numeric_limits<double>::infinity();   ///< box constraint, inclusive
  bool free = false;                                        ///< estimated when true
  double prior_mean = 0.0;                                  ///< mean of the Gaussian prior
  double prior_standard_deviation =
      std::numeric_limits<double>::infinity();  ///< infinite: no prior
};

/// All parameters of a mechanism, in the order that `Mechanism` defines.
using ParameterList = std::vector<Parameter>;

}  // namespace estimator
