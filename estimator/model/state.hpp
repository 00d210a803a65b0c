#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <vector>

#include "estimator/math/so3.hpp"

namespace estimator {

/// Pose of a body: position of its centre of mass, and rotation from the body to the world frame.
struct Pose {
  Eigen::Vector3d r = Eigen::Vector3d::Zero();            ///< [m], world frame
  Eigen::Quaterniond e = Eigen::Quaterniond::Identity();  ///< unit quaternion
};

/// Poses of all bodies. Its tangent space has 6 directions per body, (δr, δψ), in the world frame.
using Configuration = std::vector<Pose>;

/// Poses and velocities of all bodies of a mechanism (maximal coordinates).
struct State {
  Configuration poses;
  Eigen::VectorXd velocity;  ///< 6 per body: linear [m/s], angular [rad/s], both in the world frame
};

/// Returns q ⊞ δ, the pose q moved by δ = (δr, δψ), both in the world frame [Mar, eq. 2.14 with
/// left multiplication].
inline Pose retract(const Pose& q, const Eigen::Ref<const Eigen::Matrix<double, 6, 1>>& delta) {
  return {q.r + delta.head<3>(), rotate_left(q.e, delta.tail<3>())};
}

/// Returns b ⊟ a, the tangent vector (δr, δψ) at pose a that leads to pose b.
inline Eigen::Matrix<double, 6, 1> difference(const Pose& b, const Pose& a) {
  Eigen::Matrix<double, 6, 1> delta;
  delta.head<3>() = b.r - a.r;
  delta.tail<3>() = difference_left(b.e, a.e);
  return delta;
}

}  // namespace estimator
