#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cmath>

#include "estimator/math/dual.hpp"

namespace estimator {

/// Returns the cross-product matrix of a: hat(a) b = a × b.
inline Eigen::Matrix3d hat(const Eigen::Vector3d& a) {
  Eigen::Matrix3d m;
  m << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
  return m;
}

/// Returns the unit quaternion of the rotation by the angle ‖psi‖ [rad] about the vector psi.
inline Eigen::Quaterniond exp_so3(const Eigen::Vector3d& psi) {
  const double angle_squared = psi.squaredNorm();
  double half_sinc;  // sin(ψ/2)/ψ
  double cosine;
  if (angle_squared < 1e-8) {
    half_sinc = 0.5 - angle_squared / 48.0;  // truncation below 1e-18
    cosine = 1.0 - angle_squared / 8.0 + angle_squared * angle_squared / 384.0;
  } else {
    const double angle = std::sqrt(angle_squared);
    half_sinc = std::sin(0.5 * angle) / angle;
    cosine = std::cos(0.5 * angle);
  }
  return {cosine, half_sinc * psi.x(), half_sinc * psi.y(), half_sinc * psi.z()};
}

/// Returns the rotation vector of a unit quaternion, with a norm of at most π. The formula with
/// atan2 is accurate near 0 and near π. q and −q give the same result.
inline Eigen::Vector3d log_so3(const Eigen::Quaterniond& q) {
  const double sign = q.w() < 0.0 ? -1.0 : 1.0;
  const double sine = q.vec().norm();
  const double cosine = sign * q.w();
  const double factor =
      sine < 1e-9 ? 2.0 / cosine : 2.0 * std::atan2(sine, cosine) / sine;  // ψ / sin(ψ/2)
  return sign * factor * q.vec();
}

/// Returns the inverse J_l⁻¹(ψ) of the left Jacobian of the exponential: log(exp(δ) exp(ψ)) = ψ +
/// J_l⁻¹(ψ) δ + O(δ²). The inverse of the right Jacobian is its transpose, J_r⁻¹(ψ) = J_l⁻¹(−ψ).
inline Eigen::Matrix3d left_jacobian_inverse(const Eigen::Vector3d& psi) {
  const double angle_squared = psi.squaredNorm();
  double factor;  // (1 − (ψ/2) cot(ψ/2)) / ψ²
  if (angle_squared < 1e-4) {
    factor = 1.0 / 12.0 + angle_squared / 720.0 + angle_squared * angle_squared / 30240.0;
  } else {
    const double half = 0.5 * std::sqrt(angle_squared);
    factor = (1.0 - half / std::tan(half)) / angle_squared;
  }
  const Eigen::Matrix3d K = hat(psi);
  return Eigen::Matrix3d::Identity() - 0.5 * K + factor * K * K;
}

/// Returns the rotation a followed by a rotation δ in the world frame: a ⊞ δ = exp(δ) ⋆ a,
/// normalized.
inline Eigen::Quaterniond apply_left_rotation(const Eigen::Quaterniond& a,
                                              const Eigen::Vector3d& delta) {
  return (exp_so3(delta) * a).normalized();
}

/// Returns the rotation vector b ⊟ a in the world frame that rotates a onto b: b = exp(b ⊟ a) ⋆ a.
inline Eigen::Vector3d left_rotation_difference(const Eigen::Quaterniond& b,
                                                const Eigen::Quaterniond& a) {
  return log_so3(b * a.conjugate());
}

/// Returns the vector y rotated by the rotation vector psi: exp(hat(psi)) y, by Rodrigues' formula.
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
  const T sinc = select_if_positive(excess, sin(angle) / angle, T(1.0) - square / 6.0);  // sin ψ/ψ
  const T cosc =
      select_if_positive(excess, rest / square, T(0.5) - square / 24.0);  // (1 − cos ψ)/ψ²
  const Eigen::Matrix<T, 3, 1> once = psi.cross(y);
  const Eigen::Matrix<T, 3, 1> twice = psi.cross(once);
  return y + sinc * once + cosc * twice;
}

}  // namespace estimator
