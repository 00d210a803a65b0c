#include "estimator/fit/physical/shooting/misplaced_nodes.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <functional>
#include <vector>

#include "estimator/model/joint_stop.hpp"

namespace estimator {
namespace {

/// Smallest whitened defect of a shooting node to repair [standard deviations], and largest number
/// of such nodes. The nodes with the largest defects are tried first.
constexpr double kTangledDefect = 2.0;
constexpr std::size_t kTangledMost = 12;

/// Shooting node with a large defect, and the step that removes it.
struct MisplacedNodes {
  int node = 0;
  double defect = 0.0;  ///< squared, in standard deviations
  Eigen::VectorXd way;
};

std::vector<MisplacedNodes> find_tangles(const ShootingProblem& problem) {
  const int c = problem.coordinate_count(), size = 2 * c;
  std::vector<MisplacedNodes> tangles;
  ResidualBlock block;
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    const int joint = block.group - problem.acceleration_group(0);
    if (joint < 0 || joint >= c || block.node_span != 2) continue;
    if (tangles.empty() || tangles.back().node != block.first_node + 1) {
      tangles.push_back({.node = block.first_node + 1, .way = Eigen::VectorXd::Zero(size)});
    }
    Eigen::Matrix2d whitening;
    whitening << block.node_jacobian.col(size + joint), block.node_jacobian.col(size + c + joint);
    const Eigen::Vector2d way = -whitening.inverse() * block.residual;
    tangles.back().defect += block.residual.squaredNorm();
    tangles.back().way[joint] = way[0];
    tangles.back().way[c + joint] = way[1];
  }
  std::erase_if(tangles, [](const MisplacedNodes& each) {
    return !(each.defect > kTangledDefect * kTangledDefect);
  });
  std::ranges::stable_sort(tangles, std::greater<>(), &MisplacedNodes::defect);
  if (tangles.size() > kTangledMost) tangles.resize(kTangledMost);
  return tangles;
}

}  // namespace

bool repair_misplaced_nodes(ShootingProblem& problem) {
  if (joint_stops(problem.mechanism()).empty()) return false;
  const ArrowLayout layout = problem.layout();
  const Eigen::VectorXd no_change = Eigen::VectorXd::Zero(layout.arrow_size);
  std::vector<int> moved;
  for (const MisplacedNodes& tangle : find_tangles(problem)) {
    if (std::ranges::count(moved, tangle.node - 1) > 0) continue;  // its step has changed
    Eigen::VectorXd step = Eigen::VectorXd::Zero(layout.node_count * layout.node_size);
    step.segment(tangle.node * layout.node_size, layout.node_size) = tangle.way;
    if (!(problem.evaluate_candidate(step, no_change) < problem.cost())) continue;
    problem.accept_candidate();
    moved.push_back(tangle.node);
  }
  return !moved.empty();
}

}  // namespace estimator
