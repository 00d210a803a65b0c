#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// One hinge of the spanning tree.
struct TreeEdge {
  int hinge;
  bool forward;  ///< reaches body b from body a
};

/// Hinges that connect every body with the ground without closing a loop, in the order in which
/// bodies are reached. A mechanism without loops has as many of them as hinges.
std::vector<TreeEdge> spanning_tree(const Mechanism& mechanism);

/// Whether no hinge closes a loop.
bool is_tree(const Mechanism& mechanism);

}  // namespace estimator
