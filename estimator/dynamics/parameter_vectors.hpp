#pragma once

#include <Eigen/Core>
#include <vector>

// Access to parameters of any scalar type, as scalars and 3-vectors.

namespace estimator {

template <typename T>
T parameter_of(const std::vector<T>& parameters, int index) {
  return parameters[static_cast<std::size_t>(index)];
}

/// Returns the 3-vector whose first component is the parameter with this index.
template <typename T>
Eigen::Matrix<T, 3, 1> vector_at(const std::vector<T>& parameters, int index) {
  return {parameter_of(parameters, index), parameter_of(parameters, index + 1),
          parameter_of(parameters, index + 2)};
}

}  // namespace estimator
