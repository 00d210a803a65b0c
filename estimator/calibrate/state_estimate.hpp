#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"

namespace estimator {

/// Motion of all joints over one segment as its readings have it, and how well that is known. What
/// a joint that slides has is in m for rad.
struct StateEstimate {
  std::string recording;
  double start = 0.0;         ///< of the segment [s]
  std::vector<double> times;  ///< of the rows since then [s]
  Eigen::MatrixXd angles, rates, accelerations;  ///< rows × joints [rad, rad/s, rad/s²]
  /// Standard deviations of these, the parameters being right.
  Eigen::MatrixXd angle_deviations, rate_deviations, acceleration_deviations;
};

/// Estimates the motion at every sample from all readings of its segment, earlier and later ones,
/// with every parameter kept: the joint estimation's nodes, and between them a Kalman filter
/// and its adjoint [Bie77], linearised about their motion. Of joints without encoders as well.
///
/// Unexplained acceleration, where the data show any, counts as constant over a sampling period.
///
/// @param rig       what the input is checked against
/// @param estimate  the values
/// @throws std::invalid_argument as `calibrate`
std::vector<StateEstimate> estimate_states(const Mechanism& rig, const Mechanism& estimate,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options,
                                           const CalibrationMonitor& monitor);

}  // namespace estimator
