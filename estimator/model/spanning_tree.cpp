#include "estimator/model/spanning_tree.hpp"

#include <algorithm>

namespace estimator {

std::vector<DirectedJoint> all_directed_joints(const Mechanism& mechanism) {
  std::vector<DirectedJoint> edges;
  const auto add = [&](int index, const auto& joint, bool weld, int point_a, int point_b) {
    edges.push_back({.joint = index,
                     .forward = true,
                     .weld = weld,
                     .parent = {joint.body_a, joint.frame_a, point_a},
                     .child = {joint.body_b, joint.frame_b, point_b}});
  };
  for (int j = 0; j < mechanism.joint_count(); j += mechanism.joints[j].coordinate_count()) {
    add(j, mechanism.joints[j], false, mechanism.joint_parameter_index(j, JointParameter::kPointAx),
        mechanism.joint_parameter_index(j, JointParameter::kPointBx));
  }
  for (int w = 0; w < mechanism.fixed_joint_count(); ++w) {
    add(w, mechanism.fixed_joints[w], true,
        mechanism.fixed_joint_parameter_index(w, JointParameter::kPointAx),
        mechanism.fixed_joint_parameter_index(w, JointParameter::kPointBx));
  }
  return edges;
}

std::vector<DirectedJoint> spanning_tree(const Mechanism& mechanism) {
  std::vector<DirectedJoint> tree;
  const std::vector<DirectedJoint> edges = all_directed_joints(mechanism);
  std::vector<bool> placed(mechanism.bodies.size() + 1, false);  // the ground, then the bodies
  placed[0] = true;
  const auto is_placed = [&](const JointSide& side) { return placed[side.body + 1]; };
  for (bool grown = true; grown;) {
    grown = false;
    for (const DirectedJoint& edge : edges) {
      if (is_placed(edge.parent) == is_placed(edge.child)) continue;
      tree.push_back(is_placed(edge.parent) ? edge : edge.reversed());
      placed[tree.back().child.body + 1] = true;
      grown = true;
    }
  }
  return tree;
}

std::vector<DirectedJoint> loop_closing_joints(const Mechanism& mechanism) {
  const std::vector<DirectedJoint> tree = spanning_tree(mechanism);
  std::vector<DirectedJoint> edges = all_directed_joints(mechanism);
  std::erase_if(edges, [&](const DirectedJoint& edge) {
    return std::ranges::any_of(tree, [&](const DirectedJoint& each) {
      return each.joint == edge.joint && each.weld == edge.weld;
    });
  });
  return edges;
}

bool has_closed_loops(const Mechanism& mechanism) {
  return !mechanism.mimic_joints.empty() ||
         spanning_tree(mechanism).size() != all_directed_joints(mechanism).size();
}

bool is_tree_mechanism(const Mechanism& mechanism) {
  return mechanism.contacts.empty() && !has_closed_loops(mechanism);
}

}  // namespace estimator
