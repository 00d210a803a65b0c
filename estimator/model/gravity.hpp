#pragma once

#include "estimator/math/rodrigues.hpp"

namespace estimator {

/// Returns the acceleration of gravity in the world frame [m/s²], for any scalar type. It is (0,
/// −g, 0) rotated by the rotation vector (tilt_x, 0, tilt_z).
template <typename T>
Eigen::Matrix<T, 3, 1> gravity_vector(const T& g, const T& tilt_x, const T& tilt_z) {
  return rotate_vector<T>({tilt_x, T(0.0), tilt_z}, {T(0.0), -g, T(0.0)});
}

}  // namespace estimator
