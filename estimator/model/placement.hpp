#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <optional>
#include <vector>

#include "estimator/math/so3.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {

/// Pose of a body: position of its centre of mass, and rotation from the body to the world frame.
struct Pose {
  Eigen::Vector3d r = Eigen::Vector3d::Zero();            ///< [m], world frame
  Eigen::Quaterniond e = Eigen::Quaterniond::Identity();  ///< unit quaternion
};

/// Poses of all bodies. A small displacement of the bodies has 6 components per body, (δr, δψ), in
/// the world frame.
using Configuration = std::vector<Pose>;

/// Poses and velocities of all bodies of a mechanism (maximal coordinates).
struct State {
  Configuration poses;
  Eigen::VectorXd velocity;  ///< 6 per body: linear [m/s], angular [rad/s], both in the world frame
};

/// Returns q ⊞ δ, the pose q moved by δ = (δr, δψ), both in the world frame [Mar, eq. 2.14 with
/// left multiplication].
inline Pose apply_pose_increment(const Pose& q,
                                 const Eigen::Ref<const Eigen::Matrix<double, 6, 1>>& delta) {
  return {q.r + delta.head<3>(), apply_left_rotation(q.e, delta.tail<3>())};
}

/// Returns b ⊟ a, the displacement (δr, δψ) from pose a to pose b, in the world frame.
inline Eigen::Matrix<double, 6, 1> pose_difference(const Pose& b, const Pose& a) {
  Eigen::Matrix<double, 6, 1> delta;
  delta.head<3>() = b.r - a.r;
  delta.tail<3>() = left_rotation_difference(b.e, a.e);
  return delta;
}

/// Returns the acceleration of gravity in the world frame [m/s²], for any scalar type. It is (0,
/// −g, 0) rotated by the rotation vector (tilt_x, 0, tilt_z).
template <typename T>
Eigen::Matrix<T, 3, 1> gravity_vector(const T& g, const T& tilt_x, const T& tilt_z) {
  return rotate_vector<T>({tilt_x, T(0.0), tilt_z}, {T(0.0), -g, T(0.0)});
}

/// Returns the poses of all bodies at given joint coordinates, for joints of all kinds. Bodies are
/// placed along the spanning tree; coordinates of joints that close a loop have no effect.
///
/// @param coordinates  one per joint [rad or m]
Configuration place_bodies(const Mechanism& mechanism, const Eigen::VectorXd& coordinates);

/// Returns whether joints that close loops give the same body orientations as the spanning tree.
/// The loop-closure equations alone also hold for a body that is half a turn off.
bool are_loop_orientations_consistent(const Mechanism& mechanism,
                                      const Eigen::VectorXd& coordinates);

/// Calls `use(body, index)` for every joint point on a body or the ground. `index` is the parameter
/// index of the point's first coordinate. Movable joints come first, then fixed joints.
template <typename Use>
void for_each_joint_point(const Mechanism& mechanism, const Use& use) {
  for (const DirectedJoint& edge : all_directed_joints(mechanism)) {
    use(edge.parent.body, edge.parent.point);
    use(edge.child.body, edge.child.point);
  }
}

/// Returns a joint point in the frame of its child body b (`on_child`) or of its parent body a [m].
Eigen::Vector3d joint_point(const Mechanism& mechanism, int joint, bool on_child);
Eigen::Vector3d fixed_joint_point(const Mechanism& mechanism, int weld, bool on_child);

/// Returns the acceleration of gravity in the world frame [m/s²].
Eigen::Vector3d gravity_vector(const Mechanism& mechanism);

/// Returns the only direction about which a body can rotate, as a unit vector in the body frame.
/// Only the moment of inertia about it then has an effect. Returns nullopt if the body can rotate
/// about several directions, and zero if it does not rotate.
std::optional<Eigen::Vector3d> find_single_rotation_axis(const Mechanism& mechanism, int body);

}  // namespace estimator
