#include "estimator/model/spanning_tree.hpp"

namespace estimator {

std::vector<TreeEdge> spanning_tree(const Mechanism& mechanism) {
  std::vector<TreeEdge> edges;
  std::vector<bool> placed(mechanism.bodies.size(), false);
  const auto is_placed = [&](int body) {
    return body == Joint::kGround || placed[static_cast<std::size_t>(body)];
  };
  bool grown = true;
  const auto reach = [&](int index, int body_a, int body_b, bool weld) {
    if (is_placed(body_a) == is_placed(body_b)) return;
    const bool forward = is_placed(body_a);
    placed[static_cast<std::size_t>(forward ? body_b : body_a)] = true;
    edges.push_back({index, forward, weld});
    grown = true;
  };
  while (grown) {
    grown = false;
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
      reach(j, joint.body_a, joint.body_b, false);
    }
    for (int w = 0; w < mechanism.fixed_joint_count(); ++w) {
      const FixedJoint& weld = mechanism.fixed_joints[static_cast<std::size_t>(w)];
      reach(w, weld.body_a, weld.body_b, true);
    }
  }
  return edges;
}

bool is_tree(const Mechanism& mechanism) {
  return mechanism.mimic_joints.empty() &&
         spanning_tree(mechanism).size() == mechanism.joints.size() + mechanism.fixed_joints.size();
}

}  // namespace estimator
