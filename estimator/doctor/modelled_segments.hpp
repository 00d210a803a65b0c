#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A segment with its modelled readings and residuals.
struct ModelledSegment {
  int index;  ///< within its recording
  const Segment* segment;
  const Eigen::MatrixXd* model;  ///< samples × sensors
  Eigen::MatrixXd left;          ///< residuals of the readings
};

/// Returns the modelled segments of the recording with index `wanted`.
std::vector<ModelledSegment> modelled_segments(const Calibration& calibration,
                                               const std::vector<Sensor>& sensors,
                                               const std::vector<Recording>& recordings,
                                               int wanted);

/// Returns the root-mean-square residual of each sensor.
std::vector<double> root_mean_squares(const std::vector<ModelledSegment>& modelled,
                                      std::size_t sensors);

/// Returns whether a step in a sensor's readings exceeds the model's residuals.
/// @param left  root-mean-square residual of the whole recording
bool stands_out(double step, double left);

/// Returns the jump of a modelled reading, and its residual, where the state estimate restarts.
double model_jump(const Eigen::MatrixXd& model, int row, int sensor);

}  // namespace estimator
