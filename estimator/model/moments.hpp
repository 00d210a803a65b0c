#pragma once

#include <Eigen/Core>
#include <array>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A body's moments of inertia in the order of BodyQuantity: J_xx, J_yy, J_zz, J_xy, J_xz, J_yz.
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

Moments moments_of(const Eigen::Matrix3d& inertia);
Moments moments_of(const Mechanism& mechanism, int body);

/// Returns the parameter indices of a body's six moments of inertia.
std::array<int, 6> moment_indices(const Mechanism& mechanism, int body);

}  // namespace estimator
