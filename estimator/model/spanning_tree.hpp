#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One joint of the spanning tree.
struct TreeEdge {
  int hinge;          ///< index into the hinges; of a weld into the welds
  bool forward;       ///< reaches body b from body a
  bool weld = false;  ///< a fixed joint
};

/// Joints that connect every body with the ground without closing a loop, in the order in which
/// bodies are reached. A mechanism without loops has as many of them as joints.
std::vector<TreeEdge> spanning_tree(const Mechanism& mechanism);

/// Whether no joint closes a loop or follows another: all move by themselves.
bool is_tree(const Mechanism& mechanism);

}  // namespace estimator
