#include "tests/studies/motion_observer/motion_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace estimator {
namespace {

constexpr int kStageIterations = 12;  // slower ones continue at the next joint
constexpr int kLastIterations = 50;
/// Two motions are equal if they differ by less than this in every unknown, in prior standard
/// deviations.
constexpr double kSame = 0.02;
constexpr double kWithin = 7.0;  // prior standard deviations, largest offset of a start

/// Sorts motions by cost, and removes motions that are too expensive, duplicate or too many.
void prune(std::vector<InstantEstimate>& motions, const Eigen::VectorXd& deviation,
           const MotionSearch& search) {
  std::erase_if(motions, [](const InstantEstimate& each) { return !std::isfinite(each.cost); });
  std::ranges::sort(motions, {}, &InstantEstimate::cost);
  std::vector<InstantEstimate> kept;
  for (InstantEstimate& each : motions) {
    if (static_cast<int>(kept.size()) == search.width) break;
    if (!(each.cost <= motions.front().cost + search.cut)) break;
    const bool known = std::ranges::any_of(kept, [&](const InstantEstimate& other) {
      return (each.motion - other.motion).cwiseQuotient(deviation).cwiseAbs().maxCoeff() < kSame;
    });
    if (!known) kept.push_back(each);
  }
  motions = std::move(kept);
}

}  // namespace

FoundMotion search_motion(MotionObserver& estimator, const Eigen::VectorXd& readings,
                          const MotionPrior& prior, const MotionSearch& search) {
  FoundMotion found;
  const Eigen::VectorXd deviation = prior.information.diagonal().cwiseSqrt().cwiseInverse();
  std::vector<InstantEstimate> motions(1);
  motions.front().motion = prior.mean;
  const int n = static_cast<int>(estimator.order().size());
  for (int joints = 1; joints <= n; ++joints) {
    const int joint = estimator.order()[static_cast<std::size_t>(joints - 1)];
    std::vector<InstantEstimate> next;
    for (const InstantEstimate& each : motions) {
      for (const double turn : {0.0, 0.5 * M_PI, -0.5 * M_PI, M_PI}) {
        if (std::abs(turn) > kWithin * deviation[joint]) continue;
        Eigen::VectorXd start = each.motion;
        start[joint] += turn;
        next.push_back(
            estimator.estimate_first_joints(joints, readings, prior, start, kStageIterations));
        found.iterations += next.back().iterations;
      }
    }
    prune(next, deviation, search);
    motions = std::move(next);
  }
  for (InstantEstimate& each : motions) {
    each = estimator.estimate(readings, prior, each.motion, kLastIterations);
    found.iterations += each.iterations;
  }
  prune(motions, deviation, search);
  found.motions = std::move(motions);
  return found;
}

}  // namespace estimator
