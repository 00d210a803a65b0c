#pragma once

#include <Eigen/Core>
#include <cmath>

namespace estimator {

/// Slower than this the drag falls with the speed and not with its square: it has no kink [m/s].
inline constexpr double kStillSpeed = 1e-6;

/// The force c |v| v that still air holds a body back with that moves at v [N].
template <typename T>
Eigen::Matrix<T, 3, 1> air_drag(const T& coefficient, const Eigen::Matrix<T, 3, 1>& velocity) {
  using std::sqrt;
  const T speed = sqrt(T(velocity.dot(velocity) + kStillSpeed * kStillSpeed));
  return (coefficient * speed) * velocity;
}

}  // namespace estimator
