#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One side of a movable or fixed joint.
struct JointSide {
  int body;               ///< index into bodies, or Joint::kGround
  Eigen::Matrix3d frame;  ///< rotation: joint frame → body
  int point;  ///< parameter index of the first coordinate of the joint's point on the body
};

/// A movable or fixed joint with a direction: a path along the bodies passes the joint from the
/// parent's side to the child's side.
struct DirectedJoint {
  int joint;          ///< index into the joints, or into the fixed joints
  bool forward;       ///< whether the walk passes it from body a to body b
  bool weld = false;  ///< whether it is a fixed joint
  JointSide parent, child;

  DirectedJoint reversed() const { return {joint, !forward, weld, child, parent}; }
};

/// Returns all movable joints, then all fixed joints, each from body a to body b.
std::vector<DirectedJoint> all_directed_joints(const Mechanism& mechanism);

/// Returns joints that connect every body with the ground without closing a loop, in the order in
/// which the bodies are reached. In a mechanism without loops these are all joints.
std::vector<DirectedJoint> spanning_tree(const Mechanism& mechanism);

/// Returns the joints outside the spanning tree, in the order of `all_directed_joints`.
std::vector<DirectedJoint> loop_closing_joints(const Mechanism& mechanism);

/// Returns whether a joint closes a loop or mimics another joint.
bool has_closed_loops(const Mechanism& mechanism);

/// Returns whether all joints are always independent: none closes a loop or mimics another joint,
/// and no body touches the ground.
bool is_tree_mechanism(const Mechanism& mechanism);

}  // namespace estimator
