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
};

/// All parameters of a mechanism, in the order that `Mechanism` defines.
using ParameterList = std::vector<Parameter>;

}  // namespace estimator
