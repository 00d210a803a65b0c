#pragma once

#include "estimator/math/rodrigues.hpp"

namespace estimator {

/// Acceleration of gravity in the world frame [m/s²]: (0, −g, 0) turned by the rotation vector
/// (tilt_x, 0, tilt_z), for scalars of any kind.
template <typename T>
Eigen::Matrix<T, 3, 1> gravity_vector(const T& g, const T& tilt_x, const T& tilt_z) {
  return turned<T>({tilt_x, T(0.0), tilt_z}, {T(0.0), -g, T(0.0)});
}

}  // namespace estimator
