#pragma once

#include <limits>
#include <vector>

#include "tests/studies/motion_observer/instant_estimator.hpp"

namespace estimator {

/// Extent of the search for the most probable motion.
struct MotionSearch {
  int width = 8;      ///< number of motions kept, ≥ 1
  double cut = 40.0;  ///< motions are dropped if their cost exceeds the best by more
};

/// Result of a search.
struct FoundMotion {
  std::vector<InstantEstimate> motions;  ///< most probable first; empty: none has a finite cost
  int iterations = 0;                    ///< of all trials

  /// Cost difference between the second best and the best: below about 9 sensors and prior do not
  /// distinguish them. Infinite: there is no second.
  double cost_margin() const {
    return motions.size() < 2 ? std::numeric_limits<double>::infinity()
                              : motions[1].cost - motions[0].cost;
  }
};

/// Finds the most probable motion if the prior is so wide that descent from its mean may end in
/// another local maximum: sensors on a chain leave about two angles per link, 2ⁿ motions in all.
///
/// Processes the joints from the ground. Continues each motion found so far from several angles of
/// the next joint, within the prior, using only axes that do not depend on later joints. Keeps the
/// most probable motions, and finally ranks them by all axes.
FoundMotion search_motion(MotionObserver& estimator, const Eigen::VectorXd& readings,
                          const MotionPrior& prior, const MotionSearch& search = {});

}  // namespace estimator
