#pragma once

#include <Eigen/Core>
#include <array>
#include <numeric>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A body's moments of inertia in the order of BodyParameter: J_xx, J_yy, J_zz, J_xy, J_xz, J_yz.
using Moments = Eigen::Matrix<double, 6, 1>;

/// Returns the inertia matrix with these moments as elements, for any scalar type.
template <typename Derived>
Eigen::Matrix<typename Derived::Scalar, 3, 3> inertia_matrix(
    const Eigen::MatrixBase<Derived>& moments) {
  const Eigen::Matrix<typename Derived::Scalar, 6, 1> m = moments;
  Eigen::Matrix<typename Derived::Scalar, 3, 3> J;
  J << m[0], m[3], m[4],  //
      m[3], m[1], m[5],   //
      m[4], m[5], m[2];
  return J;
}

inline Moments moments_of_inertia(const Eigen::Matrix3d& inertia) {
  Moments moments;
  moments << inertia.diagonal(), inertia(0, 1), inertia(0, 2), inertia(1, 2);
  return moments;
}

/// Returns the parameter indices of a body's six moments of inertia.
inline std::array<int, 6> moment_of_inertia_indices(const Mechanism& mechanism, int body) {
  std::array<int, 6> indices;
  std::iota(indices.begin(), indices.end(), mechanism.index(body, BodyParameter::kJxx));
  return indices;
}

inline Moments moments_of_inertia(const Mechanism& mechanism, int body) {
  Moments moments;
  for (int i = 0; i < 6; ++i) {
    moments[i] = mechanism.at(mechanism.index(body, BodyParameter::kJxx) + i).value;
  }
  return moments;
}

}  // namespace estimator
