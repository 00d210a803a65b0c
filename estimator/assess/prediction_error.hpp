#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/model/joint_kind.hpp"

namespace estimator {

/// Differences between readings and simulation.
struct PredictionError {
  double squares = 0.0;  ///< sum of the squared errors [rad² or m²]
  std::size_t readings = 0;
  double largest = 0.0;  ///< [rad or m]; NaN, as the sum, if a simulation failed

  void add(const PredictionError& other);
  /// Root-mean-square error [rad or m]; NaN without readings.
  double rmse() const;
};

/// Open-loop error of one sensor from row `first` on. Skips missing readings, and the first row of
/// a SPOOK simulation, which begins at the second.
PredictionError prediction_error(const SegmentTrajectory& trajectory, Eigen::Index sensor,
                                 JointKind kind, Eigen::Index first = 0);

/// Root-mean-square error over all sensors [rad]; sliding joints are scaled by JointUnits::scale.
double pooled_rmse(const std::vector<SegmentTrajectory>& trajectories,
                   const std::vector<JointKind>& kinds);

}  // namespace estimator
