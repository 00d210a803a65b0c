#include "estimator/model/spanning_tree.hpp"

namespace estimator {

std::vector<TreeEdge> spanning_tree(const Mechanism& mechanism) {
  std::vector<TreeEdge> edges;
  std::vector<bool> placed(mechanism.bodies.size(), false);
  const auto is_placed = [&](int body) {
    return body == Hinge::kGround || placed[static_cast<std::size_t>(body)];
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (int j = 0; j < mechanism.hinge_count(); ++j) {
      const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
      if (is_placed(hinge.body_a) == is_placed(hinge.body_b)) continue;
      const bool forward = is_placed(hinge.body_a);
      placed[static_cast<std::size_t>(forward ? hinge.body_b : hinge.body_a)] = true;
      edges.push_back({j, forward});
      grown = true;
    }
  }
  return edges;
}

bool is_tree(const Mechanism& mechanism) {
  return spanning_tree(mechanism).size() == mechanism.hinges.size();
}

}  // namespace estimator
