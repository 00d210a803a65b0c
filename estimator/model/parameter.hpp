#pragma once

#include <limits>
#include <string>
#include <vector>

namespace estimator {

/// One physical quantity of a mechanism: its value, what bounds it, and what is known of it.
///
/// A parameter with `free` set is estimated; any other keeps `value`. Units are SI.
struct Parameter {
  std::string name;                                         ///< e.g. "A.J_zz"
  std::string unit;                                         ///< e.g. "kg·m²"
  double value = 0.0;                                       ///< current value, start of a fit
  double lower = -std::numeric_limits<double>::infinity();  ///< box constraint, inclusive
  double upper = std::numeric_limits<double>::infinity();   ///< box constraint, inclusive
  bool free = false;                                        ///< estimated when true
  double prior_mean = 0.0;                                  ///< mean of the Gaussian prior
  double prior_standard_deviation =
      std::numeric_limits<double>::infinity();  ///< infinite: no prior
};

/// All parameters of a mechanism, in the fixed order given by `Mechanism`.
using ParameterList = std::vector<Parameter>;

}  // namespace estimator
