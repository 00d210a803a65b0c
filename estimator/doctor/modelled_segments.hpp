#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A segment beside what a model says of it.
struct ModelledSegment {
  int index;  ///< in its recording
  const Segment* segment;
  const Eigen::MatrixXd* model;  ///< samples × sensors
  Eigen::MatrixXd left;          ///< of the readings
};

/// Of one recording, by index.
std::vector<ModelledSegment> modelled_segments(const Calibration& calibration,
                                               const std::vector<Sensor>& sensors,
                                               const std::vector<Recording>& recordings,
                                               int wanted);

/// Of what is left, one a sensor.
std::vector<double> root_mean_squares(const std::vector<ModelledSegment>& modelled,
                                      std::size_t sensors);

/// Whether a step in the readings of a sensor is more than what a model leaves of them may have.
/// @param left  root mean square, of the whole recording
bool stands_out(double step, double left);

/// Where a state estimate starts anew, its angles jump, and what it leaves of readings with them.
double model_jump(const Eigen::MatrixXd& model, int row, int sensor);

}  // namespace estimator
