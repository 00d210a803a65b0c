#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A segment with its modelled readings and residuals.
struct SegmentResiduals {
  int index;  ///< within its recording
  const Segment* segment;
  const Eigen::MatrixXd* model;  ///< samples × sensors
  Eigen::MatrixXd left;          ///< residuals of the readings
};

/// Returns the modelled segments of the recording with index `wanted`.
std::vector<SegmentResiduals> modelled_segments(const Calibration& calibration,
                                                const std::vector<Encoder>& sensors,
                                                const std::vector<Recording>& recordings,
                                                int wanted);

/// Returns the root-mean-square residual of each sensor.
std::vector<double> root_mean_squares(const std::vector<SegmentResiduals>& modelled,
                                      std::size_t sensors);

/// Returns whether a step in a sensor's readings exceeds the model's residuals.
/// @param left  root-mean-square residual of the whole recording
bool exceeds_residuals(double step, double left);

/// Returns the jump of a modelled reading, and its residual, where the state estimate restarts.
double model_jump(const Eigen::MatrixXd& model, int row, int sensor);

}  // namespace estimator
