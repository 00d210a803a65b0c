#pragma once

#include <ceres/ceres.h>

#include <Eigen/Core>
#include <array>

#include "estimator/math/so3.hpp"
#include "estimator/model/state.hpp"

namespace test_support {

inline constexpr int kBodies = 2;
inline constexpr int kAmbient = 7 * kBodies;  ///< (r, quaternion) per body
inline constexpr int kTangent = 6 * kBodies;
inline constexpr int kFullAmbient = kAmbient + kTangent;  ///< velocities behind the poses

using Poses = std::array<estimator::Pose, kBodies>;
using RowMajorMap =
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Velocity = Eigen::Matrix<double, kTangent, 1>;

inline Poses read(const double* x) {
  Poses poses;
  for (std::size_t i = 0; i < kBodies; ++i, x += 7) {
    poses[i] = {Eigen::Map<const Eigen::Vector3d>(x), Eigen::Quaterniond(x + 3)};
  }
  return poses;
}

inline void write(const estimator::Pose& pose, double* x) {
  Eigen::Map<Eigen::Vector3d>{x} = pose.r;
  Eigen::Map<Eigen::Vector4d>{x + 3} = pose.e.coeffs();
}

// Two poses with the solver's retraction. Jacobians of the residuals are given along the tangent,
// in the first six of the seven columns of each pose; PlusJacobian maps to these.
class PosesManifold : public ceres::Manifold {
 public:
  int AmbientSize() const override { return kAmbient; }
  int TangentSize() const override { return kTangent; }
  bool Plus(const double* x, const double* delta, double* x_plus_delta) const override {
    const Poses poses = read(x);
    for (std::size_t i = 0; i < kBodies; ++i) {
      const Eigen::Map<const Eigen::Matrix<double, 6, 1>> step(delta + 6 * i);
      write(retract(poses[i], step), x_plus_delta + 7 * i);
    }
    return true;
  }
  bool PlusJacobian(const double* /*x*/, double* jacobian) const override {
    Eigen::Map<Eigen::Matrix<double, kAmbient, kTangent, Eigen::RowMajor>> J(jacobian);
    J.setZero();
    for (int i = 0; i < kBodies; ++i) J.block<6, 6>(7 * i, 6 * i).setIdentity();
    return true;
  }
  bool Minus(const double* y, const double* x, double* y_minus_x) const override {
    const Poses to = read(y), from = read(x);
    for (std::size_t i = 0; i < kBodies; ++i) {
      Eigen::Map<Eigen::Matrix<double, 6, 1>>{y_minus_x + 6 * i} = difference(to[i], from[i]);
    }
    return true;
  }
  bool MinusJacobian(const double* /*x*/, double* jacobian) const override {
    Eigen::Map<Eigen::Matrix<double, kTangent, kAmbient, Eigen::RowMajor>> J(jacobian);
    J.setZero();
    for (int i = 0; i < kBodies; ++i) J.block<6, 6>(6 * i, 7 * i).setIdentity();
    return true;
  }
};

// Derivative of a residual through the velocity (to ⊟ from)/h of one body, along a move of that
// body's pose at its end (sign 1) or its start (sign −1), given the residual's derivative along
// the velocities. With hω = log(R_to R_fromᵀ): ∂hω/∂δψ_to = J_l⁻¹(hω), ∂hω/∂δψ_from = −J_l⁻¹(−hω).
inline Eigen::Matrix<double, kTangent, 6> through_velocity(const Eigen::MatrixXd& along_velocities,
                                                           const Velocity& velocity, int body,
                                                           double h, double sign) {
  const int at = 6 * body;
  const Eigen::Vector3d turn = sign * h * velocity.segment<3>(at + 3);
  Eigen::Matrix<double, kTangent, 6> J;
  J.leftCols<3>() = (sign / h) * along_velocities.middleCols<3>(at);
  J.rightCols<3>().noalias() =
      (sign / h) * along_velocities.middleCols<3>(at + 3) * estimator::left_jacobian_inverse(turn);
  return J;
}

}  // namespace test_support
