#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

namespace estimator {

/// Measured and simulated trajectories of one segment, one row per time step.
struct SegmentTrajectory {
  std::string recording;
  double start = 0.0;         ///< [s]
  double step = 0.0;          ///< [s]; the mean one if it varies
  std::vector<double> times;  ///< of the rows since the start if steps vary [s]; else empty
  Eigen::MatrixXd measured;   ///< nodes × sensors [rad or m]; NaN if not observed
  Eigen::MatrixXd estimated;  ///< nodes × sensors [rad], from the estimated states
  Eigen::MatrixXd simulated;  ///< nodes × sensors [rad], open loop from the estimated start
  Eigen::MatrixXd control;    ///< nodes × motors; shadow: mean over the step

  /// Time of a row [s].
  double time(Eigen::Index row) const {
    return start +
           (times.empty() ? static_cast<double>(row) * step : times[static_cast<std::size_t>(row)]);
  }
};

}  // namespace estimator
