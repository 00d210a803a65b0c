#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A joint of the spanning tree, with the direction in which the tree passes it.
struct TreeEdge {
  int joint;          ///< index into the joints, or into the fixed joints
  bool forward;       ///< whether the tree passes it from body a to body b
  bool weld = false;  ///< whether it is a fixed joint
};

/// Returns joints that connect every body with the ground without closing a loop, in the order in
/// which the bodies are reached. In a mechanism without loops these are all joints.
std::vector<TreeEdge> spanning_tree(const Mechanism& mechanism);

/// Returns whether all joints are independent: none closes a loop or mimics another joint.
bool is_tree(const Mechanism& mechanism);

}  // namespace estimator
