#pragma once

#include <limits>
#include <vector>

#include "estimator/instant/instant_estimator.hpp"

namespace estimator {

/// How widely the most probable motion is searched for.
struct MotionSearch {
  int width = 8;      ///< motions that are followed at a time, ≥ 1
  double cut = 40.0;  ///< a motion is given up that costs so much more than the best
};

/// What a search has found.
struct FoundMotion {
  std::vector<InstantEstimate> motions;  ///< most probable first; empty: none is a number
  int iterations = 0;                    ///< of all that was tried

  /// By how much the cost of the second best exceeds that of the best: below about 9 sensors and
  /// prior do not tell which it is. Infinite: no other is left.
  double lead() const {
    return motions.size() < 2 ? std::numeric_limits<double>::infinity()
                              : motions[1].cost - motions[0].cost;
  }
};

/// The most probable motion where the prior is so wide that descent from its mean ends in another
/// maximum: sensors on a chain of links leave two angles or so a link, 2ⁿ motions in all.
///
/// Joint by joint from the ground, each motion found so far is continued from several angles of the
/// next joint, within what the prior allows, using the axes that tell of no joint beyond; the most
/// probable are kept. At the end all axes choose among them.
FoundMotion search_motion(InstantEstimator& estimator, const Eigen::VectorXd& readings,
                          const MotionPrior& prior, const MotionSearch& search = {});

}  // namespace estimator
