#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/state.hpp"

namespace estimator {

/// Returns the poses of all bodies at given joint coordinates, for joints of all kinds. Bodies are
/// placed along the spanning tree; coordinates of joints that close a loop have no effect.
///
/// @param coordinates  one per joint [rad or m]
Configuration place_bodies(const Mechanism& mechanism, const Eigen::VectorXd& coordinates);

/// Returns whether joints that close loops give the same body orientations as the spanning tree.
/// The loop-closure equations alone also hold for a body that is half a turn off.
bool orientations_agree(const Mechanism& mechanism, const Eigen::VectorXd& coordinates);

/// Calls `use(body, index)` for every joint point on a body or the ground. `index` is the parameter
/// index of the point's first coordinate. Movable joints come first, then fixed joints.
template <typename Use>
void for_each_joint_point(const Mechanism& mechanism, const Use& use) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    use(joint.body_a, mechanism.index_of_joint(j, JointQuantity::kPointAx));
    use(joint.body_b, mechanism.index_of_joint(j, JointQuantity::kPointBx));
  }
  for (int w = 0; w < mechanism.fixed_joint_count(); ++w) {
    const FixedJoint& weld = mechanism.fixed_joints[static_cast<std::size_t>(w)];
    use(weld.body_a, mechanism.index_of_fixed_joint(w, JointQuantity::kPointAx));
    use(weld.body_b, mechanism.index_of_fixed_joint(w, JointQuantity::kPointBx));
  }
}

/// Returns a joint point in the frame of its child body b (`on_child`) or of its parent body a [m].
Eigen::Vector3d joint_point(const Mechanism& mechanism, int joint, bool on_child);
Eigen::Vector3d fixed_joint_point(const Mechanism& mechanism, int weld, bool on_child);

/// Returns the acceleration of gravity in the world frame [m/s²].
Eigen::Vector3d gravity_of(const Mechanism& mechanism);

}  // namespace estimator
