#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <vector>

#include "estimator/math/so3.hpp"

namespace estimator {

/// Pose of a body: position of its centre of mass and orientation, body to world.
struct Pose {
  Eigen::Vector3d r = Eigen::Vector3d::Zero();            ///< [m], world frame
  Eigen::Quaterniond e = Eigen::Quaterniond::Identity();  ///< unit
};

/// Configuration: one pose per body. Tangent space: 6 per body, (δr, δψ), world frame.
using Configuration = std::vector<Pose>;

/// Configuration and velocities of a mechanism, maximal coordinates.
struct State {
  Configuration poses;
  Eigen::VectorXd velocity;  ///< 6 per body: linear [m/s], angular [rad/s], both in the world frame
};

/// q ⊞ δ with δ = (δr, δψ), both in the world frame [Mar, eq. 2.14 with left multiplication].
inline Pose retract(const Pose& q, const Eigen::Ref<const Eigen::Matrix<double, 6, 1>>& delta) {
  return {q.r + delta.head<3>(), rotate_left(q.e, delta.tail<3>())};
}

/// (b ⊟ a): tangent vector at a that leads to b.
inline Eigen::Matrix<double, 6, 1> difference(const Pose& b, const Pose& a) {
  Eigen::Matrix<double, 6, 1> delta;
  delta.head<3>() = b.r - a.r;
  delta.tail<3>() = difference_left(b.e, a.e);
  return delta;
}

}  // namespace estimator
