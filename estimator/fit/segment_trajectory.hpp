#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

namespace estimator {

/// Measured and simulated trajectories of one segment, one row per time step.
struct SegmentTrajectory {
  std::string recording;
  double start = 0.0;         ///< time of the first row [s]
  double step = 0.0;          ///< time step [s]; the mean if it varies
  std::vector<double> times;  ///< times of the rows since the start [s]; empty if steps are equal
  Eigen::MatrixXd measured;   ///< time steps × sensors [rad or m]; NaN if not observed
  Eigen::MatrixXd estimated;  ///< time steps × sensors [rad], from estimated states
  Eigen::MatrixXd simulated;  ///< time steps × sensors [rad], open-loop simulation
  Eigen::MatrixXd control;    ///< time steps × motors; means over the steps for shadow parameters

  /// Returns the time of a row [s].
  double time(Eigen::Index row) const {
    return start + (times.empty() ? static_cast<double>(row) * step : times[row]);
  }
};

}  // namespace estimator
