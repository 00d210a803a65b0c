#include "estimator/tree/loop_freedom.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/tree/loop_closure.hpp"

namespace estimator {
namespace {

constexpr int kLoopStarts = 16;
constexpr double kLooseRank = 1e-7;  // singular values, of the largest

/// A joint that closes a loop.
std::string closing_joint(const Mechanism& mechanism) {
  std::vector<bool> hinge_in_tree(mechanism.hinges.size()), weld_in_tree(mechanism.welds.size());
  for (const TreeEdge& edge : spanning_tree(mechanism)) {
    (edge.weld ? weld_in_tree : hinge_in_tree)[static_cast<std::size_t>(edge.hinge)] = true;
  }
  const auto weld = std::ranges::find(weld_in_tree, false);
  if (weld != weld_in_tree.end()) {
    return mechanism.welds[static_cast<std::size_t>(weld - weld_in_tree.begin())].name;
  }
  const auto hinge = std::ranges::find(hinge_in_tree, false) - hinge_in_tree.begin();
  return mechanism.hinges[static_cast<std::size_t>(hinge)].name;
}

}  // namespace

std::string find_lost_freedom(const Mechanism& mechanism) {
  if (is_tree(mechanism) || mechanism.hinge_count() > kTreeHingesMax) return "";
  const Eigen::Index n = mechanism.hinge_count();
  LoopClosure closure(mechanism);
  const Eigen::VectorXd any =
      Eigen::VectorXd::Constant(n, std::numeric_limits<double>::quiet_NaN());
  std::mt19937 random(1);
  Eigen::Index free = -1;
  for (int start = 0; start < kLoopStarts && free <= 0; ++start) {
    Eigen::VectorXd angles(n);
    for (double& angle : angles) {
      angle = 2.0 * M_PI * (static_cast<double>(random()) / std::mt19937::max() - 0.5);
    }
    if (!closure.close(angles, any)) continue;
    const Eigen::MatrixXd J = closure.jacobian(angles);
    if (J.cwiseAbs().maxCoeff() < kLooseRank) {
      return "joint '" + closing_joint(mechanism) +
             "' closes a loop in which no joint moves: its bodies are fixed to one another "
             "already; remove it";
    }
    free = std::max(free, null_space(J, kLooseRank).cols());
  }
  if (free != 0) return "";
  return "joint '" + closing_joint(mechanism) +
         "' closes a loop that cannot move: the joints leave one another no freedom; check axes "
         "and "
         "hinge points, or take a joint away";
}

}  // namespace estimator
