#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/model/joint_kind.hpp"

namespace estimator {

/// The error between the readings of a sensor and an open-loop simulation.
struct PredictionError {
  double squares = 0.0;  ///< sum of the squared errors [rad² or m²]
  std::size_t readings = 0;
  double largest = 0.0;  ///< largest error [rad or m]; NaN, as `squares`, if a simulation failed

  void add(const PredictionError& other);
  /// Returns the root-mean-square error [rad or m]; NaN without readings.
  double rmse() const;
};

/// Returns the open-loop prediction error of one sensor from row `first` on. Skips missing
/// readings. For a SPOOK simulation, which begins at the second row, also skips the first row.
PredictionError prediction_error(const SegmentTrajectory& trajectory, Eigen::Index sensor,
                                 JointKind kind, Eigen::Index first = 0);

/// Returns the root-mean-square open-loop error over all sensors [rad]. Errors of sliding joints
/// are scaled by JointUnits::scale.
double pooled_rmse(const std::vector<SegmentTrajectory>& trajectories,
                   const std::vector<JointKind>& kinds);

}  // namespace estimator
