#pragma once

#include <limits>
#include <vector>

#include "tests/studies/motion_observer/instant_estimator.hpp"

namespace estimator {

/// Limits of the search for the most probable motion.
struct MotionSearch {
  int width = 8;      ///< number of motions that the search keeps, ≥ 1
  double cut = 40.0;  ///< largest cost above the best motion's cost
};

/// Result of the search for the most probable motion.
struct FoundMotion {
  std::vector<InstantEstimate> motions;  ///< most probable first; empty if none has a finite cost
  int iterations = 0;                    ///< total of all trials

  /// Returns the cost difference between the second best and the best motion. Below about 9,
  /// sensors and prior do not distinguish the two motions. Infinite if there is only one motion.
  double cost_margin() const {
    return motions.size() < 2 ? std::numeric_limits<double>::infinity()
                              : motions[1].cost - motions[0].cost;
  }
};

/// Searches the most probable motion at one instant. The search is needed if the prior is so wide
/// that descent from its mean may end in another local maximum: sensors on a chain leave about two
/// angles per link, thus 2ⁿ motions of n links.
///
/// The search proceeds joint by joint from the ground. It continues each motion found so far from
/// several angles of the next joint, within the prior, and uses only axes that do not depend on
/// later joints. It keeps the most probable motions and finally ranks them by all axes.
FoundMotion search_motion(MotionObserver& estimator, const Eigen::VectorXd& readings,
                          const MotionPrior& prior, const MotionSearch& search = {});

}  // namespace estimator
