#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A segment of a recording with its modelled readings and residuals.
struct SegmentResiduals {
  int index;  ///< index within its recording
  const Segment* segment;
  const Eigen::MatrixXd* model;  ///< modelled readings, samples × sensors
  Eigen::MatrixXd left;          ///< residuals of the readings
};

/// Returns the segments that have a model, of the recording with index `wanted`.
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

/// Returns by how much a modelled reading, and thus its residual, jumps at a row where the state
/// estimate restarts.
double model_jump(const Eigen::MatrixXd& model, int row, int sensor);

}  // namespace estimator
