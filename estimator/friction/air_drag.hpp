#pragma once

#include <Eigen/Core>
#include <cmath>

namespace estimator {

/// Speed below which the drag is linear rather than quadratic, which avoids a kink [m/s].
inline constexpr double kRegularizationSpeed = 1e-6;

/// Returns the drag force c |v| v of still air on a body with velocity v and drag coefficient c
/// [N].
template <typename T>
Eigen::Matrix<T, 3, 1> air_drag(const T& coefficient, const Eigen::Matrix<T, 3, 1>& velocity) {
  using std::sqrt;
  const T speed = sqrt(T(velocity.dot(velocity) + kRegularizationSpeed * kRegularizationSpeed));
  return (coefficient * speed) * velocity;
}

}  // namespace estimator
