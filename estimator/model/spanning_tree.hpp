#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One joint of the spanning tree.
struct TreeEdge {
  int joint;          ///< index into the joints; for a fixed joint, into `welds`
  bool forward;       ///< goes from body a to body b
  bool weld = false;  ///< a fixed joint
};

/// Joints that connect every body with the ground without closing a loop, in the order in which
/// bodies are reached. A mechanism without loops has exactly as many joints.
std::vector<TreeEdge> spanning_tree(const Mechanism& mechanism);

/// Whether all joints are independent: none closes a loop or mimics another.
bool is_tree(const Mechanism& mechanism);

}  // namespace estimator
