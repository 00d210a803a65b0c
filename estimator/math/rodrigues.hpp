#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cmath>

#include "estimator/math/dual.hpp"

namespace estimator {

/// exp(hat(psi)) y, by Rodrigues' formula.
template <typename T>
Eigen::Matrix<T, 3, 1> rotate_vector(const Eigen::Matrix<T, 3, 1>& psi,
                                     const Eigen::Matrix<T, 3, 1>& y) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  const T square = psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2];
  const T excess = square - T(1e-8);  // above this both quotients are accurate
  const T angle = sqrt(square);
  const T rest = T(1.0) - cos(angle);
  const T sinc = select_positive(excess, sin(angle) / angle, T(1.0) - square / 6.0);  // sin ψ/ψ
  const T cosc = select_positive(excess, rest / square, T(0.5) - square / 24.0);  // (1 − cos ψ)/ψ²
  const Eigen::Matrix<T, 3, 1> once = psi.cross(y);
  const Eigen::Matrix<T, 3, 1> twice = psi.cross(once);
  return y + sinc * once + cosc * twice;
}

}  // namespace estimator
