#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/model/joint_kind.hpp"

namespace estimator {

/// How far readings lie from what was simulated.
struct PredictionError {
  double squares = 0.0;  ///< sum of the squared errors [rad² or m²]
  std::size_t readings = 0;
  double largest = 0.0;  ///< [rad or m]; NaN where a simulation broke down, as is the sum then

  void add(const PredictionError& other);
  /// NaN without readings. [rad or m]
  double rmse() const;
};

/// Of one sensor, open loop, from row `first` on. Rows that were not observed do not count, nor
/// does the first row of a SPOOK simulation, which begins at the second.
PredictionError prediction_error(const SegmentTrajectory& trajectory, Eigen::Index sensor,
                                 JointKind kind, Eigen::Index first = 0);

/// Root mean square over all sensors, a slide counting as the turn that it is as large as [rad].
double pooled_rmse(const std::vector<SegmentTrajectory>& trajectories,
                   const std::vector<JointKind>& kinds);

}  // namespace estimator
